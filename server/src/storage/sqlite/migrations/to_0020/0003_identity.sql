-- Who may do what: projects, people with several tokens each, enrolment codes with limits, what each researcher has
-- brought, and the audit log. Touches nothing of studies, trials and attempts but to read them.

CREATE TABLE projects (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL
) STRICT;

INSERT INTO projects (name, created_at)
  SELECT project, min(created_at) AS first
  FROM (SELECT project, created_at FROM enrolments UNION ALL SELECT project, created_at FROM studies)
  GROUP BY project ORDER BY first, project;

-- A person's tokens; the first ones were a column of principals.
CREATE TABLE tokens (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  principal  INTEGER NOT NULL REFERENCES principals (id),
  token_hash TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,  -- 0: never
  revoked_at INTEGER NOT NULL   -- 0: not
) STRICT;

INSERT INTO tokens (principal, token_hash, created_at, expires_at, revoked_at)
  SELECT id, token_hash, 0, 0, 0 FROM principals ORDER BY id;

ALTER TABLE principals DROP COLUMN token_hash;
ALTER TABLE principals ADD COLUMN state INTEGER NOT NULL DEFAULT 0;
ALTER TABLE principals ADD COLUMN note TEXT NOT NULL DEFAULT '';
ALTER TABLE principals ADD COLUMN quota_studies INTEGER NOT NULL DEFAULT 0;  -- 0: no limit
ALTER TABLE principals ADD COLUMN quota_trials INTEGER NOT NULL DEFAULT 0;
ALTER TABLE principals ADD COLUMN quota_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE principals ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0;

-- Which projects a researcher may use.
CREATE TABLE members (
  principal INTEGER NOT NULL REFERENCES principals (id),
  project   INTEGER NOT NULL REFERENCES projects (id),
  PRIMARY KEY (principal, project)
) STRICT, WITHOUT ROWID;

INSERT INTO members (principal, project)
  SELECT principals.id, projects.id FROM principals, projects WHERE role = 1;

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

INSERT INTO codes (code_hash, project, label, created_by, created_at, expires_at, max_uses, uses, revoked_at)
  SELECT code_hash, project, '', '', created_at, 0, 0, 0, 0 FROM enrolments ORDER BY created_at, code_hash;

DROP TABLE enrolments;

-- Each blob counts once for everyone who brought or named it.
CREATE TABLE owner_blobs (
  owner  TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  bytes  INTEGER NOT NULL,
  PRIMARY KEY (owner, sha256)
) STRICT, WITHOUT ROWID;

INSERT OR IGNORE INTO owner_blobs (owner, sha256, bytes)
  SELECT owner, json_extract(spec, '$.bundle.sha256'), json_extract(spec, '$.bundle.bytes') FROM studies;
INSERT OR IGNORE INTO owner_blobs (owner, sha256, bytes)
  SELECT owner, json_extract(entry.value, '$.sha256'), json_extract(entry.value, '$.bytes')
  FROM studies, json_each(studies.spec, '$.data') AS entry;

-- Rows are added and, when they are old, removed; nothing changes one.
CREATE TABLE audit (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  at      INTEGER NOT NULL,
  actor   TEXT NOT NULL,
  action  TEXT NOT NULL,
  object  TEXT NOT NULL,
  address TEXT NOT NULL,
  detail  TEXT NOT NULL
) STRICT;

CREATE TRIGGER audit_is_not_rewritten BEFORE UPDATE ON audit
BEGIN
  SELECT raise(ABORT, 'the audit log is not rewritten');
END;
