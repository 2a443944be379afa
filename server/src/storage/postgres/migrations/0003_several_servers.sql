-- Servers that take turns with a database share its files. This names the database in their folder, so that no server
-- takes another database's files.

ALTER TABLE shards ADD COLUMN files TEXT COLLATE "C" NOT NULL DEFAULT md5(random()::TEXT || clock_timestamp()::TEXT);
