-- Rejections of attempts (R71): who rejected them, when and why. Rejections are numbered within their study.
CREATE TABLE rejections (
  study       INTEGER NOT NULL,
  id          INTEGER NOT NULL,
  rejected_at INTEGER NOT NULL,
  rejected_by TEXT NOT NULL,
  reason      TEXT NOT NULL,
  PRIMARY KEY (study, id)
) STRICT, WITHOUT ROWID;

-- The rejection of an attempt; NULL: it is not rejected. `inherited` is 1 if the attempt was rejected only because it began
-- with a checkpoint of a rejected one; its device may then get the trial again.
ALTER TABLE attempts ADD COLUMN rejection INTEGER;
ALTER TABLE attempts ADD COLUMN inherited INTEGER NOT NULL DEFAULT 0;

-- How many attempts of the trial are rejected.
ALTER TABLE trials ADD COLUMN rejected INTEGER NOT NULL DEFAULT 0;
