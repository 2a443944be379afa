// See lease_rows.h.
#include "storage/postgres/lease_rows.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>
#include <variant>

namespace hyperflock::storage::postgres {
namespace {

using sql::Sql;

// If more rows are in memory, all are forgotten.
constexpr std::size_t kMostKept = 100'000;

constexpr Sql kSelectAttempts =
    "SELECT a.id, a.study, a.number, a.state, a.verdict, a.failure_cause, a.resumed_attempt,"
    " a.device_version, d.device, d.finished,"
    " (SELECT max(step) FROM points AS p WHERE p.attempt = a.id), a.rejection"
    " FROM attempts AS a LEFT JOIN device_versions AS d ON d.id = a.device_version"
    " WHERE a.id = ANY($1)";
constexpr Sql kSelectTrials =
    "SELECT t.study, t.number, t.state, t.newest_attempt, t.accepted_attempt, t.constrained,"
    " EXISTS (SELECT 1 FROM checkpoints AS c WHERE c.study = t.study AND c.number = t.number)"
    " FROM (SELECT study, number FROM unnest($1, $2) AS named (study, number)"
    " UNION SELECT study, number FROM attempts WHERE id = ANY($3)) AS wanted"
    " JOIN trials AS t ON t.study = wanted.study AND t.number = wanted.number";
constexpr Sql kSelectVersions =
    "SELECT d.id, d.device, d.device_class, d.engine, d.adapter, d.finished FROM"
    " unnest($1, $2, $3, $4) AS named (device, device_class, engine, adapter) JOIN device_versions"
    " AS d ON d.device = named.device AND d.device_class = named.device_class"
    " AND d.engine = named.engine AND d.adapter = named.adapter";

constexpr Sql kAddAttempts =
    "INSERT INTO attempts (id, study, number, previous, kind, state, result_seq, load_ms, run_ms,"
    " started_at, finished_at, device_version, backend, result_values, code)"
    " SELECT id, study, number, previous, kind, 0, 0, 0, 0, $8, 0, version, '', '', code"
    " FROM unnest($1, $2, $3, $4, $5, $6, $7)"
    " AS made (id, study, number, previous, kind, version, code)";
constexpr Sql kAddResumingAttempts =
    "INSERT INTO attempts (id, study, number, previous, kind, state, result_seq, load_ms, run_ms,"
    " started_at, finished_at, device_version, backend, result_values, code, resumed_attempt,"
    " resumed_format, resumed_sha256, resumed_bytes, resumed_step, resumed_logged,"
    " resumed_artifacts) SELECT id, study, number, previous, kind, 0, 0, 0, 0, $8, 0, version, '',"
    " '', code, resumed, format, sha256, bytes, step, logged, artifacts"
    " FROM unnest($1, $2, $3, $4, $5, $6, $7, $9, $10, $11, $12, $13, $14, $15) AS made (id, study,"
    " number, previous, kind, version, code, resumed, format, sha256, bytes, step, logged,"
    " artifacts)";
constexpr Sql kAddTrials =
    "INSERT INTO trials (study, number, state, seq, attempts, newest_attempt, seed, started_at,"
    " finished_at, params) SELECT study, number, 0, 0, 1, attempt, seed, $6, 0, params"
    " FROM unnest($1, $2, $3, $4, $5) AS made (study, number, attempt, seed, params)";
constexpr Sql kLeaseAgain =
    "UPDATE trials SET attempts = attempts + 1, newest_attempt = again.attempt"
    " FROM unnest($1, $2, $3) AS again (study, number, attempt)"
    " WHERE trials.study = again.study AND trials.number = again.number";
constexpr Sql kAccept =
    "UPDATE trials SET state = won.state, seq = won.seq, accepted_attempt = won.attempt,"
    " finished_at = $6, failure_cause = NULL, failure_code = NULL, failure_message = NULL,"
    " failure_traceback = NULL FROM unnest($1, $2, $3, $4, $5)"
    " AS won (study, number, state, seq, attempt) WHERE trials.study = won.study"
    " AND trials.number = won.number AND accepted_attempt IS NULL";
constexpr Sql kStoreResults =
    "UPDATE attempts SET state = came.state, verdict = came.verdict, result_seq = came.seq,"
    " load_ms = came.load_ms, run_ms = came.run_ms, finished_at = $11, backend = came.backend,"
    " result_values = came.result_values, attrs = came.attrs, software = came.software"
    " FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS came (id, state, verdict, seq,"
    " load_ms, run_ms, backend, result_values, attrs, software) WHERE attempts.id = came.id";
constexpr Sql kStoreFailures =
    "UPDATE attempts SET failure_cause = came.cause, failure_code = came.code,"
    " failure_message = came.message, failure_traceback = came.traceback"
    " FROM unnest($1, $2, $3, $4, $5) AS came (id, cause, code, message, traceback)"
    " WHERE attempts.id = came.id";
constexpr Sql kNoteGiven =
    "UPDATE attempts SET given_ms = came.ms, moved_best = came.moved"
    " FROM unnest($1, $2, $3) AS came (id, ms, moved) WHERE attempts.id = came.id";
constexpr Sql kEndAttempts =
    "UPDATE attempts SET state = over.state, finished_at = $9, failure_cause = over.cause,"
    " failure_code = over.code, failure_message = over.message, failure_traceback = over.traceback,"
    " load_ms = over.load_ms, run_ms = over.run_ms FROM unnest($1, $2, $3, $4, $5, $6, $7, $8)"
    " AS over (id, state, cause, code, message, traceback, load_ms, run_ms)"
    " WHERE attempts.id = over.id";
constexpr Sql kAddPoints =
    "INSERT INTO points (attempt, step, value) SELECT * FROM unnest($1, $2, $3)";
constexpr Sql kFinishVersions = "UPDATE device_versions SET finished = 1 WHERE id = ANY($1)";

std::string version_key(std::string_view device, std::string_view device_class,
                        std::string_view engine, std::string_view adapter) {
  std::string key;
  for (const std::string_view part : {device, device_class, engine, adapter}) {
    const auto other = storable(part);
    append_big_endian(key, static_cast<std::uint32_t>(other ? other->size() : part.size()));
    key += other ? *other : part;
  }
  return key;
}

std::string version_key(const sql::DeviceVersion& one) {
  return version_key(one.device, one.device_class, one.engine, one.adapter);
}

// Binds the arguments and sends the statement.
template <typename... Args>
Client::Prepared& sent(Client& db, Sql sql, const Args&... args) {
  Client::Prepared& statement = db.statement(sql);
  int index = 0;
  (statement.bind(++index, args), ...);
  statement.send();
  return statement;
}

std::optional<std::int64_t> cause_of(const std::optional<protocol::Failure>& failure) {
  if (!failure) return std::nullopt;
  return static_cast<std::int64_t>(failure->cause);
}

std::optional<std::string_view> text_of(const std::optional<protocol::Failure>& failure,
                                        std::string protocol::Failure::* text) {
  if (!failure) return std::nullopt;
  return (*failure).*text;
}

}  // namespace

LeaseRows::LeaseRows(Client& db, std::function<void()> hold) : db_(db), hold_(std::move(hold)) {
  db_.before_leases = [this](LeaseUse use) {
    if (waits_) write();
    if (!use.changes) return;
    attempts_.clear();
    trials_.clear();
    versions_.clear();
    finished_versions_.clear();
  };
}

void LeaseRows::forget() {
  attempts_.clear();
  trials_.clear();
  versions_.clear();
  finished_versions_.clear();
  changes_ = {};
  waits_ = false;
  changed_.clear();
  again_.clear();
  last_attempt_ = -1;
}

void LeaseRows::begin(std::span<const Transition> batch, std::int64_t now) {
  const Client::Direct direct(db_);
  now_ = now;
  hold_();
  if (attempts_.size() + trials_.size() + versions_.size() > kMostKept) forget();
  if (last_attempt_ < 0) {
    auto& newest = sent(db_, "SELECT greatest(attempt, (SELECT max(id) FROM attempts)) FROM given");
    newest.step();
    last_attempt_ = newest.integer(0);
  }
  Wanted wanted;
  for (const Transition& transition : batch) {
    if (const auto* start = std::get_if<StartAttempt>(&transition)) {
      want(start->trial, wanted);
      want(start->attempt, wanted);
      want(sql::DeviceVersion{start->device, start->device_class, start->engine, start->adapter},
           wanted);
    } else if (const auto* store = std::get_if<StoreResult>(&transition)) {
      want(store->result.attempt, wanted);
    } else if (const auto* end = std::get_if<EndAttempt>(&transition)) {
      want(end->attempt, wanted);
    } else if (const auto* append = std::get_if<AppendPoints>(&transition)) {
      want(append->attempt, wanted);
    }
  }
  fetch(wanted);
}

void LeaseRows::want(AttemptId id, Wanted& wanted) {
  if (to_int(id) > last_attempt_) return;
  const auto [found, is_new] = attempts_.try_emplace(id);
  if (is_new) {
    wanted.attempts.add(id);
  } else if (found->second && !trials_.contains(found->second->trial)) {
    want(found->second->trial, wanted);
  }
}

void LeaseRows::want(TrialKey key, Wanted& wanted) {
  if (!trials_.try_emplace(key).second) return;
  wanted.studies.add(key.study);
  wanted.numbers.add(key.number);
}

void LeaseRows::want(const sql::DeviceVersion& version, Wanted& wanted) {
  if (!versions_.try_emplace(version_key(version)).second) return;
  wanted.devices.add(version.device);
  wanted.classes.add(version.device_class);
  wanted.engines.add(version.engine);
  wanted.adapters.add(version.adapter);
}

void LeaseRows::fetch(const Wanted& wanted) {
  Client::Prepared* attempts = nullptr;
  Client::Prepared* trials = nullptr;
  Client::Prepared* versions = nullptr;
  if (wanted.attempts.size() > 0) attempts = &sent(db_, kSelectAttempts, wanted.attempts);
  if (wanted.attempts.size() + wanted.studies.size() > 0)
    trials = &sent(db_, kSelectTrials, wanted.studies, wanted.numbers, wanted.attempts);
  if (wanted.devices.size() > 0) {
    versions = &sent(db_, kSelectVersions, wanted.devices, wanted.classes, wanted.engines,
                     wanted.adapters);
  }
  while (attempts != nullptr && attempts->step()) {
    Attempt one{{StudyId{attempts->integer(1)}, TrialNumber{attempts->integer(2)}},
                static_cast<AttemptState>(attempts->integer(3))};
    if (!attempts->null(4)) one.verdict = static_cast<protocol::Verdict>(attempts->integer(4));
    one.has_failure = !attempts->null(5);
    one.resumed = !attempts->null(6);
    one.version = attempts->integer(7);
    if (!attempts->null(8)) one.device = attempts->text(8);
    if (attempts->integer(9) != 0) finished_versions_.insert(one.version);
    if (!attempts->null(10)) one.last_step = attempts->integer(10);
    one.rejected = !attempts->null(11);
    attempts_[AttemptId{attempts->integer(0)}] = std::move(one);
  }
  while (trials != nullptr && trials->step()) {
    Trial one{static_cast<TrialState>(trials->integer(2)), trials->integer(3)};
    if (!trials->null(4)) one.accepted_attempt = trials->integer(4);
    one.constrained = static_cast<sql::Constrained>(trials->integer(5));
    one.has_checkpoints = trials->integer(6) != 0;
    trials_[{StudyId{trials->integer(0)}, TrialNumber{trials->integer(1)}}] = one;
  }
  while (versions != nullptr && versions->step()) {
    const std::int64_t id = versions->integer(0);
    versions_[version_key(versions->text(1), versions->text(2), versions->text(3),
                          versions->text(4))] = id;
    if (versions->integer(5) != 0) finished_versions_.insert(id);
  }
}

LeaseRows::Attempt* LeaseRows::find(AttemptId id) {
  auto found = attempts_.find(id);
  if (found == attempts_.end()) {
    if (to_int(id) > last_attempt_) return nullptr;
    const Client::Direct direct(db_);
    if (waits_) write();
    Wanted wanted;
    want(id, wanted);
    fetch(wanted);
    found = attempts_.find(id);
  }
  return found->second ? &*found->second : nullptr;
}

LeaseRows::Trial* LeaseRows::find(TrialKey key) {
  auto found = trials_.find(key);
  if (found == trials_.end()) {
    const Client::Direct direct(db_);
    if (waits_) write();
    Wanted wanted;
    want(key, wanted);
    fetch(wanted);
    found = trials_.find(key);
  }
  return found->second ? &*found->second : nullptr;
}

std::optional<sql::LeasedAttempt> LeaseRows::attempt(AttemptId id) {
  const Attempt* one = find(id);
  if (one == nullptr) return std::nullopt;
  return sql::LeasedAttempt{one->trial, one->state, one->device};
}

std::optional<sql::ResultRows> LeaseRows::for_result(AttemptId id) {
  const Attempt* one = find(id);
  if (one == nullptr || !one->device) return std::nullopt;
  const Attempt attempt = *one;  // the next call may change what is kept
  const Trial* trial = find(attempt.trial);
  if (trial == nullptr) return std::nullopt;
  return sql::ResultRows{.trial = attempt.trial,
                         .device = *attempt.device,
                         .verdict = attempt.verdict,
                         .state = attempt.state,
                         .has_failure = attempt.has_failure,
                         .resumed = attempt.resumed,
                         .trial_state = trial->state,
                         .constrained = trial->constrained,
                         .device_version = attempt.version,
                         .version_finished = finished_versions_.contains(attempt.version),
                         .rejected = attempt.rejected};
}

std::optional<sql::LeasedTrial> LeaseRows::trial(TrialKey key) {
  const Trial* one = find(key);
  if (one == nullptr) return std::nullopt;
  return sql::LeasedTrial{one->state, one->newest_attempt};
}

bool LeaseRows::may_have_checkpoints(TrialKey key) {
  const Trial* one = find(key);
  return one == nullptr || one->has_checkpoints;
}

bool LeaseRows::add_attempt(const sql::NewAttempt& made) {
  const StartAttempt& start = made.start;
  if (find(start.attempt) != nullptr) return false;
  attempts_[start.attempt] = Attempt{.trial = start.trial,
                                     .resumed = made.from != nullptr,
                                     .version = made.device_version,
                                     .device = storable(start.device).value_or(start.device)};
  last_attempt_ = std::max(last_attempt_, to_int(start.attempt));
  NewAttempts& all = changes_.attempts;
  waits_ = true;
  all.id.add(start.attempt);
  all.study.add(start.trial.study);
  all.number.add(start.trial.number);
  all.previous.add(made.previous);
  all.kind.add(start.kind);
  all.version.add(made.device_version);
  all.code.add(made.code);
  const protocol::Checkpoint* from = made.from;
  all.resumes |= from != nullptr;
  all.from.add(from ? std::optional(from->attempt) : std::nullopt);
  all.format.add(from ? std::optional(from->format) : std::nullopt);
  all.sha256.add_or_null(from ? std::optional<std::string_view>(from->blob.sha256) : std::nullopt);
  all.bytes.add(from ? std::optional(from->blob.bytes) : std::nullopt);
  all.step.add(from ? from->step : std::nullopt);
  all.logged.add(from ? from->logged : std::nullopt);
  all.artifacts.add(made.artifacts);
  return true;
}

void LeaseRows::add_trial(const StartAttempt& start) {
  trials_[start.trial] = Trial{.newest_attempt = to_int(start.attempt)};
  waits_ = true;
  changes_.trials.study.add(start.trial.study);
  changes_.trials.number.add(start.trial.number);
  changes_.trials.attempt.add(start.attempt);
  changes_.trials.seed.add(start.seed);
  changes_.trials.params.add(start.params);
}

void LeaseRows::lease_again(TrialKey trial, AttemptId attempt) {
  if (again_.contains(trial)) {
    const Client::Direct direct(db_);
    write();
  }
  again_.insert(trial);
  if (Trial* one = find(trial)) one->newest_attempt = to_int(attempt);
  waits_ = true;
  changes_.leases.study.add(trial.study);
  changes_.leases.number.add(trial.number);
  changes_.leases.attempt.add(attempt);
}

bool LeaseRows::accept(TrialKey trial, TrialState state, std::int64_t seq, AttemptId attempt) {
  Trial* one = find(trial);
  if (one == nullptr || one->accepted_attempt) return false;
  one->accepted_attempt = to_int(attempt);
  one->state = state;
  waits_ = true;
  changes_.accepted.study.add(trial.study);
  changes_.accepted.number.add(trial.number);
  changes_.accepted.state.add(state);
  changes_.accepted.seq.add(seq);
  changes_.accepted.attempt.add(attempt);
  return true;
}

void LeaseRows::change(AttemptId id) {
  if (changed_.contains(id)) {
    const Client::Direct direct(db_);
    write();
  }
  changed_.insert(id);
  waits_ = true;
}

void LeaseRows::store_result(const protocol::TrialResult& result, AttemptState state,
                             protocol::Verdict verdict, bool replaces_failure) {
  change(result.attempt);
  if (Attempt* one = find(result.attempt)) {
    one->state = state;
    one->verdict = verdict;
    if (replaces_failure) one->has_failure = result.failure.has_value();
  }
  Results& all = changes_.results;
  all.id.add(result.attempt);
  all.state.add(state);
  all.verdict.add(verdict);
  all.seq.add(result.seq);
  all.load_ms.add(result.metrics.load_ms);
  all.run_ms.add(result.metrics.run_ms);
  all.backend.add(result.backend);
  all.values.add(
      {reinterpret_cast<const char*>(result.values.data()), result.values.size() * sizeof(double)});
  all.attrs.add(result.attrs);
  all.software.add(result.software);
  if (!replaces_failure) return;
  changes_.failures.id.add(result.attempt);
  changes_.failures.cause.add(cause_of(result.failure));
  changes_.failures.code.add_or_null(text_of(result.failure, &protocol::Failure::code));
  changes_.failures.message.add_or_null(text_of(result.failure, &protocol::Failure::message));
  changes_.failures.traceback.add_or_null(text_of(result.failure, &protocol::Failure::traceback));
}

void LeaseRows::note_given(AttemptId attempt, const sql::Given& given) {
  changes_.given.id.add(attempt);
  changes_.given.ms.add(given.ms);
  changes_.given.moved.add(given.moved ? 1 : 0);
  waits_ = true;
}

void LeaseRows::end_attempt(const EndAttempt& end) {
  change(end.attempt);
  if (Attempt* one = find(end.attempt)) {
    one->state = end.state;
    one->has_failure = end.failure.has_value();
  }
  Ended& all = changes_.ended;
  all.id.add(end.attempt);
  all.state.add(end.state);
  all.cause.add(cause_of(end.failure));
  all.code.add_or_null(text_of(end.failure, &protocol::Failure::code));
  all.message.add_or_null(text_of(end.failure, &protocol::Failure::message));
  all.traceback.add_or_null(text_of(end.failure, &protocol::Failure::traceback));
  all.load_ms.add(end.metrics.load_ms);
  all.run_ms.add(end.metrics.run_ms);
}

int LeaseRows::add_points(AttemptId attempt, const std::vector<protocol::Point>& points) {
  if (points.empty()) return 0;
  Attempt* one = find(attempt);
  if (one == nullptr) return 0;
  // Sorted, so that only points before those of earlier reports have to be looked for.
  std::vector<protocol::Point> sorted = points;
  std::ranges::stable_sort(sorted, {}, &protocol::Point::step);
  std::unordered_set<std::int64_t> known;
  if (one->last_step && sorted.front().step <= *one->last_step) {
    const Client::Direct direct(db_);
    if (waits_) write();
    Integers steps;
    for (const protocol::Point& point : sorted) steps.add(point.step);
    auto& rows = sent(db_, "SELECT step FROM points WHERE attempt = $1 AND step = ANY($2)",
                      to_int(attempt), steps);
    while (rows.step()) known.insert(rows.integer(0));
  }
  int added = 0;
  for (const protocol::Point& point : sorted) {
    if (!known.insert(point.step).second) continue;
    changes_.points.attempt.add(attempt);
    changes_.points.step.add(point.step);
    changes_.points.value.add(point.value);
    ++added;
  }
  if (added > 0) waits_ = true;
  one->last_step = std::max(one->last_step.value_or(sorted.back().step), sorted.back().step);
  return added;
}

std::optional<std::int64_t> LeaseRows::find_version(const sql::DeviceVersion& version) {
  auto found = versions_.find(version_key(version));
  if (found == versions_.end()) {
    const Client::Direct direct(db_);
    Wanted wanted;
    want(version, wanted);
    fetch(wanted);
    found = versions_.find(version_key(version));
  }
  return found->second;
}

std::int64_t LeaseRows::count_versions(std::string_view device) {
  const Client::Direct direct(db_);
  auto& row = sent(db_, "SELECT count(*) FROM device_versions WHERE device = $1", device);
  row.step();
  return row.integer(0);
}

std::int64_t LeaseRows::add_version(const sql::DeviceVersion& version) {
  const Client::Direct direct(db_);
  auto& row = sent(db_,
                   "INSERT INTO device_versions (device, device_class, engine, adapter)"
                   " VALUES ($1, $2, $3, $4) RETURNING id",
                   version.device, version.device_class, version.engine, version.adapter);
  row.step();
  const std::int64_t id = row.integer(0);
  versions_[version_key(version)] = id;
  return id;
}

void LeaseRows::finish_version(std::int64_t version) {
  if (!finished_versions_.insert(version).second) return;
  waits_ = true;
  changes_.finished.add(version);
}

void LeaseRows::write() {
  if (!waits_) return;
  const Client::Direct direct(db_);
  const Changes all = std::exchange(changes_, {});
  waits_ = false;
  changed_.clear();
  again_.clear();
  struct Expected {
    Client::Prepared& statement;
    std::uint32_t rows;
  };
  std::vector<Expected> expected;
  // The number of rows is the first argument's.
  const auto send = [&](Sql sql, const Array& first, const auto&... more) {
    if (first.size() > 0) expected.push_back({sent(db_, sql, first, more...), first.size()});
  };
  const NewAttempts& made = all.attempts;
  if (made.resumes) {
    send(kAddResumingAttempts, made.id, made.study, made.number, made.previous, made.kind,
         made.version, made.code, now_, made.from, made.format, made.sha256, made.bytes, made.step,
         made.logged, made.artifacts);
  } else {
    send(kAddAttempts, made.id, made.study, made.number, made.previous, made.kind, made.version,
         made.code, now_);
  }
  send(kAddTrials, all.trials.study, all.trials.number, all.trials.attempt, all.trials.seed,
       all.trials.params, now_);
  send(kLeaseAgain, all.leases.study, all.leases.number, all.leases.attempt);
  send(kEndAttempts, all.ended.id, all.ended.state, all.ended.cause, all.ended.code,
       all.ended.message, all.ended.traceback, all.ended.load_ms, all.ended.run_ms, now_);
  send(kStoreResults, all.results.id, all.results.state, all.results.verdict, all.results.seq,
       all.results.load_ms, all.results.run_ms, all.results.backend, all.results.values,
       all.results.attrs, all.results.software, now_);
  send(kStoreFailures, all.failures.id, all.failures.cause, all.failures.code, all.failures.message,
       all.failures.traceback);
  send(kNoteGiven, all.given.id, all.given.ms, all.given.moved);
  send(kAccept, all.accepted.study, all.accepted.number, all.accepted.state, all.accepted.seq,
       all.accepted.attempt, now_);
  send(kAddPoints, all.points.attempt, all.points.step, all.points.value);
  send(kFinishVersions, all.finished);
  for (const Expected& one : expected) {
    if (static_cast<std::uint32_t>(one.statement.rows()) != one.rows)
      throw PgError("40000", "rows that this server had read were changed by another program");
  }
}

}  // namespace hyperflock::storage::postgres
