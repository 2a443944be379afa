// Implements the guards of transition.h for studies, trials and attempts. Checkpoints are in
// checkpoints.cc, artifacts in artifacts.cc, series in series.cc, ask-and-tell studies in asked.cc,
// deleted studies in deletion.cc, webhooks in webhooks.cc, people and devices in identity.cc.
// Writer thread only.
#include "storage/sqlite/writer.h"

#include <algorithm>
#include <iterator>

#include "protocol/codec.h"
#include "protocol/trial_attrs.h"
#include "storage/contribution.h"
#include "storage/sqlite/contribution/contribution.h"
#include "storage/sqlite/db/rows.h"
#include "storage/study_ledger.h"

namespace hyperflock::storage::sqlite {
namespace {

// The counters of at most this many studies, and of as many owners, stay in memory. If there are
// more, all counters are forgotten and read again when needed.
constexpr std::size_t kMaxKeptStudies = 4'096;
// The facts about series of at most this many attempts stay in memory. If there are more, all are
// forgotten.
constexpr std::size_t kMaxKeptAttempts = 4'096;

Outcome outcome(Applied applied, std::optional<TrialKey> trial = std::nullopt) {
  Outcome result;
  result.applied = applied;
  result.trial = trial;
  return result;
}

Outcome of_result(Applied applied, TrialKey trial, protocol::Verdict verdict) {
  Outcome result = outcome(applied, trial);
  result.verdict = verdict;
  return result;
}

void append(std::vector<std::string>& all, std::vector<std::string> more) {
  std::ranges::move(more, std::back_inserter(all));
}

}  // namespace

std::vector<Outcome> Writer::apply(std::span<const Transition> batch) {
  try {
    now_ = clock_();
    last_applied_ = false;
    std::vector<Outcome> outcomes;
    outcomes.reserve(batch.size());
    Transaction transaction(*db_, Transaction::Kind::write);
    rows_->begin(batch, now_);
    for (const Transition& transition : batch) {
      outcomes.push_back(
          std::visit([this](const auto& one) { return apply_one(one); }, transition));
      last_applied_ = outcomes.back().applied == Applied::applied;
    }
    write_changed_studies();
    store_events();
    keep_time();
    rows_->write();
    transaction.commit();
    if (studies_.size() > kMaxKeptStudies) studies_.clear();
    if (owners_.size() > kMaxKeptStudies) owners_.clear();
    if (logging_.size() > kMaxKeptAttempts) logging_.clear();
    return outcomes;
  } catch (...) {
    forget();
    throw;
  }
}

// Stores a time that is a little ahead, so that the next batches need not store theirs.
void Writer::keep_time() {
  if (now_ <= kept_time_) return;
  const std::int64_t at = now_ + kTimeAheadMs;
  db_->post(
      Sql("UPDATE kept_time SET at = max(at, ?)", "UPDATE kept_time SET at = greatest(at, $1)"),
      at);
  kept_time_ = at;
}

Outcome Writer::apply_one(const CreateStudy& create) {
  {
    Query earlier = db_->query("SELECT id FROM studies WHERE owner = ? AND submit_key = ?",
                               create.owner, create.spec.submit_key);
    if (earlier.next()) return of_study(Applied::repeated, StudyId{earlier.integer(0)});
  }
  {
    Query used = db_->query(
        "SELECT 1 FROM studies WHERE id = ?1 UNION ALL SELECT 1 FROM given WHERE study >= ?1",
        create.id);
    if (used.next()) return of_study(Applied::conflict, create.id);
  }
  const std::string spec = protocol::serialize_study_spec(create.spec);
  if (const auto excess = excess_of_study(create, std::ssize(spec))) {
    Outcome refused = outcome(Applied::superseded);
    refused.excess = excess;
    return refused;
  }
  add_study(create, spec);
  return of_study(Applied::applied, create.id);
}

void Writer::add_study(const CreateStudy& create, const std::string& spec) {
  db_->run(
      "INSERT INTO studies (id, owner, project, submit_key, direction, total, created_at, spec,"
      " kind, objectives) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      create.id, create.owner, create.project, create.spec.submit_key, create.spec.direction,
      create.total, now_, spec, create.spec.kind,
      std::max<std::size_t>(create.spec.directions.size(), 1));
  db_->run(
      "INSERT INTO study_progress (study, state, complete, pruned, failed, running, attempts,"
      " cursor, finished_at, best_value, priority, approval)"
      " VALUES (?, ?, 0, 0, 0, 0, 0, 0, 0, 0, ?, ?)",
      create.id, StudyState::running, create.spec.priority,
      create.awaits_approval ? Approval::awaited : Approval::given);
  charge_records(*find_study(create.id), kStudyRecord + std::ssize(spec));
  add_blobs(create.id, create.owner, create.project, create.spec);
  if (create.webhook)
    store_webhook(create.id, *create.webhook, create.owner, create.webhook_secret);
}

void Writer::add_blobs(StudyId study, const std::string& owner, const std::string& project,
                       const protocol::StudySpec& spec) {
  constexpr Sql kAddBlob = "INSERT OR IGNORE INTO project_blobs (project, sha256) VALUES (?, ?)";
  for (const protocol::BlobRef& blob : protocol::blobs_of(spec)) {
    db_->run(kAddBlob, project, blob.sha256);
    db_->run("INSERT OR IGNORE INTO study_blobs (study, sha256) VALUES (?, ?)", study, blob.sha256);
    add_blob(owner, blob.sha256, blob.bytes);
  }
}

Outcome Writer::apply_one(const StartAttempt& start) {
  Study* study = find_study(start.trial.study);
  if (study == nullptr) return outcome(Applied::conflict, start.trial);
  if (!ledger::is_running(study->row)) return outcome(Applied::superseded, start.trial);
  const auto trial = rows_->trial(start.trial);
  if (trial && trial->state != TrialState::running)
    return outcome(Applied::superseded, start.trial);
  const bool resumes = start.from && is_resumable(*study, start.from->attempt);
  sql::NewAttempt made{start};
  // A trial of an ask-and-tell study has a row before its first attempt.
  if (trial && trial->newest_attempt != 0) made.previous = trial->newest_attempt;
  made.device_version = device_version(start);
  if (resumes) {
    made.from = &*start.from;
    made.artifacts = artifacts_before(start);
  }
  made.code = study->row.code;
  if (!rows_->add_attempt(made)) return outcome(Applied::conflict, start.trial);
  if (trial) {
    rows_->lease_again(start.trial, start.attempt);
  } else {
    rows_->add_trial(start);
    ledger::trial_started(study->row);
    charge_records(*study, static_cast<std::int64_t>(start.params.size()));
  }
  ledger::attempt_started(study->row);
  charge_records(*study, kAttemptRecord);
  return outcome(Applied::applied, start.trial);
}

std::optional<protocol::Failure> Writer::odd_value(Study& study,
                                                   const protocol::TrialResult& result) {
  if (!study.has_range) {
    Query row = db_->query("SELECT spec FROM studies WHERE id = ?", study.row.id);
    if (row.next()) study.row.spec.value_range = read_spec(row.text(0), study.row.id).value_range;
    study.has_range = true;
  }
  return protocol::out_of_range(study.row.spec, result);
}

Outcome Writer::apply_one(const StoreResult& store) {
  const auto rows = rows_->for_result(store.result.attempt);
  if (!rows || rows->device != store.device) return outcome(Applied::conflict);
  const TrialKey trial = rows->trial;
  Study* study = find_study(trial.study);
  if (study == nullptr) return outcome(Applied::conflict);
  if (rows->verdict) return of_result(Applied::repeated, trial, *rows->verdict);
  // The dispatcher does not know the study of a result that comes after its lease (R12).
  std::optional<protocol::TrialResult> odd;
  if (auto failure = store.in_range ? std::nullopt : odd_value(*study, store.result)) {
    odd = store.result;
    odd->outcome = protocol::Outcome::failed;
    odd->failure = std::move(failure);
  }
  const protocol::TrialResult& result = odd ? *odd : store.result;
  Outcome judged = of_result(Applied::superseded, trial, protocol::Verdict::evidence);
  AttemptState state = AttemptState::evidence;
  sql::Given given;
  if (result.outcome == protocol::Outcome::failed) {
    judged = of_result(Applied::applied, trial, protocol::Verdict::recorded);
    const bool live = rows->state == AttemptState::live;
    state = live ? AttemptState::failed : rows->state;
    if (live && rows->resumed && blames_checkpoint(*result.failure))
      judged.dropped = drop_checkpoints(trial, 0);
  } else if (ledger::is_running(study->row) && !rows->rejected &&
             !was_replaced(*study, trial, rows->trial_state)) {
    const std::int64_t seq = next_seq();
    const bool complete = result.outcome == protocol::Outcome::complete;
    if (rows_->accept(trial, complete ? TrialState::complete : TrialState::pruned, seq,
                      result.attempt)) {
      judged = of_result(Applied::applied, trial, protocol::Verdict::accepted);
      judged.seq = seq;
      state = AttemptState::accepted;
      last_seq_ = seq;
      ledger::trial_accepted(study->row, rows->trial_state, result.outcome, seq);
      touch(*study);
      const bool waits = rows->constrained == sql::Constrained::waits;
      if (complete && !waits && protocol::meets_constraints(result.attrs))
        given.moved = offer(*study, {trial.number, result.values});
      if (rows->state != AttemptState::live) given.ms = late_ms(*db_, result, now_);
      if (rows_->may_have_checkpoints(trial)) judged.dropped = drop_checkpoints(trial, 0);
      append(judged.dropped, inherit_artifacts(*study, trial, result.attempt));
      append(judged.dropped, drop_artifacts_of_others(*study, trial, result.attempt));
    }
  }
  if (judged.verdict == protocol::Verdict::evidence)
    judged.dropped = drop_artifacts_of(*study, trial, result.attempt);

  rows_->store_result(result, state, *judged.verdict,
                      result.failure.has_value() != rows->has_failure);
  // What an accepted result counts is in its row, but for these.
  if (given.moved || given.ms) rows_->note_given(result.attempt, given);
  auto texts = result.attrs.size();
  if (result.failure) texts += result.failure->message.size() + result.failure->traceback.size();
  const int points = rows_->add_points(result.attempt, result.points);
  charge_records(*study, static_cast<std::int64_t>(texts) + points * kPointRecord);
  compact_series(*study, result.attempt);
  if (!rows->version_finished) rows_->finish_version(rows->device_version);
  return judged;
}

Outcome Writer::apply_one(const EndAttempt& end) {
  const auto attempt = rows_->attempt(end.attempt);
  if (!attempt || find_study(attempt->trial.study) == nullptr) return outcome(Applied::conflict);
  if (attempt->state != AttemptState::live) return outcome(Applied::repeated, attempt->trial);
  rows_->end_attempt(end);
  return outcome(Applied::applied, attempt->trial);
}

Outcome Writer::apply_one(const AppendPoints& append) {
  const auto attempt = rows_->attempt(append.attempt);
  if (!attempt || attempt->device != append.device) return outcome(Applied::conflict);
  const TrialKey trial = attempt->trial;
  Study* study = find_study(trial.study);
  if (study == nullptr) return outcome(Applied::conflict);
  const auto records = static_cast<std::int64_t>(append.points.size()) * kPointRecord;
  if ((records > 0 || append.series) &&
      !has_room_for_records(*study, std::max<std::int64_t>(records, 1))) {
    Outcome refused = outcome(Applied::superseded, trial);
    refused.refusal = Refusal::quota;
    return refused;
  }
  const int added = rows_->add_points(append.attempt, append.points);
  charge_records(*study, added * kPointRecord);
  Outcome appended = outcome(added > 0 ? Applied::applied : Applied::repeated, trial);
  if (append.series) add_series(*study, append, appended);
  return appended;
}

Outcome Writer::apply_one(const FailTrial& fail) {
  Study* study = find_study(fail.trial.study);
  if (study == nullptr) return outcome(Applied::conflict, fail.trial);
  {
    Query trial = db_->query("SELECT state FROM trials WHERE study = ? AND number = ?",
                             fail.trial.study, fail.trial.number);
    if (!trial.next()) return outcome(Applied::conflict, fail.trial);
    if (static_cast<TrialState>(trial.integer(0)) != TrialState::running) {
      return outcome(Applied::superseded, fail.trial);
    }
  }
  const std::int64_t seq = last_seq_ = next_seq();
  const FailureColumns failure(&fail.failure);
  db_->run(
      "UPDATE trials SET state = ?, seq = ?, finished_at = ?, failure_cause = ?, failure_code = ?,"
      " failure_message = ?, failure_traceback = ? WHERE study = ? AND number = ?",
      TrialState::failed, seq, now_, failure.cause, failure.code, failure.message,
      failure.traceback, fail.trial.study, fail.trial.number);
  ledger::trial_failed(study->row, seq);
  touch(*study);
  Outcome result = outcome(Applied::applied, fail.trial);
  result.seq = seq;
  result.paused = fail.pauses && ledger::stopped(study->row, fail.trial.number);
  if (result.paused) result.queued = queue_event(fail.trial.study, protocol::WebhookEvent::stopped);
  return result;
}

Outcome Writer::apply_one(const EndStudy& end) {
  Study* study = find_study(end.study);
  if (study == nullptr) return of_study(Applied::conflict, end.study);
  if (!ledger::is_running(study->row)) return of_study(Applied::repeated, end.study);
  Outcome result = of_study(Applied::applied, end.study);
  result.dropped = drop_unfinished_artifacts(*study);
  cancel_trials(*study);
  ledger::ended(study->row, end.state, now_);
  touch(*study);
  result.queued =
      queue_event(end.study, end.state == StudyState::finished ? protocol::WebhookEvent::finished
                                                               : protocol::WebhookEvent::cancelled);
  append(result.dropped, drop_checkpoints(end.study));
  return result;
}

Outcome Writer::apply_one(const PauseStudy& pause) {
  Study* study = find_study(pause.study);
  if (study == nullptr) return of_study(Applied::conflict, pause.study);
  if (!ledger::is_running(study->row)) return of_study(Applied::superseded, pause.study);
  if (study->row.paused == pause.paused) return of_study(Applied::repeated, pause.study);
  ledger::set_paused(study->row, pause.paused);
  touch(*study);
  return of_study(Applied::applied, pause.study);
}

Outcome Writer::apply_one(const SetPriority& set) {
  Study* study = find_study(set.study);
  if (study == nullptr) return of_study(Applied::conflict, set.study);
  if (study->row.priority == set.priority) return of_study(Applied::repeated, set.study);
  study->row.priority = set.priority;
  touch(*study);
  return of_study(Applied::applied, set.study);
}

Outcome Writer::apply_one(const JudgeStudy& judge) {
  Study* study = find_study(judge.study);
  if (study == nullptr) return of_study(Applied::conflict, judge.study);
  if (!ledger::is_running(study->row)) return of_study(Applied::superseded, judge.study);
  if (study->row.approval != Approval::awaited) return of_study(Applied::repeated, judge.study);
  study->row.approval = judge.approved ? Approval::given : Approval::refused;
  touch(*study);
  if (judge.approved) return of_study(Applied::applied, judge.study);
  db_->run("UPDATE study_progress SET refusal = ? WHERE study = ?", judge.reason, judge.study);
  return apply_one(EndStudy{judge.study, StudyState::cancelled});
}

void Writer::cancel_trials(Study& study) {
  std::vector<TrialNumber> unfinished;
  {
    Query trials =
        db_->query("SELECT number FROM trials WHERE study = ? AND seq = 0", study.row.id);
    while (trials.next()) unfinished.push_back(TrialNumber{trials.integer(0)});
  }
  for (const TrialNumber number : unfinished) {
    const std::int64_t seq = last_seq_ = next_seq();
    db_->run("UPDATE trials SET state = ?, seq = ?, finished_at = ? WHERE study = ? AND number = ?",
             TrialState::cancelled, seq, now_, study.row.id, number);
    ledger::trial_cancelled(study.row, seq);
  }
}

Outcome Writer::apply_one(const ReissueTrials& reissue) {
  Study* study = find_study(reissue.study);
  if (study == nullptr) return of_study(Applied::conflict, reissue.study);
  if (study->row.state == StudyState::cancelled) {
    return of_study(Applied::superseded, reissue.study);
  }
  Outcome result = of_study(Applied::repeated, reissue.study);
  {
    // The condition is that of the index, so that the other trials are not read.
    static_assert(static_cast<int>(TrialState::failed) == 3);
    Query failed = db_->query(
        "SELECT number FROM trials INDEXED BY failed_trials WHERE study = ? AND state = 3"
        " ORDER BY number",
        reissue.study);
    while (failed.next()) result.trials.push_back(TrialNumber{failed.integer(0)});
  }
  if (result.trials.empty()) return result;
  auto replaced = reissue.code ? with_new_code(*study, reissue) : std::nullopt;
  if (const auto excess =
          excess_of_reissue(study->row, reissue.quota, replaced ? std::ssize(replaced->text) : 0)) {
    result = of_study(Applied::superseded, reissue.study);
    result.excess = excess;
    return result;
  }
  for (const TrialNumber number : result.trials) {
    db_->run(
        "UPDATE trials SET state = ?, seq = 0, finished_at = 0, forgiven_attempt = newest_attempt,"
        " failure_cause = NULL, failure_code = NULL, failure_message = NULL,"
        " failure_traceback = NULL WHERE study = ? AND number = ?",
        TrialState::running, reissue.study, number);
    ledger::trial_reissued(study->row);
    append(result.dropped, drop_checkpoints({reissue.study, number}, 0));
  }
  result.rejected = rejected_among(reissue.study, result.trials);
  ledger::reopened(study->row);
  if (reissue.awaits_approval) study->row.approval = Approval::awaited;
  touch(*study);
  result.applied = Applied::applied;
  result.priority = study->row.priority;
  if (replaced) take_code(*study, reissue, *std::move(replaced), result);
  return result;
}

Outcome Writer::apply_one(const ExtendStudy& extend) {
  Study* study = find_study(extend.study);
  if (study == nullptr) return of_study(Applied::conflict, extend.study);
  Outcome result = of_study(Applied::superseded, extend.study);
  if (study->row.state == StudyState::cancelled) return result;
  protocol::StudySpec before;
  std::int64_t before_bytes = 0;
  {
    Query row = db_->query("SELECT spec FROM studies WHERE id = ?", extend.study);
    row.next();
    before = read_spec(row.text(0), extend.study);
    before_bytes = std::ssize(row.text(0));
  }
  auto after = protocol::extended(before, extend.more);
  if (!after) {
    result.refusal = Refusal::space_changed;
    return result;
  }
  const std::int64_t had = protocol::trial_count(before);
  const std::int64_t has = protocol::trial_count(*after);
  if (has == had) return of_study(Applied::repeated, extend.study);
  const std::string spec = protocol::serialize_study_spec(*after);
  const std::int64_t more_bytes = std::ssize(spec) - before_bytes;
  result.excess = excess_of_extension(study->row, extend.quota, had, has, more_bytes);
  if (result.excess) return result;
  db_->run("UPDATE studies SET spec = ?, total = ? WHERE id = ?", spec, has, extend.study);
  charge_records(*study, more_bytes);
  ledger::reopened(study->row);
  if (extend.awaits_approval) study->row.approval = Approval::awaited;
  touch(*study);
  result.applied = Applied::applied;
  result.id = had;
  result.priority = study->row.priority;
  result.spec = std::make_shared<const protocol::StudySpec>(std::move(after).value());
  return result;
}

std::optional<Writer::NewSpec> Writer::with_new_code(const Study& study,
                                                     const ReissueTrials& reissue) {
  NewSpec made;
  {
    Query row = db_->query("SELECT spec, project FROM studies WHERE id = ?", study.row.id);
    row.next();
    made.spec = read_spec(row.text(0), study.row.id);
    made.project = row.text(1);
  }
  if (protocol::runs_code(made.spec, *reissue.code)) return std::nullopt;
  made.spec = protocol::with_code(std::move(made.spec), *reissue.code, reissue.runtime_index);
  made.text = protocol::serialize_study_spec(made.spec);
  return made;
}

void Writer::take_code(Study& study, const ReissueTrials& reissue, NewSpec made, Outcome& outcome) {
  const StudyId id = study.row.id;
  db_->run(
      "INSERT INTO earlier_specs (study, code, spec) SELECT id, ?, spec FROM studies WHERE id = ?",
      study.row.code, id);
  db_->run("UPDATE studies SET spec = ? WHERE id = ?", made.text, id);
  charge_records(study, std::ssize(made.text));  // the earlier spec stays
  add_blobs(id, study.row.owner, made.project, made.spec);
  ++study.row.code;
  if (!reissue.code->checkpoints) {
    study.row.resumable_code = study.row.code;
    append(outcome.dropped, drop_checkpoints(id));
  }
  outcome.spec = std::make_shared<const protocol::StudySpec>(std::move(made.spec));
}

bool Writer::is_resumable(const Study& study, AttemptId saved_by) {
  Query row = db_->query("SELECT code FROM attempts WHERE id = ? AND rejection IS NULL", saved_by);
  return row.next() && row.integer(0) >= study.row.resumable_code;
}

Writer::Study* Writer::find_study(StudyId id) {
  if (const auto kept = studies_.find(id); kept != studies_.end()) return &kept->second;
  Query row = db_->query(
      "SELECT direction, state, complete, pruned, failed, running, attempts, cursor, finished_at,"
      " best_trial, best_value, kind, objectives, asked, generation, sampler, sampler_since,"
      " wanted, paused, artifacts, artifact_bytes, stopped_by, forgiven_seq, priority,"
      " code, resumable_code, approval, owner, checkpoint_bytes, record_bytes, search_from"
      " FROM studies JOIN study_progress ON study = id WHERE id = ?",
      id);
  if (!row.next()) return nullptr;
  StudyRow study;
  study.id = id;
  study.spec.direction = static_cast<protocol::Direction>(row.integer(0));
  study.state = static_cast<StudyState>(row.integer(1));
  study.complete = row.integer(2);
  study.pruned = row.integer(3);
  study.failed = row.integer(4);
  study.running = row.integer(5);
  study.attempts = row.integer(6);
  study.cursor = row.integer(7);
  study.finished_at = row.integer(8);
  if (const auto best = row.maybe_integer(9)) study.best_trial = TrialNumber{*best};
  study.best_value = row.real(10);
  study.spec.kind = static_cast<protocol::StudyKind>(row.integer(11));
  study.spec.directions.assign(static_cast<std::size_t>(row.integer(12)), study.spec.direction);
  study.total = row.integer(13);
  study.generation = row.integer(14);
  study.sampler = row.text(15);
  study.sampler_since = row.integer(16);
  study.wanted = row.integer(17);
  study.paused = row.integer(18) != 0;
  study.artifacts = row.integer(19);
  study.artifact_bytes = row.integer(20);
  if (const auto trial = row.maybe_integer(21)) study.stopped_by = TrialNumber{*trial};
  study.forgiven_seq = row.integer(22);
  study.priority = row.integer(23);
  study.code = row.integer(24);
  study.resumable_code = row.integer(25);
  study.approval = static_cast<Approval>(row.integer(26));
  study.owner = row.text(27);
  study.checkpoint_bytes = row.integer(28);
  study.record_bytes = row.integer(29);
  if (const auto from = row.maybe_integer(30)) study.search_from = TrialNumber{*from};
  return &studies_.emplace(id, Study{std::move(study), false}).first->second;
}

void Writer::touch(Study& study) {
  if (study.changed) return;
  study.changed = true;
  changed_.push_back(&study);
}

void Writer::write_changed_studies() {
  for (Study* study : changed_) {
    const StudyRow& row = study->row;
    db_->post(
        "UPDATE study_progress SET state = ?, complete = ?, pruned = ?, failed = ?, running = ?,"
        " attempts = ?, cursor = ?, finished_at = ?, best_trial = ?, best_value = ?, asked = ?,"
        " generation = ?, sampler = ?, sampler_since = ?, wanted = ?, paused = ?, artifacts = ?,"
        " artifact_bytes = ?, stopped_by = ?, forgiven_seq = ?, priority = ?, code = ?,"
        " resumable_code = ?, approval = ?, checkpoint_bytes = ?, record_bytes = ?,"
        " search_from = ? WHERE study = ?",
        row.state, row.complete, row.pruned, row.failed, row.running, row.attempts, row.cursor,
        row.finished_at, row.best_trial, row.best_value, row.total, row.generation, row.sampler,
        row.sampler_since, row.wanted, row.paused ? 1 : 0, row.artifacts, row.artifact_bytes,
        row.stopped_by, row.forgiven_seq, row.priority, row.code, row.resumable_code, row.approval,
        row.checkpoint_bytes, row.record_bytes, row.search_from, row.id);
    study->changed = false;
  }
  changed_.clear();
}

std::int64_t Writer::next_seq() {
  if (last_seq_ < 0) last_seq_ = newest_seq(*db_);
  return last_seq_ + 1;
}

void Writer::forget() {
  rows_->forget();
  changed_.clear();
  events_.clear();
  studies_.clear();
  owners_.clear();
  joined_.reset();
  logging_.clear();
  last_seq_ = -1;
  kept_time_ = 0;
}

}  // namespace hyperflock::storage::sqlite
