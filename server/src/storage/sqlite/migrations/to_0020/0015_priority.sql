-- The priority of a study among the studies of its owner (R61). Its spec has the one with which it was submitted.

ALTER TABLE study_progress ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;
