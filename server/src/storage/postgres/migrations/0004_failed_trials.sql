-- The failed trials of a study, which a reissue looks for. Without it the writer read all of the study's trials.
CREATE INDEX failed_trials ON trials (study, number) WHERE state = 3;
