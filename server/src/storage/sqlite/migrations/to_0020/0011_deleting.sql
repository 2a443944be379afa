-- Studies that are over may be deleted. At once their row in `study_progress` goes, and with it they do for every reader,
-- and their row in `studies` becomes nobody's (owner ''). It goes last, in pieces: trials, attempts, points, suggestions,
-- artifacts, and then the row itself.

-- Which blobs a study names: what goes with the last study of an owner, or of a project, that does.
CREATE TABLE study_blobs (
  study  INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  PRIMARY KEY (study, sha256)
) STRICT, WITHOUT ROWID;

CREATE INDEX study_blobs_by_sha256 ON study_blobs (sha256);

INSERT OR IGNORE INTO study_blobs (study, sha256)
  SELECT id, json_extract(spec, '$.bundle.sha256') FROM studies;
INSERT OR IGNORE INTO study_blobs (study, sha256)
  SELECT studies.id, json_extract(entry.value, '$.sha256')
  FROM studies, json_each(studies.spec, '$.data') AS entry;

-- A file is removed with the last owner.
CREATE INDEX owner_blobs_by_sha256 ON owner_blobs (sha256);

-- One row: the highest numbers that were given when a study was deleted last. None of them is given again.
CREATE TABLE given (
  study   INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  seq     INTEGER NOT NULL
) STRICT;

INSERT INTO given (study, attempt, seq) VALUES (0, 0, 0);
