-- Servers that wait for a shard find the one that has it. Without this, a shard has no address, and the one server that
-- uses the database is not asked for it.

ALTER TABLE shards
  ADD COLUMN address TEXT COLLATE "C" NOT NULL DEFAULT '',  -- where its server answers other servers; '': nowhere
  ADD COLUMN secret  TEXT COLLATE "C" NOT NULL DEFAULT '',  -- which both sides of such a connection must know
  -- Names the database in the folder of --shared-files, so that no server takes another database's files.
  ADD COLUMN files   TEXT COLLATE "C" NOT NULL DEFAULT md5(random()::TEXT || clock_timestamp()::TEXT);
