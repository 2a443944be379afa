-- An attempt that goes on from a checkpoint inherits what had been uploaded when that was saved: the study's artifacts up to
-- this place in its order of arrival, of the attempt that saved it.

ALTER TABLE checkpoints ADD COLUMN artifacts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE attempts ADD COLUMN resumed_artifacts INTEGER NOT NULL DEFAULT 0;
