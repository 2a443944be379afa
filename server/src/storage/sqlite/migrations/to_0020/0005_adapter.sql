-- The graphics adapter of the device that ran an attempt, as coarse as it told: which result came from what.

ALTER TABLE attempts ADD COLUMN adapter TEXT NOT NULL DEFAULT '';
