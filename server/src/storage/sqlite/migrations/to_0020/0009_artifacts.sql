-- Files that attempts uploaded. `arrived` counts them in their study and is never given twice.

CREATE TABLE artifacts (
  study      INTEGER NOT NULL,
  arrived    INTEGER NOT NULL,
  number     INTEGER NOT NULL,
  attempt    INTEGER NOT NULL,
  id         TEXT NOT NULL,
  name       TEXT NOT NULL,
  type       TEXT NOT NULL,
  store      TEXT NOT NULL,
  sha256     TEXT NOT NULL,
  bytes      INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (study, arrived)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX artifacts_by_id ON artifacts (study, id);
-- Named by each query for a trial: without statistics SQLite would read all of the study's instead.
CREATE INDEX artifacts_by_trial ON artifacts (study, number);

-- A blob is removed with the last row that names it, here or in `checkpoints`.
CREATE INDEX artifacts_by_sha256 ON artifacts (sha256);

-- How many a study has had, so that trials of one that never had any are asked for none, and what its owner's quota counts.
ALTER TABLE study_progress ADD COLUMN artifacts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE study_progress ADD COLUMN artifact_bytes INTEGER NOT NULL DEFAULT 0;
