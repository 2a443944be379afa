// See rules.h. A study counts while it has a row in `study_progress`. Rows of deleted studies are
// removed in pieces, so most rules do not look at them.
#include "storage/sqlite/check/rules.h"

#include "protocol/messages.h"
#include "storage/records.h"

namespace hyperflock::storage::sqlite {
namespace {

// The queries contain these values as numbers.
static_assert(static_cast<int>(StudyState::running) == 0);
static_assert(static_cast<int>(TrialState::running) == 0);
static_assert(static_cast<int>(TrialState::complete) == 1);
static_assert(static_cast<int>(TrialState::pruned) == 2);
static_assert(static_cast<int>(TrialState::failed) == 3);
static_assert(static_cast<int>(TrialState::cancelled) == 4);
static_assert(static_cast<int>(AttemptState::accepted) == 1);
static_assert(static_cast<int>(protocol::Verdict::accepted) == 0);
static_assert(static_cast<int>(protocol::StudyKind::asked) == 1);

constexpr RowRule kRules[] = {
    // ---- trials and attempts
    {"trial_counts", "the trials of a study are not as many as its row says",
     "SELECT 'study ' || p.study FROM study_progress AS p LEFT JOIN (SELECT study,"
     " sum(state = 1) AS complete, sum(state = 2) AS pruned, sum(state = 3) AS failed,"
     " sum(state = 0) AS running, count(*) AS rows FROM trials GROUP BY study) AS t USING (study)"
     " JOIN studies ON id = p.study WHERE (p.complete, p.pruned, p.failed, p.running) IS NOT"
     " (coalesce(t.complete, 0), coalesce(t.pruned, 0), coalesce(t.failed, 0),"
     " coalesce(t.running, 0)) OR p.asked <> iif(kind = 1, coalesce(t.rows, 0), 0)"},
    {"attempt_counts", "the attempts of a study are not as many as its row says",
     "SELECT 'study ' || p.study FROM study_progress AS p LEFT JOIN"
     " (SELECT study, count(*) AS attempts FROM attempts GROUP BY study) AS a USING (study)"
     " WHERE p.attempts <> coalesce(a.attempts, 0)"},
    {"trial_attempts", "the attempts of a trial are not as many as its row says",
     "SELECT 'trial ' || t.study || '/' || t.number FROM trials AS t JOIN study_progress AS p"
     " USING (study) LEFT JOIN (SELECT study, number, count(*) AS attempts, max(id) AS newest"
     " FROM attempts GROUP BY study, number) AS a USING (study, number)"
     " WHERE t.attempts <> coalesce(a.attempts, 0) OR t.newest_attempt <> coalesce(a.newest, 0)"},
    {"attempt_chain", "an attempt names one before it that is not the trial's",
     "SELECT 'attempt ' || a.id FROM attempts AS a JOIN study_progress USING (study)"
     " LEFT JOIN attempts AS b ON b.id = a.previous WHERE a.previous IS NOT NULL"
     " AND (b.study, b.number) IS NOT (a.study, a.number)"},
    {"attempt_of_no_trial", "an attempt belongs to no trial",
     "SELECT 'attempt ' || a.id FROM attempts AS a LEFT JOIN trials AS t USING (study, number)"
     " WHERE t.study IS NULL"},
    {"one_accepted_attempt", "a trial with an outcome does not have exactly one accepted attempt",
     "SELECT 'trial ' || t.study || '/' || t.number FROM trials AS t JOIN study_progress"
     " USING (study) LEFT JOIN attempts AS a ON a.id = t.accepted_attempt WHERE"
     " (t.state IN (1, 2)) <> (t.accepted_attempt IS NOT NULL) OR (t.accepted_attempt IS NOT NULL"
     " AND (a.study, a.number, a.state, a.verdict) IS NOT (t.study, t.number, 1, 0))"
     " UNION ALL SELECT 'attempt ' || a.id FROM attempts AS a JOIN study_progress USING (study)"
     " LEFT JOIN trials AS t USING (study, number) WHERE a.state = 1"
     " AND t.accepted_attempt IS NOT a.id"},
    {"rejected_attempts", "a rejected attempt counts, or its rejection is missing",
     "SELECT 'attempt ' || a.id FROM attempts AS a JOIN study_progress USING (study) LEFT JOIN"
     " rejections AS r ON r.study = a.study AND r.id = a.rejection WHERE a.rejection IS NOT NULL"
     " AND (a.state = 1 OR r.id IS NULL)"
     " UNION ALL SELECT 'trial ' || t.study || '/' || t.number FROM trials AS t JOIN study_progress"
     " USING (study) LEFT JOIN (SELECT study, number, count(*) AS rejected FROM attempts"
     " WHERE rejection IS NOT NULL GROUP BY study, number) AS a USING (study, number)"
     " WHERE t.rejected <> coalesce(a.rejected, 0)"},
    {"finishing_order", "a trial has no place in the order of finishing, or the place of another",
     "SELECT 'trial ' || t.study || '/' || t.number FROM trials AS t JOIN study_progress AS p"
     " USING (study) WHERE (t.state = 0) <> (t.seq = 0) OR t.seq > p.cursor"
     " UNION ALL SELECT 'place ' || seq FROM trials WHERE seq > 0 GROUP BY seq"
     " HAVING count(*) > 1"},
    {"ended_study", "an ended study has trials that run",
     "SELECT 'study ' || study FROM study_progress WHERE state <> 0 AND running > 0"},
    // ---- what belongs to attempts, trials and studies
    {"points_of_no_attempt", "points belong to no attempt",
     "SELECT 'attempt ' || attempt FROM (SELECT DISTINCT attempt FROM points UNION"
     " SELECT DISTINCT attempt FROM series) WHERE attempt NOT IN (SELECT id FROM attempts)"},
    {"rows_of_no_trial", "a checkpoint, an artifact or a suggestion belongs to no trial",
     "SELECT 'trial ' || study || '/' || number FROM (SELECT study, number FROM checkpoints UNION"
     " SELECT study, number FROM artifacts UNION SELECT study, number FROM suggestions UNION"
     " SELECT study, number FROM best_trials) EXCEPT"
     " SELECT 'trial ' || study || '/' || number FROM trials"},
    {"rows_of_no_study", "rows belong to no study",
     "SELECT 'study ' || study FROM (SELECT study FROM trials UNION SELECT study FROM"
     " series_names UNION SELECT study FROM earlier_specs UNION SELECT study FROM artifacts)"
     " WHERE study NOT IN (SELECT id FROM studies)"
     " UNION SELECT 'study ' || study FROM (SELECT study FROM webhooks UNION SELECT study FROM"
     " device_use UNION SELECT study FROM study_blobs UNION SELECT study FROM checkpoints UNION"
     " SELECT study FROM best_trials) WHERE study NOT IN (SELECT study FROM study_progress)"},
    {"deleted_studies", "a study is neither there nor deleted",
     "SELECT 'study ' || id FROM studies LEFT JOIN study_progress AS p ON p.study = id"
     " WHERE (owner = '') <> (p.study IS NULL)"},
    {"code_versions", "an earlier version of a study's code is missing",
     "SELECT 'study ' || study FROM study_progress AS p WHERE p.code - 1 <>"
     " (SELECT count(*) FROM earlier_specs AS e WHERE e.study = p.study AND e.code < p.code)"},
    // ---- blobs that rows name
    {"blobs_of_studies", "a study's spec names a blob that its rows do not",
     "SELECT 'study ' || id FROM studies JOIN study_progress ON study = id"
     " WHERE json_extract(iif(json_valid(spec), spec, '{}'), '$.bundle.sha256') NOT IN"
     " (SELECT sha256 FROM study_blobs AS b WHERE b.study = id) UNION"
     " SELECT 'study ' || studies.id FROM studies JOIN study_progress ON study = studies.id,"
     " json_each(iif(json_valid(spec), spec, '{}'), '$.data') AS entry WHERE "
     "json_extract(entry.value, '$.sha256')"
     " NOT IN (SELECT sha256 FROM study_blobs AS b WHERE b.study = studies.id)"},
    {"blobs_of_owners", "a study names a blob that its owner does not have",
     "SELECT 'study ' || b.study FROM study_blobs AS b JOIN studies ON id = b.study"
     " LEFT JOIN owner_blobs AS o ON o.owner = studies.owner AND o.sha256 = b.sha256"
     " WHERE o.sha256 IS NULL"},
    {"blobs_of_projects", "the blobs of a project are not those of its studies",
     "SELECT 'project ' || project FROM (SELECT * FROM (SELECT project, sha256 FROM project_blobs"
     " EXCEPT SELECT project, b.sha256 FROM study_blobs AS b JOIN studies ON id = b.study)"
     " UNION ALL SELECT * FROM (SELECT project, b.sha256 FROM study_blobs AS b JOIN studies"
     " ON id = b.study EXCEPT SELECT project, sha256 FROM project_blobs))"},
    // ---- kept totals
    {"bytes_of_studies", "the files of a study are not as many bytes as its row says",
     "SELECT 'study ' || p.study FROM study_progress AS p"
     " LEFT JOIN (SELECT study, sum(bytes) AS bytes, max(arrived) AS arrived FROM artifacts"
     " GROUP BY study) AS a USING (study) LEFT JOIN (SELECT study, sum(bytes) AS bytes"
     " FROM checkpoints GROUP BY study) AS c USING (study)"
     " WHERE p.artifact_bytes <> coalesce(a.bytes, 0) OR p.artifacts < coalesce(a.arrived, 0)"
     " OR p.checkpoint_bytes <> coalesce(c.bytes, 0)"},
    {"bytes_of_devices", "the files of a device are not as many bytes as its row says",
     "SELECT 'device ' || coalesce(u.device, f.device) || ' in study '"
     " || coalesce(u.study, f.study) FROM device_use AS u FULL JOIN (SELECT device, r.study,"
     " sum(bytes) AS bytes FROM (SELECT r.uploader AS attempt, r.study, r.bytes FROM artifacts"
     " AS r JOIN study_progress USING (study) UNION ALL SELECT attempt, study, bytes"
     " FROM checkpoints) AS r JOIN attempts AS a ON a.id = r.attempt JOIN device_versions AS d"
     " ON d.id = a.device_version GROUP BY device, r.study HAVING sum(bytes) > 0) AS f"
     " ON f.device = u.device AND f.study = u.study WHERE u.bytes IS NOT f.bytes"},
    {"project_totals", "the totals of a project are wrong",
     "SELECT 'project ' || coalesce(k.project, c.project) FROM project_totals AS k FULL JOIN"
     " (SELECT project, count(*) AS studies, sum(complete + pruned + failed) AS done,"
     " sum((total >> 32) + (asked >> 32)) AS high,"
     " sum((total & 4294967295) + (asked & 4294967295)) AS low"
     " FROM study_progress JOIN studies ON id = study GROUP BY project) AS c"
     " ON c.project = k.project WHERE (coalesce(k.studies, 0), coalesce(k.done, 0),"
     " coalesce(k.trials_high, 0), coalesce(k.trials_low, 0)) IS NOT (coalesce(c.studies, 0),"
     " coalesce(c.done, 0), coalesce(c.high, 0), coalesce(c.low, 0))"},
    {"project_owners", "who has studies in a project is wrong",
     "SELECT 'project ' || coalesce(k.project, c.project) FROM project_owners AS k FULL JOIN"
     " (SELECT project, owner, count(*) AS studies, max(study) AS newest"
     " FROM study_progress JOIN studies ON id = study GROUP BY project, owner) AS c"
     " ON c.project = k.project AND c.owner = k.owner"
     " WHERE k.studies IS NOT c.studies OR k.newest < c.newest"},
    {"owner_totals", "the totals of a researcher are wrong",
     "SELECT 'researcher ' || coalesce(k.owner, c.owner) FROM owner_totals AS k FULL JOIN"
     " (SELECT owner, sum(running) AS running, sum(high) AS high, sum(low) AS low,"
     " sum(artifacts) AS artifacts, sum(checkpoints) AS checkpoints, sum(records) AS records,"
     " sum(blobs) AS blobs FROM (SELECT owner, state = 0 AS running,"
     " iif(state = 0, (total >> 32) + (asked >> 32), 0) AS high,"
     " iif(state = 0, (total & 4294967295) + (asked & 4294967295), 0) AS low,"
     " artifact_bytes AS artifacts, checkpoint_bytes AS checkpoints, record_bytes AS records,"
     " 0 AS blobs FROM study_progress JOIN studies ON id = study"
     " UNION ALL SELECT owner, 0, 0, 0, 0, 0, 0, bytes FROM owner_blobs) GROUP BY owner) AS c"
     " ON c.owner = k.owner WHERE (coalesce(k.running, 0), coalesce(k.trials_high, 0),"
     " coalesce(k.trials_low, 0), coalesce(k.artifact_bytes, 0), coalesce(k.checkpoint_bytes, 0),"
     " coalesce(k.record_bytes, 0), coalesce(k.blob_bytes, 0)) IS NOT (coalesce(c.running, 0),"
     " coalesce(c.high, 0), coalesce(c.low, 0), coalesce(c.artifacts, 0),"
     " coalesce(c.checkpoints, 0), coalesce(c.records, 0), coalesce(c.blobs, 0))"},
    {"contributions", "a device has contributed less than its accepted results",
     "SELECT 'device ' || c.device || ' in project ' || c.project FROM (SELECT d.device, s.project,"
     " count(*) AS trials, sum(coalesce(a.given_ms, iif(a.load_ms + a.run_ms > 0,"
     " min(a.load_ms + a.run_ms, max(a.finished_at - a.started_at, 0)),"
     " max(a.finished_at - a.started_at, 0)))) AS ms, sum(a.moved_best) AS moved"
     " FROM trials AS t JOIN attempts AS a ON a.id = t.accepted_attempt JOIN device_versions AS d"
     " ON d.id = a.device_version JOIN studies AS s ON s.id = t.study"
     " WHERE t.seq <= (SELECT seq FROM contribution_fold) GROUP BY d.device, s.project) AS c"
     " LEFT JOIN (SELECT device, project, sum(trials) AS trials, sum(ms) AS ms,"
     " sum(moved) AS moved FROM contributions GROUP BY device, project) AS k"
     " ON k.device = c.device AND k.project = c.project WHERE coalesce(k.trials, 0) < c.trials"
     " OR coalesce(k.ms, 0) < c.ms OR coalesce(k.moved, 0) < c.moved"
     " UNION ALL SELECT 'device ' || device || ' in project ' || project FROM contributions"
     " WHERE trials < 0 OR ms < 0 OR moved < 0"
     " UNION ALL SELECT 'all devices' FROM contribution_fold WHERE seq > (SELECT max(given.seq,"
     " (SELECT coalesce(max(cursor), 0) FROM study_progress)) FROM given)"},
    {"passphrases", "a device that does not exist has a passphrase",
     "SELECT 'device ' || device FROM device_passphrases WHERE device NOT IN"
     " (SELECT id FROM devices)"},
    {"audit_totals", "the length of the audit log is wrong",
     "SELECT 'actor ' || coalesce(k.actor, c.actor) FROM audit_totals AS k FULL JOIN"
     " (SELECT actor, count(*) AS entries, sum(64 + length(CAST(actor || action || object ||"
     " address || detail AS BLOB))) AS bytes FROM audit GROUP BY actor) AS c ON c.actor = k.actor"
     " WHERE (k.entries, k.bytes) IS NOT (c.entries, c.bytes)"
     " UNION ALL SELECT 'all entries' FROM audit_total WHERE (entries, bytes) IS NOT"
     " (SELECT coalesce(sum(entries), 0), coalesce(sum(bytes), 0) FROM audit_totals)"},
    {"single_rows", "a table that has one row has not",
     "SELECT 'given' WHERE (SELECT count(*) FROM given) <> 1 UNION ALL"
     " SELECT 'kept_time' WHERE (SELECT count(*) FROM kept_time) <> 1 UNION ALL"
     " SELECT 'contribution_fold' WHERE (SELECT count(*) FROM contribution_fold) <> 1 UNION ALL"
     " SELECT 'audit_total' WHERE (SELECT count(*) FROM audit_total) <> 1"},
};

}  // namespace

std::span<const RowRule> row_rules() { return kRules; }

}  // namespace hyperflock::storage::sqlite
