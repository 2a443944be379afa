// Wraps a Storage and injects faults by a script, for tests of code that uses storage.
//
//   FaultyStorage storage(database.open());
//   storage.script({Pass{}, FailAfter{}});   // commits the second batch but returns an error
//
// Each apply() uses up the first fault of the script; if the script is empty, the batch is applied.
// script(), clear_script(), fail_reads() and release() may be called on any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "base/testing/patience.h"
#include "storage/reserve.h"
#include "storage/storage.h"

namespace hyperflock::storage {

// The batch is applied without a fault.
struct Pass {};
// The batch is not written, and the caller gets `storage_unavailable`.
struct FailBefore {};
// The batch is not written, and the caller is told that the disk is full.
struct FullDisk {};
// The batch is written, but the caller gets an error, as if the answer were lost.
struct FailAfter {};
// The transitions at these positions of the batch get `conflict`, as if another server had changed
// their rows first. The other transitions are applied.
struct Conflict {
  std::set<std::size_t> places;
};
// The batch is applied after this time.
struct Delay {
  std::chrono::milliseconds time{};
};
// The batch waits for release(), for at most 10 s, and is then applied.
struct Hold {};
using Fault = std::variant<Pass, FailBefore, FullDisk, FailAfter, Conflict, Delay, Hold>;

class FaultyStorage final : public Storage {
 public:
  using Sleep = std::function<void(std::chrono::milliseconds)>;

  explicit FaultyStorage(
      std::unique_ptr<Storage> inner,
      Sleep sleep = [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); })
      : inner_(std::move(inner)), sleep_(std::move(sleep)) {}

  // Adds faults to the end of the script.
  void script(std::initializer_list<Fault> faults) {
    const std::lock_guard lock(mutex_);
    script_.insert(script_.end(), faults);
  }
  // Forgets what is left of the script.
  void clear_script() {
    const std::lock_guard lock(mutex_);
    script_.clear();
  }
  // Makes the disk full, or empty again. While it is full, a batch is written only if all of it may
  // use the reserve.
  void fill_disk(bool is_full = true) {
    const std::lock_guard lock(mutex_);
    full_ = is_full;
  }
  // Lets the next `count` reads fail. Reads of the server's own timers (outbox() and
  // devices_seen_before()) do not count and do not fail, because nobody knows when they come.
  void fail_reads(int count) {
    const std::lock_guard lock(mutex_);
    failing_reads_ = count;
  }
  // Calls `action` once, between the next read of the outbox and its return. On the reader's
  // thread.
  void after_next_outbox(std::function<void()> action) {
    const std::lock_guard lock(mutex_);
    after_outbox_ = std::move(action);
  }
  // Lets every read wait for release_reads(), for at most kTestLimit.
  void hold_reads() {
    const std::lock_guard lock(mutex_);
    hold_reads_ = true;
  }
  void release_reads() {
    const std::lock_guard lock(mutex_);
    hold_reads_ = false;
    released_.notify_all();
  }
  // Waits until this many reads are held. Returns false if fewer are after kTestLimit.
  bool wait_until_reads_held(int count) {
    std::unique_lock lock(mutex_);
    return released_.wait_for(lock, kTestLimit, [&] { return held_reads_ >= count; });
  }
  // Lets one batch continue: one that a Hold has stopped, or else the next one that a Hold stops.
  void release() {
    const std::lock_guard lock(mutex_);
    ++releases_;
    released_.notify_all();
  }
  // Waits until a Hold stops a batch. Returns false if none did so within 10 s.
  bool wait_until_held() {
    std::unique_lock lock(mutex_);
    return released_.wait_for(lock, kTestLimit, [this] { return held_; });
  }
  // Returns the number of batches that were passed to apply().
  int batches() const {
    const std::lock_guard lock(mutex_);
    return batches_;
  }

  Result<std::vector<Outcome>> apply(std::span<const Transition> batch) override {
    const Fault fault = next_fault();
    if (std::holds_alternative<FailBefore>(fault)) return failure();
    if (std::holds_alternative<FullDisk>(fault) || (is_full() && !may_use_reserve(batch)))
      return Error{kStorageFull, "A test made the disk full: free some."};
    if (const auto* conflict = std::get_if<Conflict>(&fault)) return apply_others(batch, *conflict);
    if (const auto* delay = std::get_if<Delay>(&fault)) sleep_(delay->time);
    if (std::holds_alternative<Hold>(fault)) hold();
    auto outcomes = inner_->apply(batch);
    if (std::holds_alternative<FailAfter>(fault)) return failure();
    return outcomes;
  }

  void idle() override { inner_->idle(); }
  std::int64_t reusable_bytes() override { return inner_->reusable_bytes(); }
  int synchronous() override { return inner_->synchronous(); }

  Result<Snapshot> load() override {
    return read<Snapshot>([this] { return inner_->load(); });
  }
  Result<Identities> identities() override {
    return read<Identities>([this] { return inner_->identities(); });
  }
  Result<StudyPage> studies(const StudyQuery& query) override {
    return read<StudyPage>([&] { return inner_->studies(query); });
  }
  Result<std::vector<std::string>> running_runtimes() override {
    return read<std::vector<std::string>>([this] { return inner_->running_runtimes(); });
  }
  Result<ProjectTotals> project_totals(const std::string& project) override {
    return read<ProjectTotals>([&] { return inner_->project_totals(project); });
  }
  Result<std::vector<protocol::StudySpec>> open_specs(const std::string& project,
                                                      std::int64_t limit) override {
    return read<std::vector<protocol::StudySpec>>(
        [&] { return inner_->open_specs(project, limit); });
  }
  Result<std::optional<StudyRow>> study(StudyId id) override {
    return read<std::optional<StudyRow>>([&] { return inner_->study(id); });
  }
  Result<std::vector<TrialDetail>> finished_trials(StudyId id, std::int64_t after,
                                                   std::int64_t limit) override {
    return read<std::vector<TrialDetail>>(
        [&] { return inner_->finished_trials(id, after, limit); });
  }
  Result<std::optional<protocol::StudySpec>> spec(StudyId id, std::int64_t code) override {
    return read<std::optional<protocol::StudySpec>>([&] { return inner_->spec(id, code); });
  }
  Result<std::vector<TrialDetail>> best_trials(StudyId id, std::int64_t from,
                                               std::int64_t limit) override {
    return read<std::vector<TrialDetail>>([&] { return inner_->best_trials(id, from, limit); });
  }
  Result<std::vector<TrialDetail>> unfinished_trials(StudyId id, std::int64_t from,
                                                     std::int64_t limit) override {
    return read<std::vector<TrialDetail>>(
        [&] { return inner_->unfinished_trials(id, from, limit); });
  }
  Result<std::optional<TrialDetail>> trial(TrialKey key) override {
    return read<std::optional<TrialDetail>>([&] { return inner_->trial(key); });
  }
  Result<std::vector<protocol::Point>> curve(const AttemptRow& attempt) override {
    return read<std::vector<protocol::Point>>([&] { return inner_->curve(attempt); });
  }
  Result<std::vector<NamedSeries>> series(const AttemptRow& attempt,
                                          std::optional<std::int64_t> only) override {
    return read<std::vector<NamedSeries>>([&] { return inner_->series(attempt, only); });
  }
  Result<std::vector<SeriesName>> series_names(StudyId study, std::int64_t after,
                                               std::int64_t limit) override {
    return read<std::vector<SeriesName>>([&] { return inner_->series_names(study, after, limit); });
  }
  Result<std::optional<AttemptRow>> attempt(AttemptId id) override {
    return read<std::optional<AttemptRow>>([&] { return inner_->attempt(id); });
  }
  Result<std::vector<ArtifactRow>> artifacts(StudyId study, std::optional<TrialNumber> trial,
                                             std::int64_t after, std::int64_t limit) override {
    return read<std::vector<ArtifactRow>>(
        [&] { return inner_->artifacts(study, trial, after, limit); });
  }
  using Storage::artifact;
  Result<std::optional<ArtifactRow>> artifact(StudyId study, const std::string& id,
                                              std::optional<TrialNumber> trial) override {
    return read<std::optional<ArtifactRow>>([&] { return inner_->artifact(study, id, trial); });
  }
  Result<std::vector<SeenDevice>> devices_seen_before(std::int64_t before, const SeenDevice& after,
                                                      std::int64_t limit) override {
    return inner_->devices_seen_before(before, after, limit);
  }
  Result<std::vector<StudyId>> studies_of_device(const std::string& device) override {
    return read<std::vector<StudyId>>([&] { return inner_->studies_of_device(device); });
  }
  Result<std::vector<Contribution>> contributions(const std::string& device) override {
    return read<std::vector<Contribution>>([&] { return inner_->contributions(device); });
  }
  Result<ContributionTogether> contributions_together(const std::string& key_hash) override {
    return read<ContributionTogether>([&] { return inner_->contributions_together(key_hash); });
  }
  Result<ContributionPiece> next_contributions(std::int64_t today, PieceLimits limits) override {
    return read<ContributionPiece>([&] { return inner_->next_contributions(today, limits); });
  }
  Result<std::vector<std::string>> devices_of_code(std::int64_t code) override {
    return read<std::vector<std::string>>([&] { return inner_->devices_of_code(code); });
  }
  Result<StoredBytes> stored(const std::string& owner) override {
    return read<StoredBytes>([&] { return inner_->stored(owner); });
  }
  Result<Outcome> judge_bytes(AttemptId attempt, UploadKind kind, std::int64_t bytes,
                              std::int64_t room) override {
    return read<Outcome>([&] { return inner_->judge_bytes(attempt, kind, bytes, room); });
  }
  Result<std::vector<std::string>> kept_blobs() override {
    return read<std::vector<std::string>>([this] { return inner_->kept_blobs(); });
  }
  Result<std::vector<std::string>> owned_blobs() override {
    return read<std::vector<std::string>>([this] { return inner_->owned_blobs(); });
  }
  Result<std::vector<std::string>> not_owned(const std::string& owner,
                                             const std::vector<std::string>& blobs) override {
    return read<std::vector<std::string>>([&] { return inner_->not_owned(owner, blobs); });
  }
  Result<StudyPage> awaiting_approval(std::int64_t after, std::int64_t limit) override {
    return read<StudyPage>([&] { return inner_->awaiting_approval(after, limit); });
  }
  Result<bool> project_references(const std::string& project, const std::string& sha256) override {
    return read<bool>([&] { return inner_->project_references(project, sha256); });
  }
  Result<Usage> usage(const std::string& owner) override {
    return read<Usage>([&] { return inner_->usage(owner); });
  }
  Result<Outbox> outbox(std::int64_t now) override {
    auto box = inner_->outbox(now);
    std::function<void()> after;
    {
      const std::lock_guard lock(mutex_);
      after.swap(after_outbox_);
    }
    if (after) after();
    return box;
  }
  Result<std::optional<std::string>> webhook_secret(const std::string& owner) override {
    return read<std::optional<std::string>>([&] { return inner_->webhook_secret(owner); });
  }
  Result<std::int64_t> kept_time() override {
    return read<std::int64_t>([this] { return inner_->kept_time(); });
  }
  Result<AuditSize> audit_size() override {
    return read<AuditSize>([this] { return inner_->audit_size(); });
  }
  Result<std::vector<AuditEntry>> audit(std::int64_t after, std::int64_t limit) override {
    return read<std::vector<AuditEntry>>([&] { return inner_->audit(after, limit); });
  }

 private:
  static Error failure() { return {"storage_unavailable", "A test made storage fail: go on."}; }

  Fault next_fault() {
    const std::lock_guard lock(mutex_);
    ++batches_;
    if (script_.empty()) return Pass{};
    Fault fault = std::move(script_.front());
    script_.pop_front();
    return fault;
  }

  bool is_full() const {
    const std::lock_guard lock(mutex_);
    return full_;
  }

  void hold() {
    std::unique_lock lock(mutex_);
    held_ = true;
    released_.notify_all();
    released_.wait_for(lock, kTestLimit, [this] { return releases_ > 0; });
    if (releases_ > 0) --releases_;
    held_ = false;
  }

  Result<std::vector<Outcome>> apply_others(std::span<const Transition> batch,
                                            const Conflict& conflict) {
    std::vector<Transition> others;
    for (std::size_t place = 0; place < batch.size(); ++place) {
      if (!conflict.places.contains(place)) others.push_back(batch[place]);
    }
    TRY(auto applied, inner_->apply(others));
    std::vector<Outcome> outcomes;
    auto next = applied.begin();
    for (std::size_t place = 0; place < batch.size(); ++place) {
      if (conflict.places.contains(place)) {
        outcomes.emplace_back().applied = Applied::conflict;
      } else {
        outcomes.push_back(*next++);
      }
    }
    return outcomes;
  }

  template <typename T, typename Function>
  Result<T> read(Function function) {
    {
      std::unique_lock lock(mutex_);
      if (failing_reads_ > 0) {
        --failing_reads_;
        return failure();
      }
      if (hold_reads_) {
        ++held_reads_;
        released_.notify_all();
        released_.wait_for(lock, kTestLimit, [this] { return !hold_reads_; });
        --held_reads_;
      }
    }
    return function();
  }

  const std::unique_ptr<Storage> inner_;
  const Sleep sleep_;
  mutable std::mutex mutex_;
  std::condition_variable released_;
  std::deque<Fault> script_;  // under mutex_, like the next members
  std::function<void()> after_outbox_;
  int failing_reads_ = 0;
  int releases_ = 0;
  int batches_ = 0;
  bool held_ = false;
  bool full_ = false;
  bool hold_reads_ = false;
  int held_reads_ = 0;
};

}  // namespace hyperflock::storage
