-- The enrolment code by which a device joined, by its id; 0: not known, as of devices that joined before. Whoever revokes
-- the code can then revoke these devices and reject what they have sent (R71).
ALTER TABLE devices ADD COLUMN code INTEGER NOT NULL DEFAULT 0;
