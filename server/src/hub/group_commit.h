// The only writer of storage: a thread. While a commit runs, it collects transitions for the next
// one. An idle writer starts at once, so a batch costs no waiting. Under load the batches become
// larger.
//
// push() and resume() may be called on any thread. `done` runs on the writer thread and must not
// block.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/result.h"
#include "dispatch/event.h"
#include "storage/storage.h"
#include "telemetry/metrics.h"

namespace hyperflock::hub {

// A transition of the dispatcher (with `id`) or of a site (`done` gets its outcome).
struct CommitItem {
  storage::Transition transition;
  dispatch::TransitionId id{};
  std::function<void(Result<storage::Outcome>)> done;
};
// Transitions that must be in one transaction, in order.
using CommitGroup = std::vector<CommitItem>;

struct CommitDone {
  std::vector<CommitItem> items;
  Result<std::vector<storage::Outcome>> outcomes = std::vector<storage::Outcome>();
};

class GroupCommit {
 public:
  // A batch takes whole groups until it has at least `batch_limit` transitions.
  GroupCommit(storage::Storage& storage, telemetry::Metrics& metrics, std::size_t batch_limit,
              std::function<void(CommitDone)> done);
  ~GroupCommit();
  GroupCommit(const GroupCommit&) = delete;
  GroupCommit& operator=(const GroupCommit&) = delete;

  // Queues every group for a commit, and leaves `groups` empty.
  void push(std::vector<CommitGroup>& groups);

  // Continues after a failed batch. At the failure, `done` got the items of the batch and all items
  // that waited. Returns the items that were pushed since then, which are not written either.
  std::vector<CommitItem> resume();

  // Commits the waiting groups and ends the thread. Further calls do nothing.
  void stop();

 private:
  void run();
  std::vector<CommitItem> take_batch();
  void count(const CommitDone& batch, double seconds);

  storage::Storage& storage_;
  telemetry::Metrics& metrics_;
  const std::size_t batch_limit_;
  const std::function<void(CommitDone)> done_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<CommitGroup> waiting_;
  bool halted_ = false;
  bool stopped_ = false;
  std::thread thread_;  // last, because it uses the members above
};

}  // namespace hyperflock::hub
