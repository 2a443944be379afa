// Implements the readers of the storage contract; see readers.h.
#include "storage/sqlite/readers.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <unordered_map>

#include "storage/failure_budget.h"
#include "storage/lineage.h"
#include "storage/page_bytes.h"
#include "storage/sqlite/db/rows.h"
#include "storage/sqlite/series/stored_series.h"
#include "storage/study_ledger.h"

namespace hyperflock::storage::sqlite {
namespace {

constexpr std::int64_t kAnyId = std::numeric_limits<std::int64_t>::max();
static_assert(static_cast<int>(StudyState::running) == 0);  // kSelectRunning

std::optional<StoredAttempt> attempt_by_id(Connection& db, std::int64_t id) {
  Query row = db.query(kSelectAttempt, id);
  if (!row.next()) return std::nullopt;
  return read_attempt(row);
}

constexpr std::size_t kAllAttempts = std::numeric_limits<std::size_t>::max();

// Returns a trial's attempts with ids above `forgiven`, the oldest first, and of many the newest
// `most`. Each row names the attempt before it; `newest` is the last one.
std::vector<AttemptRow> attempts_from(Connection& db, std::int64_t newest, std::int64_t forgiven,
                                      std::size_t most) {
  std::vector<AttemptRow> attempts;
  for (std::optional<std::int64_t> id = newest; id && *id > forgiven && attempts.size() < most;) {
    auto stored = attempt_by_id(db, *id);
    if (!stored) break;
    id = stored->previous;
    attempts.push_back(std::move(stored->row));
  }
  std::reverse(attempts.begin(), attempts.end());
  return attempts;
}

std::vector<Suggestion> suggestions_of(Connection& db, TrialKey key) {
  std::vector<Suggestion> log;
  Query row = db.query(kSelectSuggestions, key.study, key.number);
  while (row.next())
    log.push_back({std::string(row.text(0)), std::string(row.text(1)), std::string(row.text(2))});
  return log;
}

bool is_asked(Connection& db, StudyId id) {
  return db.query("SELECT 1 FROM studies WHERE id = ? AND kind = ?", id, protocol::StudyKind::asked)
      .next();
}

// Returns whether the study exists. A deleted study may have other rows, but no progress row.
bool exists(Connection& db, StudyId id) {
  return db.query("SELECT 1 FROM study_progress WHERE study = ?", id).next();
}

// Adds the attempt that decides a trial: the accepted one, otherwise the newest.
void add_deciding_attempt(Connection& db, TrialDetail& detail, std::int64_t newest) {
  TrialRow& trial = detail.trial;
  auto stored =
      attempt_by_id(db, trial.accepted_attempt ? to_int(*trial.accepted_attempt) : newest);
  if (!stored) return;
  if (trial.accepted_attempt) trial.values = stored->row.values;
  detail.attempt = std::move(stored->row);
}

std::optional<protocol::Failure> failure_of(Connection& db, TrialKey key) {
  Query row = db.query(kSelectTrial, key.study, key.number);
  return row.next() ? read_trial(row).trial.failure : std::nullopt;
}

std::vector<TrialNumber> front_of(Connection& db, StudyId id) {
  std::vector<TrialNumber> front;
  Query row = db.query("SELECT number FROM best_trials WHERE study = ? ORDER BY number LIMIT ?", id,
                       kShownBest);
  while (row.next()) front.push_back(TrialNumber{row.integer(0)});
  return front;
}

// Returns the failures of a running study that count for R56.
std::vector<protocol::Failure> failures_of(Connection& db, const StudyRow& study) {
  std::vector<protocol::Failure> failures;
  if (study.spec.max_failures == 0 || ledger::has_succeeded(study)) return failures;
  Query row = db.query(
      "SELECT failure_cause, failure_code, failure_message, failure_traceback FROM trials"
      " WHERE study = ?1 AND seq > ?2 AND state = ?3 ORDER BY seq DESC LIMIT ?4",
      study.id, study.forgiven_seq, TrialState::failed, kMostFailures);
  while (row.next()) {
    if (auto failure = read_failure(row, 0)) failures.push_back(*std::move(failure));
  }
  std::ranges::reverse(failures);
  return failures;
}

// Reads a study from a row, and adds the facts that are in other tables.
StudyRow whole_study(Connection& db, const Query& row) {
  StudyRow study = read_study(row);
  if (study.stopped_by) study.stop_failure = failure_of(db, {study.id, *study.stopped_by});
  study.webhook = webhook_of(db, study.id);
  study.earlier_blobs = earlier_blobs(db, study);
  if (study.spec.directions.size() > 1) study.best_trials = front_of(db, study.id);
  if (study.spec.kind != protocol::StudyKind::asked || !study.best_trial) return study;
  Query best = db.query("SELECT params FROM trials WHERE study = ? AND number = ?", study.id,
                        *study.best_trial);
  if (best.next()) study.best_params = best.text(0);
  return study;
}

// Returns a sum that is stored as a high and a low part (migrations/to_0020/0017_totals.sql), at
// most kManyTrials.
std::int64_t trials_of(std::int64_t high, std::int64_t low) {
  constexpr std::int64_t kHigh = std::int64_t{1} << 32;
  high += low / kHigh;
  if (high > kManyTrials / kHigh) return kManyTrials;
  return std::min(kManyTrials, high * kHigh + low % kHigh);
}

// Finds the names of a study's series by their numbers.
class SeriesNames {
 public:
  SeriesNames(Connection& db, StudyId study) : db_(db), study_(study) {}

  const std::string& of(std::int64_t id) {
    const auto [found, is_new] = known_.try_emplace(id);
    if (is_new) {
      Query row = db_.query("SELECT name FROM series_names WHERE study = ? AND id = ?", study_, id);
      if (row.next()) found->second = row.text(0);
    }
    return found->second;
  }

 private:
  Connection& db_;
  const StudyId study_;
  std::unordered_map<std::int64_t, std::string> known_;
};

bool has_series(Connection& db, StudyId id) {
  return db.query("SELECT 1 FROM series_names WHERE study = ? LIMIT 1", id).next();
}

void add_last(Connection& db, TrialDetail& detail, SeriesNames& names) {
  if (!detail.attempt) return;
  for (const auto& [id, value] : last_of(db, detail.attempt->id, detail.attempt->from))
    detail.last.push_back({names.of(id), value});
}

// Returns a page of trials with their deciding attempts, suggestions and last values of series. The
// page ends early if its texts are long.
std::vector<TrialDetail> details(Connection& db, Query trials, StudyId id) {
  std::vector<TrialDetail> page;
  if (!exists(db, id)) return page;
  const bool asked = is_asked(db, id);
  const bool logged = has_series(db, id);
  SeriesNames names(db, id);
  std::size_t bytes = 0;
  while (bytes < kPageTextBytes && trials.next()) {
    TrialDetail& one = page.emplace_back(read_trial(trials));
    add_deciding_attempt(db, one, newest_attempt_of(trials));
    if (asked) one.trial.suggested = suggestions_of(db, one.trial.key);
    if (logged) add_last(db, one, names);
    bytes += text_bytes(one);
  }
  return page;
}

std::vector<protocol::Point> curve_of(Connection& db, const AttemptRow& attempt) {
  Lineage lineage(attempt);
  while (const auto id = lineage.wanted()) {
    {
      Query points = db.query(kSelectPoints, *id);
      while (points.next()) lineage.add({points.integer(0), points.real(1)});
    }
    if (*id == attempt.id) {
      lineage.go_on(attempt.from);
      continue;
    }
    const auto row = attempt_by_id(db, to_int(*id));
    lineage.go_on(row ? row->row.from : std::nullopt);
  }
  return lineage.points();
}

// Returns whether an attempt of another device was not accepted because it had reported no point.
bool was_doubted(Connection& db, std::int64_t attempt, std::int64_t forgiven,
                 std::string_view device) {
  const auto attempts = attempts_from(db, attempt, forgiven, kAllAttempts);
  return std::ranges::any_of(attempts, [&](const AttemptRow& one) {
    return counts(one) && one.failure->code == kNoPoints && one.device != device;
  });
}

ReportedPoints reported_points(Connection& db, const StudyRow& study) {
  ReportedPoints points;
  if (study.complete == 0) return points;
  struct Without {
    std::int64_t attempt = 0;
    std::int64_t forgiven = 0;
    std::string device;
  };
  std::vector<Without> without;  // attempts after others of their trials
  Query row = db.query(
      "SELECT a.id, a.code, a.previous, a.resumed_attempt, t.forgiven_attempt, d.device,"
      " EXISTS (SELECT 1 FROM points AS p WHERE p.attempt = a.id)"
      " FROM (SELECT state, accepted_attempt, forgiven_attempt FROM trials WHERE study = ?1"
      " ORDER BY seq DESC LIMIT ?2) AS t JOIN attempts AS a ON a.id = t.accepted_attempt"
      " LEFT JOIN device_versions AS d ON d.id = a.device_version WHERE t.state = ?3",
      study.id, kNewestTrials, TrialState::complete);
  while (row.next()) {
    if (row.integer(1) != study.code || !row.null(3)) continue;
    std::string device(row.null(5) ? std::string_view(kErasedDevice) : row.text(5));
    if (row.integer(6) != 0) {
      points.add(device);
    } else if (!row.null(2)) {
      without.push_back({row.integer(0), row.integer(4), std::move(device)});
    }
  }
  points.are_optional = points.results > 0 && std::ranges::any_of(without, [&](const Without& one) {
                          return was_doubted(db, one.attempt, one.forgiven, one.device);
                        });
  return points;
}

RunningStudy running_study(Connection& db, StudyRow row) {
  RunningStudy running;
  running.study = std::move(row);
  running.failures = failures_of(db, running.study);
  running.points = reported_points(db, running.study);
  const StudyId id = running.study.id;
  const bool asked = running.study.spec.kind == protocol::StudyKind::asked;
  {
    Query next = db.query("SELECT coalesce(max(number) + 1, 0) FROM trials WHERE study = ?", id);
    next.next();
    running.next_number = next.integer(0);
  }
  Query trials = db.query(kSelectUnfinishedTrials, id, 0, kAnyId);
  while (trials.next()) {
    TrialRow trial = read_trial(trials).trial;
    const std::int64_t forgiven = forgiven_attempt_of(trials);
    // Devices of attempts before a reissue do not get the trial again either (R71).
    auto attempts = attempts_from(db, newest_attempt_of(trials), trial.rejected > 0 ? 0 : forgiven,
                                  kAllAttempts);
    RunningTrial& one = running.unfinished.emplace_back(
        running_trial(trial.key, std::move(attempts), AttemptId{forgiven}));
    one.checkpoint = newest_checkpoint(db, trial.key);
    if (!asked) continue;
    one.params = std::move(trial.params);
    one.suggested = suggestions_of(db, trial.key);
    one.attrs = asked_attrs_of(trials);
  }
  return running;
}

}  // namespace

std::vector<AttemptRow> all_attempts(Connection& db, std::int64_t newest) {
  return attempts_from(db, newest, 0, kAllAttempts);
}

std::optional<protocol::Checkpoint> newest_checkpoint(Connection& db, TrialKey key) {
  Query row = db.query(kSelectNewestCheckpoint, key.study, key.number);
  if (!row.next()) return std::nullopt;
  return read_checkpoint(row, 0);
}

Snapshot load(Connection& db) {
  const Transaction view(db, Transaction::Kind::read);
  Snapshot snapshot;
  std::vector<std::int64_t> ids;
  {
    Query running = db.query(kSelectRunning);
    while (running.next()) ids.push_back(running.integer(0));
  }
  for (const std::int64_t id : ids) {
    if (auto row = study(db, StudyId{id}))
      snapshot.studies.push_back(running_study(db, *std::move(row)));
  }
  snapshot.rules = rules(db);
  Query next =
      db.query(Sql("SELECT max(study, coalesce((SELECT max(id) FROM studies), 0)) + 1,"
                   " max(attempt, coalesce((SELECT max(id) FROM attempts), 0)) + 1,"
                   " EXISTS (SELECT 1 FROM studies WHERE owner = '') OR EXISTS (SELECT 1"
                   " FROM study_progress WHERE search_from IS NOT NULL) FROM given",
                   "SELECT greatest(study, (SELECT max(id) FROM studies)) + 1,"
                   " greatest(attempt, (SELECT max(id) FROM attempts)) + 1,"
                   " EXISTS (SELECT 1 FROM studies WHERE owner = '') OR EXISTS (SELECT 1"
                   " FROM study_progress WHERE search_from IS NOT NULL) FROM given"));
  next.next();
  snapshot.next_study_id = next.integer(0);
  snapshot.next_attempt_id = next.integer(1);
  snapshot.unswept = next.integer(2) != 0;
  return snapshot;
}

Identities identities(Connection& db) {
  const Transaction view(db, Transaction::Kind::read);
  Identities all;
  Query principals = db.query(
      "SELECT id, name, role, state, note, quota_studies, quota_trials, quota_bytes, created_at,"
      " reason FROM principals ORDER BY id");
  while (principals.next()) {
    Principal one;
    one.id = principals.integer(0);
    one.name = principals.text(1);
    one.role = static_cast<PrincipalRole>(principals.integer(2));
    one.state = static_cast<PrincipalState>(principals.integer(3));
    one.note = principals.text(4);
    one.quota = {principals.integer(5), principals.integer(6), principals.integer(7)};
    one.created_at = principals.integer(8);
    one.reason = principals.text(9);
    Query projects = db.query(
        "SELECT name FROM members JOIN projects ON projects.id = members.project"
        " WHERE principal = ? ORDER BY name",
        one.id);
    while (projects.next()) one.projects.emplace_back(projects.text(0));
    all.principals.push_back(std::move(one));
  }
  Query tokens = db.query(
      "SELECT id, principal, token_hash, created_at, expires_at, revoked_at FROM tokens"
      " ORDER BY id");
  while (tokens.next()) {
    all.tokens.push_back({tokens.integer(0), tokens.integer(1), std::string(tokens.text(2)),
                          tokens.integer(3), tokens.integer(4), tokens.integer(5)});
  }
  Query projects =
      db.query("SELECT id, name, created_at, frozen_at, frozen_reason FROM projects ORDER BY id");
  while (projects.next()) {
    all.projects.push_back({projects.integer(0), std::string(projects.text(1)), projects.integer(2),
                            projects.integer(3), std::string(projects.text(4))});
  }
  Query codes = db.query(
      "SELECT code_hash, project, id, label, created_by, created_at, expires_at, max_uses, uses,"
      " revoked_at FROM codes ORDER BY id");
  while (codes.next()) {
    all.enrolments.push_back({std::string(codes.text(0)), std::string(codes.text(1)),
                              codes.integer(2), std::string(codes.text(3)),
                              std::string(codes.text(4)), codes.integer(5), codes.integer(6),
                              codes.integer(7), codes.integer(8), codes.integer(9)});
  }
  Query devices = db.query(
      "SELECT id, project, secret_hash, device_class, engine, revoked_at, seen_at FROM devices"
      " ORDER BY id");
  while (devices.next()) {
    all.devices.push_back({std::string(devices.text(0)), std::string(devices.text(1)),
                           std::string(devices.text(2)), std::string(devices.text(3)),
                           std::string(devices.text(4)), !devices.null(5), devices.integer(6)});
  }
  all.barred = barred_blobs(db);
  all.rules = rules(db);
  return all;
}

StudyPage studies(Connection& db, const StudyQuery& query) {
  const Transaction view(db, Transaction::Kind::read);
  const std::int64_t before = query.before == 0 ? kAnyId : query.before;
  const std::int64_t limit = std::max<std::int64_t>(query.limit, 0);
  StudyPage page;
  Query row = query.owner ? db.query(kSelectStudiesOfOwner, before, limit + 1, *query.owner)
                          : db.query(kSelectStudies, before, limit + 1);
  std::size_t spec_bytes = 0;
  while (row.next()) {
    if (std::ssize(page.studies) == limit || spec_bytes >= kPageSpecBytes) {
      page.more = true;
      break;
    }
    spec_bytes += row.text(3).size();
    page.studies.push_back(whole_study(db, row));
  }
  return page;
}

std::vector<std::string> running_runtimes(Connection& db) {
  const Transaction view(db, Transaction::Kind::read);
  std::set<std::string> named;
  Query running = db.query(kSelectRunning);
  while (running.next()) {
    Query row =
        db.query(Sql("SELECT json_extract(spec, '$.runtime_index') FROM studies WHERE id = ?",
                     "SELECT CAST(spec AS json) ->> 'runtime_index' FROM studies WHERE id = $1"),
                 running.integer(0));
    if (row.next() && !row.null(0)) named.emplace(row.text(0));
  }
  return {named.begin(), named.end()};
}

ProjectTotals project_totals(Connection& db, const std::string& project) {
  const Transaction view(db, Transaction::Kind::read);
  ProjectTotals totals;
  Query row = db.query(kSelectProjectTotals, project);
  if (!row.next()) return totals;
  totals.studies = row.integer(0);
  totals.done = row.integer(1);
  totals.trials = trials_of(row.integer(2), row.integer(3));
  Query owner = db.query(kSelectProjectOwners, project, kNamedOwners);
  while (owner.next()) totals.owners.emplace_back(owner.text(0));
  return totals;
}

std::vector<protocol::StudySpec> open_specs(Connection& db, const std::string& project,
                                            std::int64_t limit) {
  const Transaction view(db, Transaction::Kind::read);
  std::vector<protocol::StudySpec> specs;
  Query row =
      db.query(kSelectOpenSpecs, project, kOpenStudiesSought, std::max<std::int64_t>(limit, 0));
  while (row.next()) specs.push_back(read_spec(row.text(1), StudyId{row.integer(0)}));
  return specs;
}

std::optional<StudyRow> study(Connection& db, StudyId id) {
  Query row = db.query(kSelectStudy, id);
  if (!row.next()) return std::nullopt;
  return whole_study(db, row);
}

std::optional<protocol::StudySpec> spec(Connection& db, StudyId id, std::int64_t code) {
  const Transaction view(db, Transaction::Kind::read);
  const std::optional<StudyRow> row = study(db, id);
  if (!row || code > row->code) return std::nullopt;
  if (code == row->code) return row->spec;
  Query text = db.query("SELECT spec FROM earlier_specs WHERE study = ? AND code = ?", id, code);
  if (!text.next()) return std::nullopt;
  return read_spec(text.text(0), id);
}

std::vector<TrialDetail> finished_trials(Connection& db, StudyId id, std::int64_t after,
                                         std::int64_t limit) {
  const Transaction view(db, Transaction::Kind::read);
  // SQLite takes a negative limit for no limit, and seq 0 means "not finished".
  return details(db,
                 db.query(kSelectFinishedTrials, id, std::max<std::int64_t>(after, 0),
                          std::max<std::int64_t>(limit, 0)),
                 id);
}

std::vector<TrialDetail> unfinished_trials(Connection& db, StudyId id, std::int64_t from,
                                           std::int64_t limit) {
  const Transaction view(db, Transaction::Kind::read);
  return details(db, db.query(kSelectUnfinishedTrials, id, from, std::max<std::int64_t>(limit, 0)),
                 id);
}

std::vector<TrialDetail> best_trials(Connection& db, StudyId id, std::int64_t from,
                                     std::int64_t limit) {
  const Transaction view(db, Transaction::Kind::read);
  return details(db, db.query(kSelectBestTrials, id, from, std::max<std::int64_t>(limit, 0)), id);
}

std::optional<TrialDetail> trial(Connection& db, TrialKey key) {
  const Transaction view(db, Transaction::Kind::read);
  Query row = db.query(kSelectTrial, key.study, key.number);
  if (!row.next() || !exists(db, key.study)) return std::nullopt;
  TrialDetail detail = read_trial(row);
  const std::int64_t newest = newest_attempt_of(row);
  add_deciding_attempt(db, detail, newest);
  detail.attempts_list = attempts_from(db, newest, 0, kShownAttempts);
  detail.trial.suggested = suggestions_of(db, key);
  detail.trial.asked_attrs = asked_attrs_of(row);
  if (detail.attempt) detail.points = curve_of(db, *detail.attempt);
  SeriesNames names(db, key.study);
  if (has_series(db, key.study)) add_last(db, detail, names);
  return detail;
}

std::vector<protocol::Point> curve(Connection& db, const AttemptRow& attempt) {
  const Transaction view(db, Transaction::Kind::read);
  return curve_of(db, attempt);
}

std::vector<NamedSeries> series(Connection& db, const AttemptRow& attempt,
                                std::optional<std::int64_t> only) {
  const Transaction view(db, Transaction::Kind::read);
  std::vector<NamedSeries> found;
  if (!exists(db, attempt.trial.study)) return found;
  SeriesNames names(db, attempt.trial.study);
  for (const auto& [id, pieces] : series_of(db, attempt.id, attempt.from, only))
    found.push_back({names.of(id), pieces.steps(), pieces.values()});
  return found;
}

std::vector<SeriesName> series_names(Connection& db, StudyId study, std::int64_t after,
                                     std::int64_t limit) {
  const Transaction view(db, Transaction::Kind::read);
  std::vector<SeriesName> names;
  if (!exists(db, study)) return names;
  Query row =
      db.query("SELECT id, name FROM series_names WHERE study = ? AND id > ? ORDER BY id LIMIT ?",
               study, after, std::max<std::int64_t>(limit, 0));
  while (row.next()) names.push_back({row.integer(0), std::string(row.text(1))});
  return names;
}

std::optional<AttemptRow> attempt(Connection& db, AttemptId id) {
  const Transaction view(db, Transaction::Kind::read);
  auto stored = attempt_by_id(db, to_int(id));
  if (!stored || !exists(db, stored->row.trial.study)) return std::nullopt;
  return std::move(stored->row);
}

std::vector<ArtifactRow> artifacts(Connection& db, StudyId study, std::optional<TrialNumber> trial,
                                   std::int64_t after, std::int64_t limit) {
  const Transaction view(db, Transaction::Kind::read);
  std::vector<ArtifactRow> page;
  if (!exists(db, study)) return page;
  const std::int64_t most = std::max<std::int64_t>(limit, 0);  // a negative one means "all"
  Query row = trial ? db.query(kSelectArtifactsOfTrial, study, after, most, *trial)
                    : db.query(kSelectArtifacts, study, after, most);
  while (row.next()) page.push_back(read_artifact(row));
  return page;
}

std::optional<ArtifactRow> artifact(Connection& db, StudyId study, const std::string& id,
                                    std::optional<TrialNumber> trial) {
  const Transaction view(db, Transaction::Kind::read);
  Query row = db.query(kSelectArtifact, study, id, trial);
  if (!row.next() || !exists(db, study)) return std::nullopt;
  return read_artifact(row);
}

std::vector<std::string> kept_blobs(Connection& db) {
  std::vector<std::string> blobs;
  Query rows =
      db.query("SELECT sha256 FROM checkpoints UNION SELECT sha256 FROM artifacts ORDER BY sha256");
  while (rows.next()) blobs.emplace_back(rows.text(0));
  return blobs;
}

std::vector<std::string> owned_blobs(Connection& db) {
  std::vector<std::string> blobs;
  Query rows = db.query(
      "SELECT sha256 FROM owner_blobs UNION SELECT sha256 FROM study_blobs ORDER BY sha256");
  while (rows.next()) blobs.emplace_back(rows.text(0));
  return blobs;
}

bool project_references(Connection& db, const std::string& project, const std::string& sha256) {
  return db.query("SELECT 1 FROM project_blobs WHERE project = ? AND sha256 = ?", project, sha256)
      .next();
}

Usage usage(Connection& db, const std::string& owner) {
  Query row = db.query(kSelectUsage, owner);
  if (!row.next()) return {};
  return {row.integer(0), trials_of(row.integer(1), row.integer(2)), row.integer(3)};
}

std::vector<SeenDevice> devices_seen_before(Connection& db, std::int64_t before,
                                            const SeenDevice& after, std::int64_t limit) {
  std::vector<SeenDevice> page;
  Query row = db.query(kSelectSeenDevices, after.seen_at, after.id, before, limit);
  while (row.next())
    page.push_back({std::string(row.text(0)), row.integer(1), row.integer(2) != 0});
  return page;
}

std::vector<StudyId> studies_of_device(Connection& db, const std::string& device) {
  std::vector<StudyId> studies;
  Query row = db.query(
      "SELECT DISTINCT a.study FROM attempts AS a JOIN study_progress AS p ON p.study = a.study"
      " WHERE a.device_version IN (SELECT id FROM device_versions WHERE device = ?)"
      " ORDER BY a.study",
      device);
  while (row.next()) studies.push_back(StudyId{row.integer(0)});
  return studies;
}

std::vector<std::string> devices_of_code(Connection& db, std::int64_t code) {
  std::vector<std::string> devices;
  Query row = db.query("SELECT id FROM devices WHERE code = ? AND code > 0 ORDER BY id", code);
  while (row.next()) devices.emplace_back(row.text(0));
  return devices;
}

std::int64_t kept_time(Connection& db) {
  Query row = db.query("SELECT at FROM kept_time");
  return row.next() ? row.integer(0) : 0;
}

AuditSize audit_size(Connection& db) {
  Query row = db.query("SELECT entries, bytes FROM audit_total");
  if (!row.next()) return {};
  return {row.integer(0), row.integer(1)};
}

StoredBytes stored(Connection& db, const std::string& owner) {
  Query row = db.query(
      "SELECT blob_bytes, artifact_bytes, checkpoint_bytes, record_bytes FROM owner_totals"
      " WHERE owner = ?",
      owner);
  if (!row.next()) return {};
  return {row.integer(0), row.integer(1), row.integer(2), row.integer(3)};
}

std::int64_t quota_bytes(Connection& db, const std::string& owner) {
  Query row = db.query("SELECT quota_bytes FROM principals WHERE name = ? AND role = ?", owner,
                       PrincipalRole::researcher);
  return row.next() ? row.integer(0) : 0;
}

Outcome judge_bytes(Connection& db, AttemptId attempt, UploadKind kind, std::int64_t bytes,
                    std::int64_t room) {
  Outcome judged;
  std::string device;
  std::string owner;
  {
    Query row = db.query(
        "SELECT device, owner, study, number FROM attempts JOIN studies ON studies.id = study"
        " LEFT JOIN device_versions ON device_versions.id = device_version"
        " WHERE attempts.id = ?",
        attempt);
    if (!row.next()) {
      judged.applied = Applied::conflict;
      return judged;
    }
    device = row.text(0);
    owner = row.text(1);
    if (kind == UploadKind::checkpoint) {  // the oldest ones make room
      Query replaced = db.query(
          "SELECT coalesce(sum(bytes), 0) FROM (SELECT bytes FROM checkpoints WHERE study = ?"
          " AND number = ? ORDER BY saved DESC LIMIT -1 OFFSET ?) AS replaced",
          row.integer(2), row.integer(3), kKeptCheckpoints - 1);
      replaced.next();
      bytes = std::max<std::int64_t>(bytes - replaced.integer(0), 0);
    }
  }
  const Quota quota{.bytes = quota_bytes(db, owner)};
  const std::int64_t used = stored(db, owner).files();
  judged.excess = excess_of(quota, {.bytes = used}, {.bytes = bytes});
  Query kept = db.query(
      "SELECT coalesce(sum(bytes), 0) FROM device_use JOIN studies ON studies.id = study"
      " WHERE device = ? AND owner = ?",
      device, owner);
  kept.next();
  const std::int64_t free = quota.bytes == 0 ? room : std::max<std::int64_t>(quota.bytes - used, 0);
  if (!judged.excess && exceeds_share(free, kept.integer(0), bytes))
    judged.refusal = Refusal::device_share;
  if (judged.excess || judged.refusal) judged.applied = Applied::superseded;
  return judged;
}

std::vector<AuditEntry> audit(Connection& db, std::int64_t after, std::int64_t limit) {
  std::vector<AuditEntry> page;
  Query row = db.query(
      "SELECT id, at, actor, action, object, address, detail FROM audit WHERE id > ?"
      " ORDER BY id LIMIT ?",
      after, std::max<std::int64_t>(limit, 0));
  while (row.next()) {
    page.push_back({row.integer(0), row.integer(1), std::string(row.text(2)),
                    std::string(row.text(3)), std::string(row.text(4)), std::string(row.text(5)),
                    std::string(row.text(6))});
  }
  return page;
}

}  // namespace hyperflock::storage::sqlite
