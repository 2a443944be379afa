#include "hub/group_commit.h"

#include <chrono>
#include <iterator>
#include <string>
#include <utility>

#include "protocol/names.h"
#include "storage/reserve.h"
#include "telemetry/log.h"

namespace hyperflock::hub {

using telemetry::Counter;
using telemetry::Gauge;
using telemetry::Histogram;

namespace {

// Returns the ids of the requests that caused a batch, in order and with spaces between them. A
// batch may have hundreds, and the log line must stay short.
std::string requests_of(const std::vector<CommitItem>& items) {
  constexpr std::size_t kMost = 8;
  std::string ids;
  std::size_t count = 0;
  telemetry::RequestContext last;
  for (const CommitItem& item : items) {
    if (!item.request || item.request == std::exchange(last, item.request)) continue;
    if (++count > kMost) return ids + " …";
    ids += (ids.empty() ? "" : " ") + item.request.id();
  }
  return ids;
}

}  // namespace

class GroupCommit::Busy {
 public:
  explicit Busy(GroupCommit& writer) : writer_(writer) {
    writer_.busy_since_ = std::chrono::steady_clock::now().time_since_epoch().count();
  }
  ~Busy() { writer_.busy_since_ = 0; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  GroupCommit& writer_;
};

GroupCommit::GroupCommit(storage::Storage& storage, telemetry::Metrics& metrics,
                         std::size_t batch_limit, std::function<void(CommitDone)> done,
                         FullDisk disk, telemetry::Tracer* tracer)
    : storage_(storage),
      metrics_(metrics),
      batch_limit_(batch_limit),
      done_(std::move(done)),
      disk_(std::move(disk)),
      full_(disk_.starts_full),
      thread_() {
  if (tracer != nullptr) spans_.emplace(*tracer);
  thread_ = std::thread([this] { run(); });
}

GroupCommit::~GroupCommit() { stop(); }

void GroupCommit::push(std::vector<CommitGroup>& groups) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) waits_since_ = std::chrono::steady_clock::now();
    for (CommitGroup& group : groups) {
      count_waiting(std::ssize(group));
      waiting_.push_back(std::move(group));
    }
  }
  groups.clear();
  wake_.notify_one();
}

std::vector<CommitItem> GroupCommit::resume() {
  std::vector<CommitItem> unwritten;
  const std::lock_guard lock(mutex_);
  if (!halted_) return unwritten;
  for (CommitGroup& group : waiting_) {
    count_waiting(-std::ssize(group));
    unwritten.insert(unwritten.end(), std::make_move_iterator(group.begin()),
                     std::make_move_iterator(group.end()));
  }
  waiting_.clear();
  halted_ = false;
  return unwritten;
}

void GroupCommit::leave_full() {
  const std::lock_guard lock(mutex_);
  full_ = false;
}

void GroupCommit::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

bool GroupCommit::hangs(Millis at_least) const {
  using Clock = std::chrono::steady_clock;
  const Clock::duration since(busy_since_);
  if (since == Clock::duration::zero()) return false;
  return Clock::now().time_since_epoch() - since >= std::chrono::milliseconds(at_least);
}

void GroupCommit::count_waiting(std::ptrdiff_t more) {
  metrics_.change(Gauge::commit_backlog, static_cast<double>(more));
}

std::vector<CommitItem> GroupCommit::take_batch() {
  std::vector<CommitItem> batch;
  // On a full disk each group is a batch of its own, so that only groups that may not use the
  // reserve fail.
  const std::size_t limit = full_ ? 1 : batch_limit_;
  while (!waiting_.empty() && batch.size() < limit) {
    CommitGroup& group = waiting_.front();
    batch.insert(batch.end(), std::make_move_iterator(group.begin()),
                 std::make_move_iterator(group.end()));
    waiting_.pop_front();
  }
  count_waiting(-std::ssize(batch));
  // What stays is newer than what was taken, but its own time is not known.
  const auto now = std::chrono::steady_clock::now();
  metrics_.observe(Histogram::commit_wait_seconds,
                   std::chrono::duration<double>(now - std::exchange(waits_since_, now)).count());
  return batch;
}

void GroupCommit::count(const CommitDone& batch, double seconds) {
  const auto& outcomes = *batch.outcomes;
  metrics_.count(Counter::commits);
  metrics_.observe(Histogram::commit_transitions, static_cast<double>(outcomes.size()));
  metrics_.observe(Histogram::commit_seconds, seconds);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const storage::Transition& transition = batch.items[i].transition;
    if (outcomes[i].applied != storage::Applied::applied) continue;
    if (std::holds_alternative<storage::StartAttempt>(transition))
      metrics_.count(Counter::attempts_leased);
    if (const auto* ended = std::get_if<storage::EndAttempt>(&transition); ended && ended->failure)
      metrics_.count(Counter::attempts_failed, protocol::name_of(ended->failure->cause));
    if (outcomes[i].seq == 0) continue;
    if (const auto* stored = std::get_if<storage::StoreResult>(&transition)) {
      metrics_.count(Counter::trials_finished, protocol::name_of(stored->result.outcome));
    } else if (std::holds_alternative<storage::FailTrial>(transition)) {
      metrics_.count(Counter::trials_finished, "failed");
    }
  }
}

void GroupCommit::trace(const CommitDone& batch, std::span<const storage::Transition> transitions,
                        std::int64_t start_ns) {
  std::vector<telemetry::RequestContext> requests;
  requests.reserve(batch.items.size());
  for (const CommitItem& item : batch.items) requests.push_back(item.request);
  spans_->note(transitions, requests, batch.outcomes, start_ns);
}

void GroupCommit::write(CommitDone& batch, std::span<const storage::Transition> transitions) {
  const bool may_write = storage::may_use_reserve(transitions);
  if (batch.full && !may_write) {
    batch.outcomes = Error{storage::kStorageFull, "The disk is full: free disk space."};
    return;
  }
  const Busy busy(*this);
  batch.outcomes = storage_.apply(transitions);
  const bool found_full = !batch.outcomes && batch.outcomes.error().code == storage::kStorageFull;
  if (!found_full || batch.full) return;
  batch.full = true;
  disk_.release();
  if (may_write) batch.outcomes = storage_.apply(transitions);
}

void GroupCommit::run() {
  // After this time without a commit, the writer does housekeeping.
  constexpr std::chrono::milliseconds kQuiet(100);
  bool tidy_later = false;
  std::vector<storage::Transition> transitions;
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto due = [this] { return stopped_ || (!halted_ && !waiting_.empty()); };
    if (tidy_later && !wake_.wait_for(lock, kQuiet, due)) {
      tidy_later = false;
      lock.unlock();
      {
        const Busy busy(*this);
        storage_.idle();
        disk_.reusable(storage_.reusable_bytes());
      }
      lock.lock();
    }
    wake_.wait(lock, due);
    if (halted_ || waiting_.empty()) return;  // stopped, and nothing more can be written
    CommitDone batch{.items = take_batch(), .full = full_};
    lock.unlock();

    // Storage takes the transitions as one array. Afterwards they are moved back to their items.
    transitions.clear();
    for (CommitItem& item : batch.items) transitions.push_back(std::move(item.transition));
    const std::int64_t start_ns = spans_ ? telemetry::wall_ns() : 0;
    const auto start = std::chrono::steady_clock::now();
    write(batch, transitions);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (spans_) trace(batch, transitions, start_ns);
    for (std::size_t i = 0; i < transitions.size(); ++i)
      batch.items[i].transition = std::move(transitions[i]);
    if (batch.outcomes) {
      count(batch, spent.count());
    } else {
      metrics_.count(Counter::commit_failures, batch.outcomes.error().code);
      telemetry::log(telemetry::LogLevel::error, "commit_failed",
                     {{"code", batch.outcomes.error().code},
                      {"reason", batch.outcomes.error().message},
                      {"transitions", batch.items.size()},
                      {"requests", requests_of(batch.items)}});
    }

    tidy_later = batch.outcomes.has_value();
    lock.lock();
    full_ = batch.full;
    if (!batch.outcomes) {
      // Waiting transitions may depend on those that were not written, so they fail too.
      halted_ = true;
      for (CommitGroup& group : waiting_) {
        count_waiting(-std::ssize(group));
        batch.items.insert(batch.items.end(), std::make_move_iterator(group.begin()),
                           std::make_move_iterator(group.end()));
      }
      waiting_.clear();
    }
    lock.unlock();
    done_(std::move(batch));
    lock.lock();
  }
}

}  // namespace hyperflock::hub
