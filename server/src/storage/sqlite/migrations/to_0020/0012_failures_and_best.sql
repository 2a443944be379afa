-- A study pauses itself when its trials fail alike before any has succeeded: with which trial it did, and up to which
-- place in the finishing order failures are forgiven, because the study was resumed after them.

ALTER TABLE study_progress ADD COLUMN stopped_by INTEGER;
ALTER TABLE study_progress ADD COLUMN forgiven_seq INTEGER NOT NULL DEFAULT 0;

-- Whether a trial waits for constraints that its owner computes from its result, and these constraints (doubles,
-- little-endian).
ALTER TABLE trials ADD COLUMN constrained INTEGER NOT NULL DEFAULT 0;
ALTER TABLE trials ADD COLUMN constraints BLOB NOT NULL DEFAULT x'';

-- Of a study with several directions: the complete trials that meet their constraints and that no other one beats, with
-- their values. The best trial of other studies is in study_progress.
CREATE TABLE best_trials (
  study         INTEGER NOT NULL,
  number        INTEGER NOT NULL,
  result_values BLOB NOT NULL,
  PRIMARY KEY (study, number)
) STRICT, WITHOUT ROWID;
