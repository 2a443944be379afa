-- Rejections of attempts (R71): who rejected them, when and why. Rejections are numbered within their study.
CREATE TABLE rejections (
  study       BIGINT NOT NULL,
  id          BIGINT NOT NULL,
  rejected_at BIGINT NOT NULL,
  rejected_by TEXT COLLATE "C" NOT NULL,
  reason      TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (study, id)
);

-- The rejection of an attempt; NULL: it is not rejected. `inherited` is 1 if the attempt was rejected only because it began
-- with a checkpoint of a rejected one; its device may then get the trial again.
ALTER TABLE attempts ADD COLUMN rejection BIGINT;
ALTER TABLE attempts ADD COLUMN inherited BIGINT NOT NULL DEFAULT 0;

-- How many attempts of the trial are rejected.
ALTER TABLE trials ADD COLUMN rejected BIGINT NOT NULL DEFAULT 0;
