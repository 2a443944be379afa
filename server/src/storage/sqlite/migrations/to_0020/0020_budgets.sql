-- What a study and its owner have stored, in bytes: checkpoints, and records (rows of the database: specs, attempts,
-- points, series, attributes, errors). The figures are estimates that never change for a row (storage/quota.h).

ALTER TABLE study_progress ADD COLUMN checkpoint_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE study_progress ADD COLUMN record_bytes INTEGER NOT NULL DEFAULT 0;

UPDATE study_progress SET checkpoint_bytes = found.bytes
  FROM (SELECT study AS id, sum(bytes) AS bytes FROM checkpoints GROUP BY study) AS found WHERE found.id = study;
UPDATE study_progress SET record_bytes = 512 + length(CAST(spec AS BLOB)) FROM studies WHERE studies.id = study;
UPDATE study_progress SET record_bytes = record_bytes + found.bytes
  FROM (SELECT study AS id, sum(512 + length(attrs) + coalesce(length(failure_message), 0)
        + coalesce(length(failure_traceback), 0)) AS bytes FROM attempts GROUP BY study) AS found
  WHERE found.id = study;
UPDATE study_progress SET record_bytes = record_bytes + found.bytes
  FROM (SELECT study AS id, sum(length(params) + length(asked_attrs)) AS bytes FROM trials GROUP BY study) AS found
  WHERE found.id = study;
UPDATE study_progress SET record_bytes = record_bytes + found.bytes
  FROM (SELECT study AS id, 24 * count(*) AS bytes FROM points JOIN attempts ON attempts.id = attempt GROUP BY study)
  AS found WHERE found.id = study;
UPDATE study_progress SET record_bytes = record_bytes + found.bytes
  FROM (SELECT study AS id, sum(64 + length(content)) AS bytes FROM series JOIN attempts ON attempts.id = attempt
        GROUP BY study) AS found WHERE found.id = study;
UPDATE study_progress SET record_bytes = record_bytes + found.bytes
  FROM (SELECT study AS id, sum(64 + length(distribution) + length(value)) AS bytes FROM suggestions GROUP BY study)
  AS found WHERE found.id = study;
UPDATE study_progress SET record_bytes = record_bytes + found.bytes
  FROM (SELECT study AS id, 512 * count(*) AS bytes FROM artifacts GROUP BY study) AS found WHERE found.id = study;

-- The sums of an owner, kept like the others in owner_totals.
ALTER TABLE owner_totals ADD COLUMN checkpoint_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE owner_totals ADD COLUMN record_bytes INTEGER NOT NULL DEFAULT 0;

UPDATE owner_totals SET checkpoint_bytes = found.checkpoints, record_bytes = found.records
  FROM (SELECT studies.owner AS name, sum(checkpoint_bytes) AS checkpoints, sum(record_bytes) AS records
        FROM study_progress JOIN studies ON studies.id = study GROUP BY studies.owner) AS found
  WHERE owner = found.name;

CREATE TRIGGER stored_of_an_owner AFTER UPDATE ON study_progress
WHEN (new.checkpoint_bytes, new.record_bytes) IS NOT (old.checkpoint_bytes, old.record_bytes)
BEGIN
  UPDATE owner_totals SET
    checkpoint_bytes = checkpoint_bytes + new.checkpoint_bytes - old.checkpoint_bytes,
    record_bytes = record_bytes + new.record_bytes - old.record_bytes
  WHERE owner = (SELECT studies.owner FROM studies WHERE id = new.study);
END;

-- The row of `studies` still names the owner then.
CREATE TRIGGER stored_without_a_study AFTER DELETE ON study_progress
BEGIN
  UPDATE owner_totals SET checkpoint_bytes = checkpoint_bytes - old.checkpoint_bytes,
    record_bytes = record_bytes - old.record_bytes
  WHERE owner = (SELECT studies.owner FROM studies WHERE id = old.study);
END;

-- The attempt that uploaded an artifact. `attempt` may later be the accepted one, which inherits it. An id is the
-- uploader's own, so that no device can take the ids of another trial or attempt.
ALTER TABLE artifacts ADD COLUMN uploader INTEGER NOT NULL DEFAULT 0;
UPDATE artifacts SET uploader = attempt;
DROP INDEX artifacts_by_id;
CREATE UNIQUE INDEX artifacts_by_id ON artifacts (study, id, uploader);

-- The kept artifacts and checkpoints of a device in a study, in bytes.
CREATE TABLE device_use (
  device TEXT NOT NULL,
  study  INTEGER NOT NULL,
  bytes  INTEGER NOT NULL,
  PRIMARY KEY (device, study)
) STRICT, WITHOUT ROWID;

CREATE INDEX device_use_by_study ON device_use (study);

INSERT INTO device_use (device, study, bytes)
  SELECT device, study, sum(bytes) FROM (
    SELECT device, artifacts.study AS study, bytes FROM artifacts JOIN attempts ON attempts.id = uploader
    UNION ALL
    SELECT device, checkpoints.study, bytes FROM checkpoints JOIN attempts ON attempts.id = attempt)
  GROUP BY device, study;
