// The contract in plain maps: for tests and trials of the server without a disk. Nothing survives
// the process.
#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <utility>

#include "storage/memory_deletion.h"
#include "storage/memory_readers.h"
#include "storage/memory_state.h"
#include "storage/storage.h"
#include "storage/study_ledger.h"

namespace hyperflock::storage {
namespace {

using memory::Attempt;
using memory::find;
using memory::Saved;
using memory::State;
using memory::Trial;

Outcome outcome(Applied applied, std::optional<TrialKey> trial = std::nullopt) {
  Outcome result;
  result.applied = applied;
  result.trial = trial;
  return result;
}

Outcome of_study(Applied applied, StudyId study) {
  Outcome result = outcome(applied);
  result.study = study;
  return result;
}

// Judges one transition after the other against the state. Used under the exclusive lock.
class Judge {
 public:
  Judge(State& state, std::int64_t now) : state_(state), now_(now) {}

  Outcome operator()(const CreateStudy& create) {
    for (const auto& [id, study] : state_.studies) {
      if (study.owner == create.owner && study.spec.submit_key == create.spec.submit_key) {
        return of_study(Applied::repeated, id);
      }
    }
    if (state_.studies.contains(create.id) || to_int(create.id) <= state_.last_study)
      return of_study(Applied::conflict, create.id);
    if (const auto excess = excess_of_study(create)) {
      Outcome refused = outcome(Applied::superseded);
      refused.excess = excess;
      return refused;
    }
    StudyRow study;
    study.id = create.id;
    study.owner = create.owner;
    study.project = create.project;
    study.spec = create.spec;
    study.total = create.total;
    study.created_at = now_;
    for_each_blob(create, [&](const protocol::BlobRef& blob) {
      state_.project_blobs.emplace(create.project, blob.sha256);
      state_.identity.owner_blobs.emplace(std::pair(create.owner, blob.sha256), blob.bytes);
    });
    state_.studies.emplace(create.id, std::move(study));
    return of_study(Applied::applied, create.id);
  }

  Outcome operator()(const StartAttempt& start) {
    StudyRow* study = find(state_.studies, start.trial.study);
    if (study == nullptr) return outcome(Applied::conflict, start.trial);
    Trial* trial = find(state_.trials, start.trial);
    if (!ledger::is_running(*study) ||
        (trial != nullptr && trial->row.state != TrialState::running)) {
      return outcome(Applied::superseded, start.trial);
    }
    if (state_.attempts.contains(start.attempt)) return outcome(Applied::conflict, start.trial);
    if (trial == nullptr) {
      trial = &state_.trials[start.trial];
      trial->row.key = start.trial;
      trial->row.params = start.params;
      trial->row.seed = start.seed;
      trial->row.started_at = now_;
      ledger::trial_started(*study);
    }
    ++trial->row.attempts;
    trial->attempts.push_back(start.attempt);
    AttemptRow& attempt = state_.attempts[start.attempt].row;
    state_.attempts[start.attempt].from_artifacts = artifacts_before(*trial, start.from);
    attempt.id = start.attempt;
    attempt.trial = start.trial;
    attempt.kind = start.kind;
    attempt.device = start.device;
    attempt.device_class = start.device_class;
    attempt.engine = start.engine;
    attempt.adapter = start.adapter;
    attempt.from = start.from;
    attempt.started_at = now_;
    ledger::attempt_started(*study);
    return outcome(Applied::applied, start.trial);
  }

  Outcome operator()(const StoreResult& store) {
    const protocol::TrialResult& result = store.result;
    Attempt* attempt = find(state_.attempts, result.attempt);
    if (attempt == nullptr || attempt->row.device != store.device)
      return outcome(Applied::conflict);
    const TrialKey key = attempt->row.trial;
    if (attempt->verdict) {
      Outcome repeated = outcome(Applied::repeated, key);
      repeated.verdict = attempt->verdict;
      return repeated;
    }
    Outcome judged = outcome(Applied::superseded, key);
    judged.verdict = protocol::Verdict::evidence;
    const AttemptState was = std::exchange(attempt->row.state, AttemptState::evidence);
    if (result.outcome == protocol::Outcome::failed) {
      judged = outcome(Applied::applied, key);
      judged.verdict = protocol::Verdict::recorded;
      attempt->row.state = was == AttemptState::live ? AttemptState::failed : was;
      if (was == AttemptState::live && attempt->row.from && blames_checkpoint(*result.failure))
        judged.dropped = drop_checkpoints(state_.trials.at(key), 0);
    } else if (ledger::is_running(state_.studies.at(key.study)) &&
               !state_.trials.at(key).row.accepted_attempt) {
      judged = outcome(Applied::applied, key);
      judged.verdict = protocol::Verdict::accepted;
      judged.seq = accept(key, result);
      judged.dropped = drop_checkpoints(state_.trials.at(key), 0);
      state_.artifacts.pass_on(key.study, inherited(*attempt), result.attempt);
      append(judged.dropped, drop_artifacts(key.study, [&](const ArtifactRow& one) {
               return one.trial == key && one.attempt != result.attempt;
             }));
      attempt->row.state = AttemptState::accepted;
    }
    if (judged.verdict == protocol::Verdict::evidence) {
      judged.dropped = drop_artifacts(
          key.study, [&](const ArtifactRow& one) { return one.attempt == result.attempt; });
    }
    attempt->verdict = judged.verdict;
    attempt->row.values = result.values;
    attempt->row.attrs = result.attrs;
    attempt->row.software = result.software;
    if (!result.failure || !attempt->row.failure) attempt->row.failure = result.failure;
    attempt->row.metrics = result.metrics;
    attempt->row.backend = result.backend;
    attempt->row.result_seq = result.seq;
    attempt->row.finished_at = now_;
    add_points(*attempt, result.points);
    return judged;
  }

  Outcome operator()(const EndAttempt& end) {
    Attempt* attempt = find(state_.attempts, end.attempt);
    if (attempt == nullptr) return outcome(Applied::conflict);
    if (attempt->row.state != AttemptState::live) {
      return outcome(Applied::repeated, attempt->row.trial);
    }
    attempt->row.state = end.state;
    attempt->row.failure = end.failure;
    attempt->row.finished_at = now_;
    return outcome(Applied::applied, attempt->row.trial);
  }

  Outcome operator()(const AppendPoints& append) {
    Attempt* attempt = find(state_.attempts, append.attempt);
    if (attempt == nullptr || attempt->row.device != append.device)
      return outcome(Applied::conflict);
    const bool added = add_points(*attempt, append.points);
    return outcome(added ? Applied::applied : Applied::repeated, attempt->row.trial);
  }

  Outcome operator()(const StoreCheckpoint& store) {
    Outcome stored = judge_upload(store.checkpoint.attempt, store.device);
    if (stored.applied != Applied::applied) return stored;
    const TrialKey key = *stored.trial;
    Trial& trial = state_.trials.at(key);
    const auto& kept = trial.checkpoints;
    if (!kept.empty() && kept.back().checkpoint.attempt == store.checkpoint.attempt &&
        kept.back().checkpoint.blob == store.checkpoint.blob) {
      return outcome(Applied::repeated, key);
    }
    trial.checkpoints.push_back({store.checkpoint, state_.studies.at(key.study).artifacts});
    stored.dropped = drop_checkpoints(trial, kKeptCheckpoints);
    return stored;
  }

  Outcome operator()(const StoreArtifact& store) {
    Outcome stored = judge_upload(store.artifact.attempt, store.device);
    if (stored.applied != Applied::applied) return stored;
    StudyRow& study = state_.studies.at(stored.trial->study);
    if (auto objection = state_.artifacts.objection(study.id, store.artifact)) {
      objection->trial = stored.trial;
      return std::move(*objection);
    }
    stored.excess =
        excess_of({.bytes = bytes_allowed(study.owner)}, memory::usage(state_, study.owner),
                  {0, 0, store.artifact.blob.bytes});
    if (stored.excess) {
      stored.applied = Applied::superseded;
      return stored;
    }
    ledger::artifact_stored(study, store.artifact.blob.bytes);
    ArtifactRow row = store.artifact;
    row.trial = *stored.trial;
    row.arrived = study.artifacts;
    row.created_at = now_;
    state_.artifacts.add(std::move(row));
    return stored;
  }

  Outcome operator()(const FailTrial& fail) {
    Trial* trial = find(state_.trials, fail.trial);
    if (trial == nullptr) return outcome(Applied::conflict, fail.trial);
    if (trial->row.state != TrialState::running) return outcome(Applied::superseded, fail.trial);
    Outcome failed = outcome(Applied::applied, fail.trial);
    failed.seq = finish(*trial, TrialState::failed);
    trial->row.failure = fail.failure;
    ledger::trial_failed(state_.studies.at(fail.trial.study), failed.seq);
    return failed;
  }

  Outcome operator()(const EndStudy& end) {
    StudyRow* study = find(state_.studies, end.study);
    if (study == nullptr) return of_study(Applied::conflict, end.study);
    if (!ledger::is_running(*study)) return of_study(Applied::repeated, end.study);
    std::set<std::string> dropped;
    for (std::string& blob : drop_artifacts(end.study, [this](const ArtifactRow& one) {
           return state_.trials.at(one.trial).row.state == TrialState::running;
         })) {
      dropped.insert(std::move(blob));
    }
    for (auto trial = state_.trials.lower_bound({end.study, TrialNumber{0}});
         trial != state_.trials.end() && trial->first.study == end.study; ++trial) {
      for (const std::string& blob : drop_checkpoints(trial->second, 0)) dropped.insert(blob);
      if (trial->second.row.state != TrialState::running) continue;
      ledger::trial_cancelled(*study, finish(trial->second, TrialState::cancelled));
    }
    ledger::ended(*study, end.state, now_);
    Outcome result = of_study(Applied::applied, end.study);
    result.dropped.assign(dropped.begin(), dropped.end());
    return result;
  }

  Outcome operator()(const DeleteStudy& gone) { return memory::delete_study(state_, gone.study); }
  // A deleted study leaves nothing here.
  Outcome operator()(const SweepDeleted&) { return outcome(Applied::repeated); }

  Outcome operator()(const PauseStudy& pause) {
    StudyRow* study = find(state_.studies, pause.study);
    if (study == nullptr) return of_study(Applied::conflict, pause.study);
    if (!ledger::is_running(*study)) return of_study(Applied::superseded, pause.study);
    if (study->paused == pause.paused) return of_study(Applied::repeated, pause.study);
    study->paused = pause.paused;
    return of_study(Applied::applied, pause.study);
  }

  Outcome operator()(const ReplayTrials& replay) {
    StudyRow* study = find(state_.studies, replay.study);
    if (study == nullptr) return of_study(Applied::conflict, replay.study);
    if (study->state == StudyState::cancelled) return of_study(Applied::superseded, replay.study);
    if (study->failed > 0 && !ledger::is_running(*study)) {
      if (auto refused = refused_reopening(*study, replay.quota)) return std::move(*refused);
    }
    Outcome result = of_study(Applied::repeated, replay.study);
    for (auto entry = state_.trials.lower_bound({replay.study, TrialNumber{0}});
         entry != state_.trials.end() && entry->first.study == replay.study; ++entry) {
      Trial& trial = entry->second;
      if (trial.row.state != TrialState::failed) continue;
      state_.finished.erase({replay.study, trial.row.seq});
      trial.row.state = TrialState::running;
      trial.row.seq = trial.row.finished_at = 0;
      trial.row.failure.reset();
      trial.forgiven = trial.attempts.size();
      ledger::trial_replayed(*study);
      for (std::string& blob : drop_checkpoints(trial, 0))
        result.dropped.push_back(std::move(blob));
      result.trials.push_back(entry->first.number);
    }
    if (result.trials.empty()) return result;
    ledger::reopened(*study);
    result.applied = Applied::applied;
    return result;
  }

  Outcome operator()(const ClaimStudy& claim) {
    StudyRow* study = find(state_.studies, claim.study);
    if (study == nullptr || study->spec.kind != protocol::StudyKind::asked)
      return of_study(Applied::conflict, claim.study);
    if (study->state == StudyState::cancelled) return of_study(Applied::superseded, claim.study);
    if (!ledger::is_running(*study)) {
      if (auto refused = refused_reopening(*study, claim.quota)) return std::move(*refused);
      ledger::reopened(*study);
    }
    ledger::claimed(*study, claim.label, now_);
    Outcome claimed = of_study(Applied::applied, claim.study);
    claimed.id = study->generation;
    return claimed;
  }

  Outcome operator()(const AskTrials& ask) {
    StudyRow* study = find(state_.studies, ask.study);
    if (study == nullptr) return of_study(Applied::conflict, ask.study);
    if (!ledger::is_running(*study) || study->generation != ask.generation)
      return of_study(Applied::superseded, ask.study);
    Outcome asked = of_study(Applied::applied, ask.study);
    const auto more = static_cast<std::int64_t>(ask.trials.size());
    asked.excess =
        excess_of({.trials = ask.quota.trials}, memory::usage(state_, study->owner), {0, more, 0});
    if (asked.excess) {
      asked.applied = Applied::superseded;
      return asked;
    }
    for (const AskedRow& row : ask.trials) {
      const auto [entry, is_new] = state_.trials.try_emplace({ask.study, row.number});
      if (!is_new) continue;
      TrialRow& trial = entry->second.row;
      trial.key = entry->first;
      trial.params = row.params;
      trial.seed = row.seed;
      trial.started_at = now_;
      entry->second.attrs = row.attrs;
      ledger::trial_asked(*study);
      asked.trials.push_back(row.number);
    }
    if (ask.wanted) study->wanted = *ask.wanted;
    return asked;
  }

  Outcome operator()(const StoreSuggestion& store) {
    Trial* trial = find(state_.trials, store.trial);
    if (trial == nullptr) return outcome(Applied::conflict, store.trial);
    if (trial->row.state != TrialState::running ||
        state_.studies.at(store.trial.study).generation != store.generation) {
      return outcome(Applied::superseded, store.trial);
    }
    std::vector<Suggestion>& log = trial->row.suggested;
    const bool known = std::any_of(log.begin(), log.end(), [&](const Suggestion& one) {
      return one.name == store.suggestion.name;
    });
    if (known) return outcome(Applied::repeated, store.trial);
    log.push_back(store.suggestion);
    trial->row.params = store.params;
    return outcome(Applied::applied, store.trial);
  }

  Outcome operator()(const OwnBlob& own) {
    if (state_.identity.owns(own.owner, own.sha256)) return outcome(Applied::repeated);
    Outcome owned = outcome(Applied::applied);
    owned.excess = excess_of(own.quota, memory::usage(state_, own.owner), {0, 0, own.bytes});
    if (owned.excess) {
      owned.applied = Applied::superseded;
      return owned;
    }
    state_.identity.owner_blobs.emplace(std::pair(own.owner, own.sha256), own.bytes);
    return owned;
  }

  Outcome operator()(const EraseDevice& erase) {
    if (state_.identity.devices.erase(erase.device) == 0) return outcome(Applied::conflict);
    for (auto& [id, attempt] : state_.attempts) {
      if (attempt.row.device != erase.device) continue;
      attempt.row.device = kErasedDevice;
      attempt.row.device_class.clear();
      attempt.row.engine.clear();
      attempt.row.adapter.clear();
    }
    return outcome(Applied::applied);
  }

  Outcome operator()(const NoteAudit& one) {
    if (one.if_applied && !last_applied_) return outcome(Applied::repeated);
    Outcome noted = outcome(Applied::applied);
    noted.id = note(state_.identity, one.entry, now_);
    return noted;
  }

  template <typename OfIdentity>
  Outcome operator()(const OfIdentity& one) {
    return judge(state_.identity, one, now_);
  }

  Outcome apply(const Transition& transition) {
    Outcome result = std::visit(*this, transition);
    last_applied_ = result.applied == Applied::applied;
    return result;
  }

 private:
  // Gives a trial its place in the order of finishing; an earlier place (a failed trial, accepted
  // late) is left.
  std::int64_t finish(Trial& trial, TrialState state) {
    if (trial.row.seq != 0) state_.finished.erase({trial.row.key.study, trial.row.seq});
    trial.row.state = state;
    trial.row.seq = ++state_.last_seq;
    trial.row.finished_at = now_;
    state_.finished[{trial.row.key.study, trial.row.seq}] = trial.row.key;
    return trial.row.seq;
  }

  // Removes all but the newest `kept` of them. Gives the blobs that none names any more.
  std::vector<std::string> drop_checkpoints(Trial& trial, std::size_t kept) {
    if (trial.checkpoints.size() <= kept) return {};
    std::set<std::string> blobs;
    while (trial.checkpoints.size() > kept) {
      blobs.insert(trial.checkpoints.front().checkpoint.blob.sha256);
      trial.checkpoints.erase(trial.checkpoints.begin());
    }
    return unnamed(std::move(blobs));
  }

  std::vector<std::string> drop_artifacts(StudyId study,
                                          const std::function<bool(const ArtifactRow&)>& is_to_go) {
    return unnamed(state_.artifacts.drop(state_.studies.at(study), is_to_go));
  }

  std::vector<std::string> unnamed(std::set<std::string> blobs) const {
    if (blobs.empty()) return {};
    for (const std::string& named : memory::kept_blobs(state_)) blobs.erase(named);
    return {blobs.begin(), blobs.end()};
  }

  static void append(std::vector<std::string>& all, std::vector<std::string> more) {
    std::ranges::move(more, std::back_inserter(all));
  }

  // The guard of what attempts upload, with the trial.
  Outcome judge_upload(AttemptId id, const std::string& device) const {
    const Attempt* attempt = find(state_.attempts, id);
    if (attempt == nullptr || attempt->row.device != device) return outcome(Applied::conflict);
    const TrialKey key = attempt->row.trial;
    const bool open = attempt->row.state == AttemptState::live &&
                      state_.trials.at(key).row.state == TrialState::running;
    return outcome(open ? Applied::applied : Applied::superseded, key);
  }

  // The bytes of a researcher's quota; 0: no limit.
  std::int64_t bytes_allowed(const std::string& owner) const {
    for (const Principal& one : state_.identity.principals) {
      if (one.name == owner && one.role == PrincipalRole::researcher) return one.quota.bytes;
    }
    return 0;
  }

  // How many artifacts its study had had when the checkpoint was saved.
  static std::int64_t artifacts_before(const Trial& trial,
                                       const std::optional<protocol::Checkpoint>& from) {
    const auto& kept = trial.checkpoints;
    const auto saved = std::find_if(kept.rbegin(), kept.rend(), [&](const Saved& one) {
      return from && one.checkpoint.attempt == from->attempt && one.checkpoint.blob == from->blob;
    });
    return saved == kept.rend() ? 0 : saved->artifacts;
  }

  // The attempts that one goes on from, each with the place of the last artifact before it saved.
  std::map<AttemptId, std::int64_t> inherited(const Attempt& attempt) const {
    std::map<AttemptId, std::int64_t> places;
    for (const Attempt* one = &attempt; one != nullptr && one->row.from;) {
      const AttemptId before = one->row.from->attempt;
      places.emplace(before, one->from_artifacts);
      one = find(state_.attempts, before);
    }
    return places;
  }

  std::int64_t accept(TrialKey key, const protocol::TrialResult& result) {
    Trial& trial = state_.trials.at(key);
    const TrialState was = trial.row.state;
    const std::int64_t seq =
        finish(trial, result.outcome == protocol::Outcome::complete ? TrialState::complete
                                                                    : TrialState::pruned);
    trial.row.accepted_attempt = result.attempt;
    trial.row.failure.reset();
    ledger::trial_accepted(state_.studies.at(key.study), was, key.number, result, seq);
    return seq;
  }

  static bool add_points(Attempt& attempt, const std::vector<protocol::Point>& points) {
    bool added = false;
    for (const protocol::Point& point : points) {
      added |= attempt.points.emplace(point.step, point.value).second;
    }
    return added;
  }

  // Where an ended study that runs again would be more than its owner may have.
  std::optional<Outcome> refused_reopening(const StudyRow& study, const Quota& quota) const {
    const auto excess = excess_of(quota, memory::usage(state_, study.owner), {1, study.total, 0});
    if (!excess) return std::nullopt;
    Outcome refused = of_study(Applied::superseded, study.id);
    refused.excess = excess;
    return refused;
  }

  std::optional<Excess> excess_of_study(const CreateStudy& create) const {
    Usage asked{1, create.total, 0};
    std::set<std::string> seen;
    for_each_blob(create, [&](const protocol::BlobRef& blob) {
      if (state_.identity.owns(create.owner, blob.sha256)) return;
      if (seen.insert(blob.sha256).second) asked.bytes += blob.bytes;
    });
    return excess_of(create.quota, memory::usage(state_, create.owner), asked);
  }

  template <typename Each>
  static void for_each_blob(const CreateStudy& create, Each each) {
    each(create.spec.bundle);
    for (const protocol::DataRef& data : create.spec.data) each(data.blob);
  }

  State& state_;
  std::int64_t now_;
  bool last_applied_ = false;  // of the transition before
};

class MemoryStorage final : public Storage {
 public:
  explicit MemoryStorage(WallClock clock) : clock_(std::move(clock)) {}

  Result<std::vector<Outcome>> apply(std::span<const Transition> batch) override {
    const std::int64_t now = clock_();
    const std::lock_guard first_in_line(turnstile_);
    const std::unique_lock lock(mutex_);
    Judge judge(state_, now);
    std::vector<Outcome> outcomes;
    outcomes.reserve(batch.size());
    for (const Transition& transition : batch) outcomes.push_back(judge.apply(transition));
    return outcomes;
  }

  Result<Snapshot> load() override {
    return read([&] { return memory::load(state_); });
  }
  Result<Identities> identities() override {
    return read([&] { return memory::identities(state_); });
  }
  Result<std::vector<StudyRow>> studies() override {
    return read([&] { return memory::studies(state_); });
  }
  Result<std::optional<StudyRow>> study(StudyId id) override {
    return read([&] { return memory::study(state_, id); });
  }
  Result<std::vector<TrialDetail>> finished_trials(StudyId id, std::int64_t after,
                                                   std::int64_t limit) override {
    return read([&] { return memory::finished_trials(state_, id, after, limit); });
  }
  Result<std::vector<TrialDetail>> unfinished_trials(StudyId id) override {
    return read([&] { return memory::unfinished_trials(state_, id); });
  }
  Result<std::optional<TrialDetail>> trial(TrialKey key) override {
    return read([&] { return memory::trial(state_, key); });
  }
  Result<std::vector<protocol::Point>> curve(const AttemptRow& attempt) override {
    return read([&] { return memory::curve(state_, attempt); });
  }
  Result<std::optional<AttemptRow>> attempt(AttemptId id) override {
    return read([&] { return memory::attempt(state_, id); });
  }
  Result<std::vector<ArtifactRow>> artifacts(StudyId study, std::optional<TrialNumber> trial,
                                             std::int64_t after, std::int64_t limit) override {
    return read([&] { return state_.artifacts.page(study, trial, after, limit); });
  }
  Result<std::optional<ArtifactRow>> artifact(StudyId study, const std::string& id) override {
    return read([&] { return state_.artifacts.find(study, id); });
  }
  Result<std::vector<std::string>> kept_blobs() override {
    return read([&] { return listed(memory::kept_blobs(state_)); });
  }
  Result<std::vector<std::string>> owned_blobs() override {
    return read([&] { return listed(memory::owned_blobs(state_)); });
  }
  Result<bool> project_references(const std::string& project, const std::string& sha256) override {
    return read([&] { return state_.project_blobs.contains({project, sha256}); });
  }
  Result<Usage> usage(const std::string& owner) override {
    return read([&] { return memory::usage(state_, owner); });
  }
  Result<std::vector<AuditEntry>> audit(std::int64_t after, std::int64_t limit) override {
    return read([&] { return audit_page(state_.identity, after, limit); });
  }

 private:
  // A writer waits for the readers that are in, never for those that come after it: glibc's lock
  // alone would let a stream of readers starve it.
  std::shared_lock<std::shared_mutex> reading() {
    const std::lock_guard line(turnstile_);
    return std::shared_lock(mutex_);
  }
  template <typename Function>
  auto read(Function function) -> Result<decltype(function())> {
    const std::shared_lock lock = reading();
    return function();
  }
  static std::vector<std::string> listed(const std::set<std::string>& blobs) {
    return {blobs.begin(), blobs.end()};
  }

  WallClock clock_;
  std::mutex turnstile_;  // before mutex_
  std::shared_mutex mutex_;
  State state_;  // under mutex_
};

}  // namespace

std::unique_ptr<Storage> make_memory_storage(WallClock clock) {
  return std::make_unique<MemoryStorage>(std::move(clock));
}

}  // namespace hyperflock::storage
