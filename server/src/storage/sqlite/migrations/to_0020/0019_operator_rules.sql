-- What administrators set to stop misuse (R67, R68): frozen projects, barred blobs, ceilings, and studies that await
-- approval. Researchers who are not active are in `principals`.

ALTER TABLE projects ADD COLUMN frozen_at INTEGER NOT NULL DEFAULT 0;  -- 0: not frozen
ALTER TABLE projects ADD COLUMN frozen_reason TEXT NOT NULL DEFAULT '';

CREATE TABLE barred_blobs (
  sha256    TEXT PRIMARY KEY,
  reason    TEXT NOT NULL,
  barred_by TEXT NOT NULL,
  barred_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A limit that is null is not set; 0 is no limit.
CREATE TABLE ceilings (
  scope         INTEGER NOT NULL,  -- 0: the server, 1: a researcher, 2: a project
  name          TEXT NOT NULL,
  time_limit_ms INTEGER,
  devices       INTEGER,
  data_bytes    INTEGER,
  approval      INTEGER,
  PRIMARY KEY (scope, name)
) STRICT, WITHOUT ROWID;

ALTER TABLE study_progress ADD COLUMN approval INTEGER NOT NULL DEFAULT 0;  -- 1: awaited, 2: refused
ALTER TABLE study_progress ADD COLUMN refusal TEXT NOT NULL DEFAULT '';
CREATE INDEX studies_awaiting_approval ON study_progress (study) WHERE approval = 1;
