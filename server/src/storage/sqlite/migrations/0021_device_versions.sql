-- What a device was when it started an attempt: its name, class, engine and adapter. An attempt has the number of such a
-- row. So the erasure of a device removes a few rows here, however many attempts it and others have. A number is never
-- used again, because attempts of erased devices still have theirs; 0 is that of devices that were erased before.
CREATE TABLE device_versions (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  device       TEXT NOT NULL,
  device_class TEXT NOT NULL,
  engine       TEXT NOT NULL,
  adapter      TEXT NOT NULL
) STRICT;

INSERT INTO device_versions (device, device_class, engine, adapter)
  SELECT DISTINCT device, device_class, engine, adapter FROM attempts WHERE device <> 'erased'
  ORDER BY device, device_class, engine, adapter;

CREATE UNIQUE INDEX device_versions_by_device ON device_versions (device, device_class, engine, adapter);

CREATE TABLE new_attempts (
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
  device_version    INTEGER NOT NULL,
  backend           TEXT NOT NULL,
  result_values     BLOB NOT NULL,     -- doubles, little-endian
  failure_cause     INTEGER,
  failure_code      TEXT,
  failure_message   TEXT,
  failure_traceback TEXT,
  resumed_attempt   INTEGER,
  resumed_format    INTEGER,
  resumed_sha256    TEXT,
  resumed_bytes     INTEGER,
  resumed_step      INTEGER,
  attrs             TEXT NOT NULL DEFAULT '',
  software          TEXT NOT NULL DEFAULT '',
  resumed_artifacts INTEGER NOT NULL DEFAULT 0,
  resumed_logged    INTEGER,
  code              INTEGER NOT NULL DEFAULT 1
) STRICT;

INSERT INTO new_attempts
  SELECT attempts.id, study, number, previous, kind, state, verdict, result_seq, load_ms, run_ms, started_at,
    finished_at, coalesce(device_versions.id, 0), backend, result_values, failure_cause, failure_code, failure_message,
    failure_traceback, resumed_attempt, resumed_format, resumed_sha256, resumed_bytes, resumed_step, attrs, software,
    resumed_artifacts, resumed_logged, code
  FROM attempts LEFT JOIN device_versions USING (device, device_class, engine, adapter) ORDER BY attempts.id;

DROP TABLE attempts;
ALTER TABLE new_attempts RENAME TO attempts;

-- What a device runs. Only attempts that run are in it, so it stays small.
CREATE INDEX live_attempts ON attempts (device_version) WHERE state = 0;
