-- Totals that requests would otherwise count over all studies. Triggers keep them in the transaction that changes a row,
-- so no writer can forget them. A study counts while it has a row in `study_progress`.
--
-- A study may have 2^53 - 1 trials. Sums of trials are kept in two parts, the high ones in units of 2^32, so that the sum
-- over any number of studies fits.

CREATE TABLE project_totals (
  project     TEXT PRIMARY KEY,
  studies     INTEGER NOT NULL,
  done        INTEGER NOT NULL,  -- trials with an outcome, without cancelled ones
  trials_high INTEGER NOT NULL,
  trials_low  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Who has studies in a project, and who submitted last.
CREATE TABLE project_owners (
  project TEXT NOT NULL,
  owner   TEXT NOT NULL,
  studies INTEGER NOT NULL,
  newest  INTEGER NOT NULL,  -- the study that they submitted last; it may be deleted
  PRIMARY KEY (project, owner)
) STRICT, WITHOUT ROWID;

CREATE INDEX project_owners_by_newest ON project_owners (project, newest);

-- What the quota of an owner counts.
CREATE TABLE owner_totals (
  owner          TEXT PRIMARY KEY,
  running        INTEGER NOT NULL,  -- studies
  trials_high    INTEGER NOT NULL,  -- of running studies
  trials_low     INTEGER NOT NULL,
  artifact_bytes INTEGER NOT NULL,
  blob_bytes     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO project_totals (project, studies, done, trials_high, trials_low)
  SELECT project, count(*), sum(complete + pruned + failed), sum((total >> 32) + (asked >> 32)),
    sum((total & 4294967295) + (asked & 4294967295))
  FROM study_progress JOIN studies ON id = study GROUP BY project;

INSERT INTO project_owners (project, owner, studies, newest)
  SELECT project, owner, count(*), max(study) FROM study_progress JOIN studies ON id = study GROUP BY project, owner;

INSERT INTO owner_totals (owner, running, trials_high, trials_low, artifact_bytes, blob_bytes)
  SELECT owner, sum(state = 0), sum(iif(state = 0, (total >> 32) + (asked >> 32), 0)),
    sum(iif(state = 0, (total & 4294967295) + (asked & 4294967295), 0)), sum(artifact_bytes), 0
  FROM study_progress JOIN studies ON id = study GROUP BY owner;

INSERT INTO owner_totals (owner, running, trials_high, trials_low, artifact_bytes, blob_bytes)
  SELECT owner, 0, 0, 0, 0, sum(bytes) FROM owner_blobs WHERE true GROUP BY owner
  ON CONFLICT (owner) DO UPDATE SET blob_bytes = excluded.blob_bytes;

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

-- The space of a study was extended (R65).
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

-- The row of `studies` still names the owner then.
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

-- Pages of one owner's studies, newest first; an index has the rowid behind its columns.
CREATE INDEX studies_by_owner ON studies (owner);
-- What a start reads.
CREATE INDEX running_studies ON study_progress (study) WHERE state = 0;
