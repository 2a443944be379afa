-- A database that a server with version 20 of the schema wrote: running, ended, deleted and ask-and-tell studies,
-- files of attempts, people, and an entry of the audit log.
PRAGMA foreign_keys = OFF;
BEGIN TRANSACTION;
CREATE TABLE artifacts (
  study      INTEGER NOT NULL,
  arrived    INTEGER NOT NULL,
  number     INTEGER NOT NULL,
  attempt    INTEGER NOT NULL,
  id         TEXT NOT NULL,
  name       TEXT NOT NULL,
  type       TEXT NOT NULL,
  store      TEXT NOT NULL,
  sha256     TEXT NOT NULL,
  bytes      INTEGER NOT NULL,
  created_at INTEGER NOT NULL, uploader INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (study, arrived)
) STRICT, WITHOUT ROWID;
INSERT INTO "artifacts" VALUES(1,1,0,1,'curve','curve.png','image/png','here','cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc',10,1700000000000,1);
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
, resumed_attempt INTEGER, resumed_format INTEGER, resumed_sha256 TEXT, resumed_bytes INTEGER, resumed_step INTEGER, adapter TEXT NOT NULL DEFAULT '', attrs TEXT NOT NULL DEFAULT '', software TEXT NOT NULL DEFAULT '', resumed_artifacts INTEGER NOT NULL DEFAULT 0, resumed_logged INTEGER, code INTEGER NOT NULL DEFAULT 1) STRICT;
INSERT INTO "attempts" VALUES(1,1,0,NULL,0,1,0,3,1500,2500,1700000000000,1700000000000,'phone','phone','chromium 131','cpu',X'000000000000E03F',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'vendor family','','worker/1 numpy/2',0,NULL,1);
INSERT INTO "attempts" VALUES(2,1,1,NULL,0,0,NULL,0,0,0,1700000000000,0,'phone','phone','chromium 131','',X'',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'vendor family','','',0,NULL,1);
INSERT INTO "attempts" VALUES(3,2,0,NULL,0,1,0,3,1500,2500,1700000000000,1700000000000,'phone','phone','chromium 131','cpu',X'000000000000F03F',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'vendor family','','worker/1 numpy/2',0,NULL,1);
INSERT INTO "attempts" VALUES(4,3,0,NULL,0,1,0,3,1500,2500,1700000000000,1700000000000,'phone','phone','chromium 131','cpu',X'000000000000F03F0000000000000040',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'vendor family','','worker/1 numpy/2',0,NULL,1);
CREATE TABLE audit (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  at      INTEGER NOT NULL,
  actor   TEXT NOT NULL,
  action  TEXT NOT NULL,
  object  TEXT NOT NULL,
  address TEXT NOT NULL,
  detail  TEXT NOT NULL
) STRICT;
INSERT INTO "audit" VALUES(1,1700000000000,'ada','study.delete','o','127.0.0.1','');
CREATE TABLE audit_total (
  entries INTEGER NOT NULL,
  bytes   INTEGER NOT NULL
) STRICT;
INSERT INTO "audit_total" VALUES(1,89);
CREATE TABLE audit_totals (
  actor   TEXT PRIMARY KEY,
  entries INTEGER NOT NULL,
  bytes   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "audit_totals" VALUES('ada',1,89);
CREATE TABLE barred_blobs (
  sha256    TEXT PRIMARY KEY,
  reason    TEXT NOT NULL,
  barred_by TEXT NOT NULL,
  barred_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE best_trials (
  study         INTEGER NOT NULL,
  number        INTEGER NOT NULL,
  result_values BLOB NOT NULL,
  PRIMARY KEY (study, number)
) STRICT, WITHOUT ROWID;
INSERT INTO "best_trials" VALUES(3,0,X'000000000000F03F0000000000000040');
CREATE TABLE ceilings (
  scope         INTEGER NOT NULL,  -- 0: the server, 1: a researcher, 2: a project
  name          TEXT NOT NULL,
  time_limit_ms INTEGER,
  devices       INTEGER,
  data_bytes    INTEGER,
  approval      INTEGER,
  PRIMARY KEY (scope, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE checkpoints (
  study   INTEGER NOT NULL,
  number  INTEGER NOT NULL,
  saved   INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  format  INTEGER NOT NULL,
  sha256  TEXT NOT NULL,
  bytes   INTEGER NOT NULL,
  step    INTEGER, artifacts INTEGER NOT NULL DEFAULT 0, logged INTEGER,
  PRIMARY KEY (study, number, saved)
) STRICT, WITHOUT ROWID;
INSERT INTO "checkpoints" VALUES(1,1,1,2,1,'eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee',10,NULL,1,NULL);
CREATE TABLE codes (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  code_hash  TEXT NOT NULL UNIQUE,
  project    TEXT NOT NULL REFERENCES projects (name),
  label      TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,  -- 0: never
  max_uses   INTEGER NOT NULL,  -- 0: any number
  uses       INTEGER NOT NULL,
  revoked_at INTEGER NOT NULL   -- 0: not
) STRICT;
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
CREATE TABLE device_use (
  device TEXT NOT NULL,
  study  INTEGER NOT NULL,
  bytes  INTEGER NOT NULL,
  PRIMARY KEY (device, study)
) STRICT, WITHOUT ROWID;
INSERT INTO "device_use" VALUES('phone',1,20);
CREATE TABLE devices (
  id           TEXT PRIMARY KEY,
  project      TEXT NOT NULL,
  secret_hash  TEXT NOT NULL,
  device_class TEXT NOT NULL,
  engine       TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  revoked_at   INTEGER
) STRICT, WITHOUT ROWID;
INSERT INTO "devices" VALUES('phone','default','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','phone','chromium 131',1700000000000,NULL);
CREATE TABLE earlier_specs (
  study INTEGER NOT NULL,
  code  INTEGER NOT NULL,
  spec  TEXT NOT NULL,
  PRIMARY KEY (study, code)
) STRICT;
CREATE TABLE given (
  study   INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  seq     INTEGER NOT NULL
) STRICT;
INSERT INTO "given" VALUES(4,5,4);
CREATE TABLE kept_time (
  at INTEGER NOT NULL
) STRICT;
INSERT INTO "kept_time" VALUES(1700000001000);
CREATE TABLE members (
  principal INTEGER NOT NULL REFERENCES principals (id),
  project   INTEGER NOT NULL REFERENCES projects (id),
  PRIMARY KEY (principal, project)
) STRICT, WITHOUT ROWID;
CREATE TABLE owner_blobs (
  owner  TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  bytes  INTEGER NOT NULL,
  PRIMARY KEY (owner, sha256)
) STRICT, WITHOUT ROWID;
INSERT INTO "owner_blobs" VALUES('ada','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',1234);
INSERT INTO "owner_blobs" VALUES('ada','bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',99);
CREATE TABLE owner_totals (
  owner          TEXT PRIMARY KEY,
  running        INTEGER NOT NULL,  -- studies
  trials_high    INTEGER NOT NULL,  -- of running studies
  trials_low     INTEGER NOT NULL,
  artifact_bytes INTEGER NOT NULL,
  blob_bytes     INTEGER NOT NULL
, checkpoint_bytes INTEGER NOT NULL DEFAULT 0, record_bytes INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
INSERT INTO "owner_totals" VALUES('ada',2,0,7,10,1333,10,6310);
CREATE TABLE points (
  attempt INTEGER NOT NULL,
  step    INTEGER NOT NULL,
  value   REAL NOT NULL,
  PRIMARY KEY (attempt, step)
) STRICT, WITHOUT ROWID;
INSERT INTO "points" VALUES(1,1,0.5);
CREATE TABLE principals (
  id         INTEGER PRIMARY KEY,
  name       TEXT NOT NULL UNIQUE,
  role       INTEGER NOT NULL, state INTEGER NOT NULL DEFAULT 0, note TEXT NOT NULL DEFAULT '', quota_studies INTEGER NOT NULL DEFAULT 0, quota_trials INTEGER NOT NULL DEFAULT 0, quota_bytes INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "principals" VALUES(1,'root',0,0,'',0,0,0,1700000000000);
INSERT INTO "principals" VALUES(2,'ada',1,0,'',0,0,0,1700000000000);
CREATE TABLE project_blobs (
  project TEXT NOT NULL,
  sha256  TEXT NOT NULL,
  PRIMARY KEY (project, sha256)
) STRICT, WITHOUT ROWID;
INSERT INTO "project_blobs" VALUES('default','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa');
INSERT INTO "project_blobs" VALUES('default','bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb');
CREATE TABLE project_owners (
  project TEXT NOT NULL,
  owner   TEXT NOT NULL,
  studies INTEGER NOT NULL,
  newest  INTEGER NOT NULL,  -- the study that they submitted last; it may be deleted
  PRIMARY KEY (project, owner)
) STRICT, WITHOUT ROWID;
INSERT INTO "project_owners" VALUES('default','ada',3,4);
CREATE TABLE project_totals (
  project     TEXT PRIMARY KEY,
  studies     INTEGER NOT NULL,
  done        INTEGER NOT NULL,  -- trials with an outcome, without cancelled ones
  trials_high INTEGER NOT NULL,
  trials_low  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "project_totals" VALUES('default',3,3,0,13);
CREATE TABLE projects (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL
, frozen_at INTEGER NOT NULL DEFAULT 0, frozen_reason TEXT NOT NULL DEFAULT '') STRICT;
CREATE TABLE series (
  attempt INTEGER NOT NULL,
  seq     INTEGER NOT NULL,  -- of the report; 0: of all reports until the result
  last    BLOB NOT NULL,     -- only where seq is 0: the newest value of each series
  content BLOB NOT NULL,
  PRIMARY KEY (attempt, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE series_names (
  study INTEGER NOT NULL,
  id    INTEGER NOT NULL,
  name  TEXT NOT NULL,
  PRIMARY KEY (study, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE studies (
  id         INTEGER PRIMARY KEY,
  owner      TEXT NOT NULL,
  project    TEXT NOT NULL,
  submit_key TEXT NOT NULL,
  direction  INTEGER NOT NULL,
  total      INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  spec       TEXT NOT NULL, kind INTEGER NOT NULL DEFAULT 0, objectives INTEGER NOT NULL DEFAULT 1,           -- JSON, as POST /api/studies takes it
  UNIQUE (owner, submit_key)
) STRICT;
INSERT INTO "studies" VALUES(1,'ada','default','one',1,6,1700000000000,'{"name":"digits","submit_key":"one","direction":"maximize","entry":"digits_grid:objective","bundle":{"sha256":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","bytes":1234},"space":[{"name":"channels","values":[4,16.0]},{"name":"name","values":["x\"y",null,true]}],"data":[{"name":"digits","kind":"npz","filename":"digits.npz","sha256":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","bytes":99}],"seed":7,"runtime":{"chainer":"7.8.1"},"limits":{"time_limit_ms":60000,"stall_ms":0,"max_failures":0},"provenance":{}}',0,1);
INSERT INTO "studies" VALUES(2,'ada','default','two',1,6,1700000000000,'{"name":"digits","submit_key":"two","direction":"maximize","entry":"digits_grid:objective","bundle":{"sha256":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","bytes":1234},"space":[{"name":"channels","values":[4,16.0]},{"name":"name","values":["x\"y",null,true]}],"data":[{"name":"digits","kind":"npz","filename":"digits.npz","sha256":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","bytes":99}],"seed":7,"runtime":{"chainer":"7.8.1"},"limits":{"time_limit_ms":60000,"stall_ms":0,"max_failures":0},"provenance":{}}',0,1);
INSERT INTO "studies" VALUES(3,'ada','default','several',0,0,1700000000000,'{"name":"digits","submit_key":"several","direction":"minimize","entry":"digits_grid:objective","kind":"asked","directions":["minimize","minimize"],"bundle":{"sha256":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","bytes":1234},"space":[],"data":[{"name":"digits","kind":"npz","filename":"digits.npz","sha256":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","bytes":99}],"seed":7,"runtime":{"chainer":"7.8.1"},"limits":{"time_limit_ms":60000,"stall_ms":0,"max_failures":0},"provenance":{}}',1,2);
INSERT INTO "studies" VALUES(4,'','default','4',1,6,1700000000000,'{"name":"digits","submit_key":"gone","direction":"maximize","entry":"digits_grid:objective","bundle":{"sha256":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","bytes":1234},"space":[{"name":"channels","values":[4,16.0]},{"name":"name","values":["x\"y",null,true]}],"data":[{"name":"digits","kind":"npz","filename":"digits.npz","sha256":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","bytes":99}],"seed":7,"runtime":{"chainer":"7.8.1"},"limits":{"time_limit_ms":60000,"stall_ms":0,"max_failures":0},"provenance":{}}',0,1);
CREATE TABLE study_blobs (
  study  INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  PRIMARY KEY (study, sha256)
) STRICT, WITHOUT ROWID;
INSERT INTO "study_blobs" VALUES(1,'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa');
INSERT INTO "study_blobs" VALUES(2,'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa');
INSERT INTO "study_blobs" VALUES(3,'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa');
INSERT INTO "study_blobs" VALUES(1,'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb');
INSERT INTO "study_blobs" VALUES(2,'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb');
INSERT INTO "study_blobs" VALUES(3,'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb');
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
, asked INTEGER NOT NULL DEFAULT 0, generation INTEGER NOT NULL DEFAULT 0, sampler TEXT NOT NULL DEFAULT '', sampler_since INTEGER NOT NULL DEFAULT 0, wanted INTEGER NOT NULL DEFAULT 0, paused INTEGER NOT NULL DEFAULT 0, artifacts INTEGER NOT NULL DEFAULT 0, artifact_bytes INTEGER NOT NULL DEFAULT 0, stopped_by INTEGER, forgiven_seq INTEGER NOT NULL DEFAULT 0, priority INTEGER NOT NULL DEFAULT 0, code INTEGER NOT NULL DEFAULT 1, resumable_code INTEGER NOT NULL DEFAULT 1, approval INTEGER NOT NULL DEFAULT 0, refusal TEXT NOT NULL DEFAULT '', checkpoint_bytes INTEGER NOT NULL DEFAULT 0, record_bytes INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "study_progress" VALUES(1,0,1,0,0,1,2,1,0,0,0.5,0,0,'',0,0,0,1,10,NULL,0,0,1,1,0,'',10,2654);
INSERT INTO "study_progress" VALUES(2,1,1,0,0,0,1,2,1700000000000,0,1.0,0,0,'',0,0,0,0,0,NULL,0,0,1,1,0,'',0,1591);
INSERT INTO "study_progress" VALUES(3,0,1,0,0,0,1,3,0,NULL,0.0,1,1,'owner',1700000000000,0,0,0,0,NULL,0,0,1,1,0,'',0,2065);
CREATE TABLE suggestions (
  study        INTEGER NOT NULL,
  number       INTEGER NOT NULL,
  name         TEXT NOT NULL,
  position     INTEGER NOT NULL,
  distribution TEXT NOT NULL,
  value        TEXT NOT NULL,
  PRIMARY KEY (study, number, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE tokens (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  principal  INTEGER NOT NULL REFERENCES principals (id),
  token_hash TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,  -- 0: never
  revoked_at INTEGER NOT NULL   -- 0: not
) STRICT;
INSERT INTO "tokens" VALUES(1,1,'1111111111111111111111111111111111111111111111111111111111111111',1700000000000,0,0);
INSERT INTO "tokens" VALUES(2,2,'2222222222222222222222222222222222222222222222222222222222222222',1700000000000,0,0);
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
  failure_traceback TEXT, forgiven_attempt INTEGER NOT NULL DEFAULT 0, asked_attrs TEXT NOT NULL DEFAULT '', constrained INTEGER NOT NULL DEFAULT 0, constraints BLOB NOT NULL DEFAULT x'',
  PRIMARY KEY (study, number)
) STRICT, WITHOUT ROWID;
INSERT INTO "trials" VALUES(1,0,1,1,1,1,1,4294967295,1700000000000,1700000000000,'{"channels": 4}',NULL,NULL,NULL,NULL,0,'',0,X'');
INSERT INTO "trials" VALUES(1,1,0,0,1,NULL,2,4294967295,1700000000000,0,'{"channels": 4}',NULL,NULL,NULL,NULL,0,'',0,X'');
INSERT INTO "trials" VALUES(2,0,1,2,1,3,3,4294967295,1700000000000,1700000000000,'{"channels": 4}',NULL,NULL,NULL,NULL,0,'',0,X'');
INSERT INTO "trials" VALUES(3,0,1,3,1,4,4,7,1700000000000,1700000000000,'{}',NULL,NULL,NULL,NULL,0,'',0,X'');
CREATE TABLE webhook_secrets (
  owner      TEXT PRIMARY KEY,
  secret     TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE webhooks (
  study      INTEGER PRIMARY KEY,
  url        TEXT NOT NULL,
  events     INTEGER NOT NULL,
  deviceless INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX trials_by_seq ON trials (study, seq);
CREATE TRIGGER audit_is_not_rewritten BEFORE UPDATE ON audit
BEGIN
  SELECT raise(ABORT, 'the audit log is not rewritten');
END;
CREATE INDEX checkpoints_by_sha256 ON checkpoints (sha256);
CREATE INDEX artifacts_by_trial ON artifacts (study, number);
CREATE INDEX artifacts_by_sha256 ON artifacts (sha256);
CREATE INDEX study_blobs_by_sha256 ON study_blobs (sha256);
CREATE INDEX owner_blobs_by_sha256 ON owner_blobs (sha256);
CREATE UNIQUE INDEX series_by_name ON series_names (study, name);
CREATE INDEX deliveries_by_study ON deliveries (study, id);
CREATE INDEX waiting_deliveries ON deliveries (owner, next_at, id) WHERE state = 0;
CREATE INDEX project_owners_by_newest ON project_owners (project, newest);
CREATE TRIGGER totals_of_a_new_study AFTER INSERT ON study_progress
BEGIN
  INSERT INTO project_totals (project, studies, done, trials_high, trials_low)
    SELECT project, 1, new.complete + new.pruned + new.failed, (total >> 32) + (new.asked >> 32),
      (total & 4294967295) + (new.asked & 4294967295)
    FROM studies WHERE id = new.study
    ON CONFLICT (project) DO UPDATE SET studies = studies + 1, done = done + excluded.done,
      trials_high = trials_high + excluded.trials_high, trials_low = trials_low + excluded.trials_low;
  INSERT INTO project_owners (project, owner, studies, newest)
    SELECT project, owner, 1, new.study FROM studies WHERE id = new.study
    ON CONFLICT (project, owner) DO UPDATE SET studies = studies + 1, newest = max(newest, excluded.newest);
  INSERT INTO owner_totals (owner, running, trials_high, trials_low, artifact_bytes, blob_bytes)
    SELECT owner, new.state = 0, iif(new.state = 0, (total >> 32) + (new.asked >> 32), 0),
      iif(new.state = 0, (total & 4294967295) + (new.asked & 4294967295), 0), new.artifact_bytes, 0
    FROM studies WHERE id = new.study
    ON CONFLICT (owner) DO UPDATE SET running = running + excluded.running,
      trials_high = trials_high + excluded.trials_high, trials_low = trials_low + excluded.trials_low,
      artifact_bytes = artifact_bytes + excluded.artifact_bytes;
END;
CREATE TRIGGER totals_of_a_project AFTER UPDATE ON study_progress
WHEN (new.complete + new.pruned + new.failed, new.asked) IS NOT (old.complete + old.pruned + old.failed, old.asked)
BEGIN
  UPDATE project_totals SET
    done = done + (new.complete + new.pruned + new.failed) - (old.complete + old.pruned + old.failed),
    trials_high = trials_high + (new.asked >> 32) - (old.asked >> 32),
    trials_low = trials_low + (new.asked & 4294967295) - (old.asked & 4294967295)
  WHERE project = (SELECT project FROM studies WHERE id = new.study);
END;
CREATE TRIGGER totals_of_an_owner AFTER UPDATE ON study_progress
WHEN (new.state = 0, new.asked, new.artifact_bytes) IS NOT (old.state = 0, old.asked, old.artifact_bytes)
BEGIN
  UPDATE owner_totals SET
    running = running + (new.state = 0) - (old.state = 0),
    trials_high = trials_high + changed.high,
    trials_low = trials_low + changed.low,
    artifact_bytes = artifact_bytes + new.artifact_bytes - old.artifact_bytes
  FROM (
    SELECT owner,
      iif(new.state = 0, (total >> 32) + (new.asked >> 32), 0)
        - iif(old.state = 0, (total >> 32) + (old.asked >> 32), 0) AS high,
      iif(new.state = 0, (total & 4294967295) + (new.asked & 4294967295), 0)
        - iif(old.state = 0, (total & 4294967295) + (old.asked & 4294967295), 0) AS low
    FROM studies WHERE id = new.study) AS changed
  WHERE owner_totals.owner = changed.owner;
END;
CREATE TRIGGER totals_of_a_larger_study AFTER UPDATE OF total ON studies
WHEN new.total IS NOT old.total
BEGIN
  UPDATE project_totals SET
    trials_high = trials_high + (new.total >> 32) - (old.total >> 32),
    trials_low = trials_low + (new.total & 4294967295) - (old.total & 4294967295)
  WHERE project = new.project;
  UPDATE owner_totals SET
    trials_high = trials_high + (new.total >> 32) - (old.total >> 32),
    trials_low = trials_low + (new.total & 4294967295) - (old.total & 4294967295)
  WHERE owner = new.owner AND EXISTS (SELECT 1 FROM study_progress WHERE study = new.id AND state = 0);
END;
CREATE TRIGGER totals_without_a_study AFTER DELETE ON study_progress
BEGIN
  UPDATE project_totals SET studies = studies - 1, done = done - (old.complete + old.pruned + old.failed),
    trials_high = trials_high - gone.high, trials_low = trials_low - gone.low
  FROM (
    SELECT project, (total >> 32) + (old.asked >> 32) AS high,
      (total & 4294967295) + (old.asked & 4294967295) AS low
    FROM studies WHERE id = old.study) AS gone
  WHERE project_totals.project = gone.project;
  UPDATE project_owners SET studies = project_owners.studies - 1
  FROM (SELECT project, owner FROM studies WHERE id = old.study) AS gone
  WHERE project_owners.project = gone.project AND project_owners.owner = gone.owner;
  DELETE FROM project_owners WHERE studies = 0
    AND (project, owner) = (SELECT project, owner FROM studies WHERE id = old.study);
  UPDATE owner_totals SET running = running - (old.state = 0),
    trials_high = trials_high - iif(old.state = 0, gone.high, 0),
    trials_low = trials_low - iif(old.state = 0, gone.low, 0),
    artifact_bytes = artifact_bytes - old.artifact_bytes
  FROM (
    SELECT owner, (total >> 32) + (old.asked >> 32) AS high,
      (total & 4294967295) + (old.asked & 4294967295) AS low
    FROM studies WHERE id = old.study) AS gone
  WHERE owner_totals.owner = gone.owner;
END;
CREATE TRIGGER totals_of_a_new_blob AFTER INSERT ON owner_blobs
BEGIN
  INSERT INTO owner_totals (owner, running, trials_high, trials_low, artifact_bytes, blob_bytes)
    VALUES (new.owner, 0, 0, 0, 0, new.bytes)
    ON CONFLICT (owner) DO UPDATE SET blob_bytes = blob_bytes + excluded.blob_bytes;
END;
CREATE TRIGGER totals_without_a_blob AFTER DELETE ON owner_blobs
BEGIN
  UPDATE owner_totals SET blob_bytes = blob_bytes - old.bytes WHERE owner = old.owner;
END;
CREATE INDEX studies_by_owner ON studies (owner);
CREATE INDEX running_studies ON study_progress (study) WHERE state = 0;
CREATE INDEX audit_totals_by_bytes ON audit_totals (bytes);
CREATE INDEX audit_by_actor ON audit (actor);
CREATE TRIGGER audit_grows AFTER INSERT ON audit
BEGIN
  INSERT INTO audit_totals (actor, entries, bytes)
    VALUES (new.actor, 1,
      64 + length(CAST(new.actor || new.action || new.object || new.address || new.detail AS BLOB)))
    ON CONFLICT (actor) DO UPDATE SET entries = entries + 1, bytes = bytes + excluded.bytes;
  UPDATE audit_total SET entries = entries + 1, bytes = bytes
    + 64 + length(CAST(new.actor || new.action || new.object || new.address || new.detail AS BLOB));
END;
CREATE TRIGGER audit_shrinks AFTER DELETE ON audit
BEGIN
  UPDATE audit_totals SET entries = entries - 1, bytes = bytes
    - 64 - length(CAST(old.actor || old.action || old.object || old.address || old.detail AS BLOB))
  WHERE actor = old.actor;
  DELETE FROM audit_totals WHERE actor = old.actor AND entries = 0;
  UPDATE audit_total SET entries = entries - 1, bytes = bytes
    - 64 - length(CAST(old.actor || old.action || old.object || old.address || old.detail AS BLOB));
END;
CREATE INDEX studies_awaiting_approval ON study_progress (study) WHERE approval = 1;
CREATE TRIGGER stored_of_an_owner AFTER UPDATE ON study_progress
WHEN (new.checkpoint_bytes, new.record_bytes) IS NOT (old.checkpoint_bytes, old.record_bytes)
BEGIN
  UPDATE owner_totals SET
    checkpoint_bytes = checkpoint_bytes + new.checkpoint_bytes - old.checkpoint_bytes,
    record_bytes = record_bytes + new.record_bytes - old.record_bytes
  WHERE owner = (SELECT studies.owner FROM studies WHERE id = new.study);
END;
CREATE TRIGGER stored_without_a_study AFTER DELETE ON study_progress
BEGIN
  UPDATE owner_totals SET checkpoint_bytes = checkpoint_bytes - old.checkpoint_bytes,
    record_bytes = record_bytes - old.record_bytes
  WHERE owner = (SELECT studies.owner FROM studies WHERE id = old.study);
END;
CREATE UNIQUE INDEX artifacts_by_id ON artifacts (study, id, uploader);
CREATE INDEX device_use_by_study ON device_use (study);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('projects',0);
INSERT INTO "sqlite_sequence" VALUES('tokens',2);
INSERT INTO "sqlite_sequence" VALUES('codes',0);
INSERT INTO "sqlite_sequence" VALUES('audit',1);
COMMIT;
PRAGMA application_id = 1212574827;
PRAGMA user_version = 20;
