-- A time that is not before any that was committed; 0: none yet. After a restart the server's time begins here, so a
-- clock that was set back revives nothing.

CREATE TABLE kept_time (
  at INTEGER NOT NULL
) STRICT;

INSERT INTO kept_time (at) VALUES (0);

-- How much of the audit log is about whom. If the log gets too long, the person with the most loses the oldest entries.
-- So nobody can push out the entries of others. `bytes` are those of the texts and kAuditEntryBytes for each entry.

CREATE TABLE audit_totals (
  actor   TEXT PRIMARY KEY,
  entries INTEGER NOT NULL,
  bytes   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX audit_totals_by_bytes ON audit_totals (bytes);

-- One row: the sums over all.
CREATE TABLE audit_total (
  entries INTEGER NOT NULL,
  bytes   INTEGER NOT NULL
) STRICT;

-- An index has the rowid, which is the id, behind its columns.
CREATE INDEX audit_by_actor ON audit (actor);

INSERT INTO audit_totals (actor, entries, bytes)
  SELECT actor, count(*), sum(64 + length(CAST(actor || action || object || address || detail AS BLOB)))
  FROM audit GROUP BY actor;
INSERT INTO audit_total (entries, bytes) SELECT coalesce(sum(entries), 0), coalesce(sum(bytes), 0) FROM audit_totals;

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
