-- Attempts save checkpoints, and a later attempt of the trial begins with the newest one. `resumed_*` is what an attempt
-- began with; it stays when the checkpoint itself is gone.

ALTER TABLE attempts ADD COLUMN resumed_attempt INTEGER;
ALTER TABLE attempts ADD COLUMN resumed_format INTEGER;
ALTER TABLE attempts ADD COLUMN resumed_sha256 TEXT;
ALTER TABLE attempts ADD COLUMN resumed_bytes INTEGER;
ALTER TABLE attempts ADD COLUMN resumed_step INTEGER;

-- The newest ones of each unfinished trial, in the order of `saved`.
CREATE TABLE checkpoints (
  study   INTEGER NOT NULL,
  number  INTEGER NOT NULL,
  saved   INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  format  INTEGER NOT NULL,
  sha256  TEXT NOT NULL,
  bytes   INTEGER NOT NULL,
  step    INTEGER,
  PRIMARY KEY (study, number, saved)
) STRICT, WITHOUT ROWID;

-- A blob is removed with the last row that names it.
CREATE INDEX checkpoints_by_sha256 ON checkpoints (sha256);
