-- Where the server that has the shard takes connections that the servers that wait pass on to it, and the secret by
-- which both ends know each other. Both are written anew with each epoch; empty: it takes none.

ALTER TABLE shards ADD COLUMN peer TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE shards ADD COLUMN peer_secret TEXT COLLATE "C" NOT NULL DEFAULT '';
