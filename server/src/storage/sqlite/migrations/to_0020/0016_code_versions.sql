-- The versions of a study's code (R64): the newest one, and the first one whose checkpoints are handed to attempts.

ALTER TABLE study_progress ADD COLUMN code INTEGER NOT NULL DEFAULT 1;
ALTER TABLE study_progress ADD COLUMN resumable_code INTEGER NOT NULL DEFAULT 1;

-- The version that computes an attempt.
ALTER TABLE attempts ADD COLUMN code INTEGER NOT NULL DEFAULT 1;

-- Specs from before a study got its next version. The newest one is in `studies`.
CREATE TABLE earlier_specs (
  study INTEGER NOT NULL,
  code  INTEGER NOT NULL,
  spec  TEXT NOT NULL,
  PRIMARY KEY (study, code)
) STRICT;
