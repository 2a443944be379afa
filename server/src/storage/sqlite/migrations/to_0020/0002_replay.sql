-- Trials that failed may be replayed: attempts up to this one count no more for what a trial may lose to each cause.

ALTER TABLE trials ADD COLUMN forgiven_attempt INTEGER NOT NULL DEFAULT 0;
