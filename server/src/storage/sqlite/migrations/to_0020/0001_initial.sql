-- The database of one Hyperflock server, version 1.
--
-- The hot path is "accept a result, start the next attempt": it touches one row of `attempts` and one of `trials` twice
-- each, and one small row of `study_progress` per batch. Tables are therefore clustered by the key that this path uses,
-- and there is one secondary index.

CREATE TABLE studies (
  id         INTEGER PRIMARY KEY,
  owner      TEXT NOT NULL,
  project    TEXT NOT NULL,
  submit_key TEXT NOT NULL,
  direction  INTEGER NOT NULL,
  total      INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  spec       TEXT NOT NULL,           -- JSON, as POST /api/studies takes it
  UNIQUE (owner, submit_key)
) STRICT;

-- What changes about a study. Apart from `studies`, so that a batch does not rewrite a long spec.
CREATE TABLE study_progress (
  study       INTEGER PRIMARY KEY REFERENCES studies (id),
  state       INTEGER NOT NULL,
  complete    INTEGER NOT NULL,
  pruned      INTEGER NOT NULL,
  failed      INTEGER NOT NULL,
  running     INTEGER NOT NULL,
  attempts    INTEGER NOT NULL,
  cursor      INTEGER NOT NULL,
  finished_at INTEGER NOT NULL,
  best_trial  INTEGER,
  best_value  REAL NOT NULL
) STRICT;

-- Which blobs the studies of a project name: what a device of that project may fetch.
CREATE TABLE project_blobs (
  project TEXT NOT NULL,
  sha256  TEXT NOT NULL,
  PRIMARY KEY (project, sha256)
) STRICT, WITHOUT ROWID;

CREATE TABLE trials (
  study             INTEGER NOT NULL REFERENCES studies (id),
  number            INTEGER NOT NULL,
  state             INTEGER NOT NULL,
  seq               INTEGER NOT NULL,  -- order of finishing over all studies, 0: not finished
  attempts          INTEGER NOT NULL,
  accepted_attempt  INTEGER,           -- exactly once: written where it is null, never again
  newest_attempt    INTEGER NOT NULL,  -- head of the chain attempts.previous
  seed              INTEGER NOT NULL,
  started_at        INTEGER NOT NULL,
  finished_at       INTEGER NOT NULL,
  params            TEXT NOT NULL,
  failure_cause     INTEGER,
  failure_code      TEXT,
  failure_message   TEXT,
  failure_traceback TEXT,
  PRIMARY KEY (study, number)
) STRICT, WITHOUT ROWID;

-- Serves both the pages of finished trials (seq > cursor) and the unfinished ones (seq = 0).
CREATE INDEX trials_by_seq ON trials (study, seq);

-- Values and metrics are kept here alone; a trial shows those of its accepted attempt.
CREATE TABLE attempts (
  id                INTEGER PRIMARY KEY,
  study             INTEGER NOT NULL,
  number            INTEGER NOT NULL,
  previous          INTEGER,           -- the trial's attempt before this one
  kind              INTEGER NOT NULL,
  state             INTEGER NOT NULL,
  verdict           INTEGER,           -- of its first result, null: none came
  result_seq        INTEGER NOT NULL,
  load_ms           INTEGER NOT NULL,
  run_ms            INTEGER NOT NULL,
  started_at        INTEGER NOT NULL,
  finished_at       INTEGER NOT NULL,
  device            TEXT NOT NULL,
  device_class      TEXT NOT NULL,
  engine            TEXT NOT NULL,
  backend           TEXT NOT NULL,
  result_values     BLOB NOT NULL,     -- doubles, little-endian
  failure_cause     INTEGER,
  failure_code      TEXT,
  failure_message   TEXT,
  failure_traceback TEXT
) STRICT;

CREATE TABLE points (
  attempt INTEGER NOT NULL,
  step    INTEGER NOT NULL,
  value   REAL NOT NULL,
  PRIMARY KEY (attempt, step)
) STRICT, WITHOUT ROWID;

CREATE TABLE principals (
  id         INTEGER PRIMARY KEY,
  name       TEXT NOT NULL UNIQUE,
  role       INTEGER NOT NULL,
  token_hash TEXT NOT NULL
) STRICT;

CREATE TABLE devices (
  id           TEXT PRIMARY KEY,
  project      TEXT NOT NULL,
  secret_hash  TEXT NOT NULL,
  device_class TEXT NOT NULL,
  engine       TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  revoked_at   INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE enrolments (
  code_hash  TEXT PRIMARY KEY,
  project    TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
