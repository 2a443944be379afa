// The only writer of storage: a thread. While a commit runs, it collects transitions for the next
// one. An idle writer starts at once, so that batches add no wait. Under load the batches become
// larger.
//
// When storage finds the disk full, the writer releases the reserve and writes only what may use it
// (storage/reserve.h), until leave_full().
//
// push(), resume() and leave_full() may be called on any thread. `done` runs on the writer thread
// and must not block.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "base/instant.h"
#include "base/result.h"
#include "dispatch/event.h"
#include "hub/tracing/commit_spans.h"
#include "storage/storage.h"
#include "telemetry/metrics.h"
#include "telemetry/request_context.h"
#include "telemetry/tracer.h"

namespace hyperflock::hub {

// A transition of the dispatcher (with `id`) or of a site (`done` gets its outcome).
struct CommitItem {
  storage::Transition transition;
  dispatch::TransitionId id{};
  std::function<void(Result<storage::Outcome>)> done;
  // The request that caused it: that of the thread which makes the item.
  telemetry::RequestContext request = telemetry::current_request();
};
// Transitions that must be in one transaction, in order.
using CommitGroup = std::vector<CommitItem>;

struct CommitDone {
  std::vector<CommitItem> items;
  Result<std::vector<storage::Outcome>> outcomes = std::vector<storage::Outcome>();
  bool full = false;  // whether the disk is full
};

// What the writer needs for a full disk: whether the disk is full at the start, and callbacks.
struct FullDisk {
  bool starts_full = false;
  // Gives the reserve's bytes back to the disk. Runs on the writer thread.
  std::function<void()> release = [] {};
  // Is called after commits that may have freed pages of the database. Runs on the writer thread.
  std::function<void(std::int64_t)> reusable = [](std::int64_t) {};
};

class GroupCommit {
 public:
  // A batch takes whole groups until it has at least `batch_limit` transitions. Without a tracer,
  // commits have no spans.
  GroupCommit(storage::Storage& storage, telemetry::Metrics& metrics, std::size_t batch_limit,
              std::function<void(CommitDone)> done, FullDisk disk = {},
              telemetry::Tracer* tracer = nullptr);
  ~GroupCommit();
  GroupCommit(const GroupCommit&) = delete;
  GroupCommit& operator=(const GroupCommit&) = delete;

  // Queues every group for a commit, and leaves `groups` empty.
  void push(std::vector<CommitGroup>& groups);

  // Continues after a failed batch. At the failure, `done` got the items of the batch and all items
  // that waited. Returns the items that were pushed since then, which are not written either.
  std::vector<CommitItem> resume();

  // Ends the state in which only what may use the reserve is written, because the disk has room.
  // Call it only while nothing waits.
  void leave_full();

  // Commits the waiting groups and ends the thread. Further calls do nothing.
  void stop();

  // Returns whether the storage has not returned for at least this time. Any thread.
  bool hangs(Millis at_least) const;

 private:
  // While it lives, the writer is in the storage.
  class Busy;

  void run();
  std::vector<CommitItem> take_batch();
  void count_waiting(std::ptrdiff_t more);
  void write(CommitDone& batch, std::span<const storage::Transition> transitions);
  void count(const CommitDone& batch, double seconds);
  void trace(const CommitDone& batch, std::span<const storage::Transition> transitions,
             std::int64_t start_ns);

  storage::Storage& storage_;
  telemetry::Metrics& metrics_;
  const std::size_t batch_limit_;
  const std::function<void(CommitDone)> done_;
  const FullDisk disk_;
  std::optional<CommitSpans> spans_;  // the writer thread's

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<CommitGroup> waiting_;
  std::chrono::steady_clock::time_point waits_since_{};  // the first of waiting_
  bool full_ = false;
  bool halted_ = false;
  bool stopped_ = false;
  std::atomic<std::chrono::steady_clock::rep> busy_since_{0};  // 0: it is not in the storage
  std::thread thread_;  // last, because it uses the members above
};

}  // namespace hyperflock::hub
