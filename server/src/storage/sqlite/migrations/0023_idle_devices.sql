-- When a device was connected last, to about an hour, and whether it has sent a result. What joined and computed nothing
-- is collected. A device of an older file counts as seen at the upgrade, and each that has begun an attempt as finished.
ALTER TABLE devices ADD COLUMN seen_at INTEGER NOT NULL DEFAULT 0;
UPDATE devices SET seen_at = max(created_at, (SELECT at FROM kept_time));

-- The primary key, which is the name, is behind the column of an index.
CREATE INDEX devices_by_seen ON devices (seen_at);

ALTER TABLE device_versions ADD COLUMN finished INTEGER NOT NULL DEFAULT 0;
UPDATE device_versions SET finished = 1;
