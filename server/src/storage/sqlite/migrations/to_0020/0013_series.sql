-- Named series of attempts (R59). A report's rows are one row here, packed as packed_series.h says. When the attempt ends
-- with a result, its rows become one with seq 0.

CREATE TABLE series (
  attempt INTEGER NOT NULL,
  seq     INTEGER NOT NULL,  -- of the report; 0: of all reports until the result
  last    BLOB NOT NULL,     -- only where seq is 0: the newest value of each series
  content BLOB NOT NULL,
  PRIMARY KEY (attempt, seq)
) STRICT, WITHOUT ROWID;

-- The number that stands for a name in the rows of a study's attempts.
CREATE TABLE series_names (
  study INTEGER NOT NULL,
  id    INTEGER NOT NULL,
  name  TEXT NOT NULL,
  PRIMARY KEY (study, id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX series_by_name ON series_names (study, name);

-- The last step of a series before a checkpoint: up to it, the series of the attempt that saved it belong to the next one.
ALTER TABLE checkpoints ADD COLUMN logged INTEGER;
ALTER TABLE attempts ADD COLUMN resumed_logged INTEGER;
