// See lease_rows.h.
#include "storage/sqlite/lease_rows.h"

#include "storage/sqlite/db/rows.h"

namespace hyperflock::storage::sqlite {

std::optional<sql::LeasedAttempt> LeaseRows::attempt(AttemptId id) {
  Query row = db_.query(
      "SELECT study, number, state, device FROM attempts"
      " LEFT JOIN device_versions ON device_versions.id = device_version WHERE attempts.id = ?",
      id);
  if (!row.next()) return std::nullopt;
  sql::LeasedAttempt found{{StudyId{row.integer(0)}, TrialNumber{row.integer(1)}},
                           static_cast<AttemptState>(row.integer(2))};
  if (!row.null(3)) found.device = row.text(3);
  return found;
}

std::optional<sql::ResultRows> LeaseRows::for_result(AttemptId id) {
  Query row = db_.query(
      "SELECT a.study, a.number, d.device, a.verdict, t.state, a.state, a.failure_cause,"
      " a.resumed_attempt, t.constrained, d.finished, d.id, a.rejection"
      " FROM attempts AS a JOIN device_versions AS d ON d.id = a.device_version"
      " JOIN trials AS t ON t.study = a.study AND t.number = a.number WHERE a.id = ?",
      id);
  if (!row.next()) return std::nullopt;
  sql::ResultRows found{.trial = {StudyId{row.integer(0)}, TrialNumber{row.integer(1)}},
                        .device = std::string(row.text(2))};
  if (const auto first = row.maybe_integer(3))
    found.verdict = static_cast<protocol::Verdict>(*first);
  found.trial_state = static_cast<TrialState>(row.integer(4));
  found.state = static_cast<AttemptState>(row.integer(5));
  found.has_failure = !row.null(6);
  found.resumed = !row.null(7);
  found.constrained = static_cast<Constrained>(row.integer(8));
  found.version_finished = row.integer(9) != 0;
  found.device_version = row.integer(10);
  found.rejected = !row.null(11);
  return found;
}

std::optional<sql::LeasedTrial> LeaseRows::trial(TrialKey key) {
  Query row = db_.query("SELECT state, newest_attempt FROM trials WHERE study = ? AND number = ?",
                        key.study, key.number);
  if (!row.next()) return std::nullopt;
  return sql::LeasedTrial{static_cast<TrialState>(row.integer(0)), row.integer(1)};
}

bool LeaseRows::add_attempt(const sql::NewAttempt& made) {
  const StartAttempt& start = made.start;
  const CheckpointColumns from(made.from);
  return db_.run(
             "INSERT OR IGNORE INTO attempts (id, study, number, previous, kind, state, result_seq,"
             " load_ms, run_ms, started_at, finished_at, device_version, backend, result_values,"
             " resumed_attempt, resumed_format, resumed_sha256, resumed_bytes, resumed_step,"
             " resumed_logged, resumed_artifacts, code)"
             " VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0, ?, 0, ?, '', x'', ?, ?, ?, ?, ?, ?, ?, ?)",
             start.attempt, start.trial.study, start.trial.number, made.previous, start.kind,
             AttemptState::live, now_, made.device_version, from.attempt, from.format, from.sha256,
             from.bytes, from.step, from.logged, made.artifacts, made.code) > 0;
}

void LeaseRows::add_trial(const StartAttempt& start) {
  db_.run(
      "INSERT INTO trials (study, number, state, seq, attempts, newest_attempt, seed,"
      " started_at, finished_at, params) VALUES (?, ?, ?, 0, 1, ?, ?, ?, 0, ?)",
      start.trial.study, start.trial.number, TrialState::running, start.attempt, start.seed, now_,
      start.params);
}

void LeaseRows::lease_again(TrialKey trial, AttemptId attempt) {
  db_.run(
      "UPDATE trials SET attempts = attempts + 1, newest_attempt = ?"
      " WHERE study = ? AND number = ?",
      attempt, trial.study, trial.number);
}

bool LeaseRows::accept(TrialKey trial, TrialState state, std::int64_t seq, AttemptId attempt) {
  return db_.run(
             "UPDATE trials SET state = ?, seq = ?, accepted_attempt = ?, finished_at = ?,"
             " failure_cause = NULL, failure_code = NULL, failure_message = NULL,"
             " failure_traceback = NULL"
             " WHERE study = ? AND number = ? AND accepted_attempt IS NULL",
             state, seq, attempt, now_, trial.study, trial.number) > 0;
}

void LeaseRows::store_result(const protocol::TrialResult& result, AttemptState state,
                             protocol::Verdict verdict, bool replaces_failure) {
  db_.run(
      "UPDATE attempts SET state = ?, verdict = ?, result_seq = ?, load_ms = ?, run_ms = ?,"
      " finished_at = ?, backend = ?, result_values = ?, attrs = ?, software = ? WHERE id = ?",
      state, verdict, result.seq, result.metrics.load_ms, result.metrics.run_ms, now_,
      result.backend, as_blob(result.values), result.attrs, result.software, result.attempt);
  if (!replaces_failure) return;
  const FailureColumns failure(result.failure ? &*result.failure : nullptr);
  db_.run(
      "UPDATE attempts SET failure_cause = ?, failure_code = ?, failure_message = ?,"
      " failure_traceback = ? WHERE id = ?",
      failure.cause, failure.code, failure.message, failure.traceback, result.attempt);
}

void LeaseRows::note_given(AttemptId attempt, const sql::Given& given) {
  db_.run("UPDATE attempts SET given_ms = ?, moved_best = ? WHERE id = ?", given.ms,
          given.moved ? 1 : 0, attempt);
}

void LeaseRows::end_attempt(const EndAttempt& end) {
  const FailureColumns failure(end.failure ? &*end.failure : nullptr);
  db_.run(
      "UPDATE attempts SET state = ?, finished_at = ?, failure_cause = ?, failure_code = ?,"
      " failure_message = ?, failure_traceback = ?, load_ms = ?, run_ms = ? WHERE id = ?",
      end.state, now_, failure.cause, failure.code, failure.message, failure.traceback,
      end.metrics.load_ms, end.metrics.run_ms, end.attempt);
}

int LeaseRows::add_points(AttemptId attempt, const std::vector<protocol::Point>& points) {
  int added = 0;
  for (const protocol::Point& point : points) {
    added += db_.run("INSERT OR IGNORE INTO points (attempt, step, value) VALUES (?, ?, ?)",
                     attempt, point.step, point.value);
  }
  return added;
}

std::optional<std::int64_t> LeaseRows::find_version(const sql::DeviceVersion& version) {
  Query row = db_.query(
      "SELECT id FROM device_versions WHERE device = ? AND device_class = ? AND engine = ?"
      " AND adapter = ?",
      version.device, version.device_class, version.engine, version.adapter);
  return row.next() ? std::optional(row.integer(0)) : std::nullopt;
}

std::int64_t LeaseRows::count_versions(std::string_view device) {
  Query row = db_.query("SELECT count(*) FROM device_versions WHERE device = ?", device);
  row.next();
  return row.integer(0);
}

std::int64_t LeaseRows::add_version(const sql::DeviceVersion& version) {
  db_.run("INSERT INTO device_versions (device, device_class, engine, adapter) VALUES (?, ?, ?, ?)",
          version.device, version.device_class, version.engine, version.adapter);
  return db_.last_id();
}

void LeaseRows::finish_version(std::int64_t version) {
  db_.run("UPDATE device_versions SET finished = 1 WHERE id = ?", version);
}

}  // namespace hyperflock::storage::sqlite
