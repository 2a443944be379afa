-- Webhooks of studies (R62). `events` has a bit for each event. `deviceless`: the study has been without devices, and
-- none has come since.

CREATE TABLE webhooks (
  study      INTEGER PRIMARY KEY,
  url        TEXT NOT NULL,
  events     INTEGER NOT NULL,
  deviceless INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The key with which the server signs what it posts for an owner.
CREATE TABLE webhook_secrets (
  owner      TEXT PRIMARY KEY,
  secret     TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Events and their delivery. Waiting ones have state 0.
CREATE TABLE deliveries (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  key        TEXT NOT NULL,
  study      INTEGER NOT NULL,
  owner      TEXT NOT NULL,
  event      INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  facts      TEXT NOT NULL,
  state      INTEGER NOT NULL,
  attempts   INTEGER NOT NULL DEFAULT 0,
  next_at    INTEGER NOT NULL,
  status     INTEGER NOT NULL DEFAULT 0,
  code       TEXT NOT NULL DEFAULT '',
  message    TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE INDEX deliveries_by_study ON deliveries (study, id);
CREATE INDEX waiting_deliveries ON deliveries (owner, next_at, id) WHERE state = 0;
