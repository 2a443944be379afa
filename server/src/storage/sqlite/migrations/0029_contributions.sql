-- What devices have contributed by accepted results, by day (UTC, numbered from 1970) and project of the study. Days
-- before the last seven are added to the row of day 0. A device's own page shows these rows.
CREATE TABLE contributions (
  device  TEXT NOT NULL,
  day     INTEGER NOT NULL,
  project TEXT NOT NULL,
  trials  INTEGER NOT NULL,
  ms      INTEGER NOT NULL,
  moved   INTEGER NOT NULL,  -- results that were better than all of their study before them
  PRIMARY KEY (device, day, project)
) STRICT, WITHOUT ROWID;

-- The sums have the results up to this one (trials.seq), also those that an older version has stored: they are added in
-- pieces after its upgrade.
CREATE TABLE contribution_fold (
  seq      INTEGER NOT NULL,
  revision INTEGER NOT NULL  -- grows when a result that is not in the sums yet stops counting, or counts otherwise
) STRICT;

INSERT INTO contribution_fold (seq, revision) VALUES (0, 0);

-- What an accepted attempt counts for its device where its other columns do not say it: how long it was computed, if its
-- lease ended before its result came, and whether it was better than all of its study before it.
ALTER TABLE attempts ADD COLUMN given_ms INTEGER;
ALTER TABLE attempts ADD COLUMN moved_best INTEGER NOT NULL DEFAULT 0;
