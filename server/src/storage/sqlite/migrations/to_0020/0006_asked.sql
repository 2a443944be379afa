-- Studies whose trials come from their owner: who claimed them, what was asked and suggested, what devices sent with results.

ALTER TABLE studies ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;
ALTER TABLE studies ADD COLUMN objectives INTEGER NOT NULL DEFAULT 1;  -- how many directions it has

-- `asked` comes to the study's `total`; a study's long row is not written again for it.
ALTER TABLE study_progress ADD COLUMN asked INTEGER NOT NULL DEFAULT 0;
ALTER TABLE study_progress ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
ALTER TABLE study_progress ADD COLUMN sampler TEXT NOT NULL DEFAULT '';
ALTER TABLE study_progress ADD COLUMN sampler_since INTEGER NOT NULL DEFAULT 0;
ALTER TABLE study_progress ADD COLUMN wanted INTEGER NOT NULL DEFAULT 0;

ALTER TABLE attempts ADD COLUMN attrs TEXT NOT NULL DEFAULT '';

-- A name of a trial is given one value for good.
CREATE TABLE suggestions (
  study        INTEGER NOT NULL,
  number       INTEGER NOT NULL,
  name         TEXT NOT NULL,
  position     INTEGER NOT NULL,
  distribution TEXT NOT NULL,
  value        TEXT NOT NULL,
  PRIMARY KEY (study, number, name)
) STRICT, WITHOUT ROWID;
