// Decides whose task runs next. Each caller has a queue of its own, and the queues take turns, so a
// caller with thousands of waiting tasks delays another caller's task by at most the tasks that run
// now and one task of each caller that waits. Pure: it starts no thread and reads no clock.
//
//   FairQueue<Task> queue(limits);
//   queue.add("person 3", task);
//   while (auto next = queue.take()) { run(next->task); queue.done(next->caller); }
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace hyperflock::hub {

struct FairLimits {
  std::size_t running_per_caller = 1;
  std::size_t waiting_per_caller = 256;
  std::size_t waiting = 8'192;  // of all callers
};

enum class Added {
  yes,
  caller_full,  // too many tasks of this caller wait
  full,         // too many tasks wait
};

template <typename Task>
class FairQueue {
 public:
  explicit FairQueue(const FairLimits& limits) : limits_(limits) {}

  Added add(const std::string& caller, Task task) {
    if (waiting_ >= limits_.waiting) return Added::full;
    const auto [found, is_new] = callers_.try_emplace(caller);
    Caller& one = found->second;
    if (one.tasks.size() >= limits_.waiting_per_caller) {
      if (is_new) callers_.erase(found);
      return Added::caller_full;
    }
    one.tasks.push_back(std::move(task));
    ++waiting_;
    give_turn(caller, one);
    return Added::yes;
  }

  struct Taken {
    std::string caller;
    Task task;
  };
  // Returns the next task; nullopt if none waits, or if every caller with a waiting task has as
  // many running ones as allowed. Call done() when the task has run.
  std::optional<Taken> take() {
    if (turns_.empty()) return std::nullopt;
    std::string caller = std::move(turns_.front());
    turns_.pop_front();
    Caller& one = callers_.at(caller);
    one.has_turn = false;
    Task task = std::move(one.tasks.front());
    one.tasks.pop_front();
    --waiting_;
    ++one.running;
    give_turn(caller, one);
    return Taken{std::move(caller), std::move(task)};
  }

  // Says that a task that take() returned has ended.
  void done(const std::string& caller) {
    const auto found = callers_.find(caller);
    --found->second.running;
    give_turn(caller, found->second);
    if (found->second.running == 0 && found->second.tasks.empty()) callers_.erase(found);
  }

  // Returns whether take() would return a task.
  bool ready() const { return !turns_.empty(); }
  std::size_t waiting() const { return waiting_; }
  // Returns how many callers have a task that waits or runs.
  std::size_t callers() const { return callers_.size(); }

  // Forgets the waiting tasks and returns them.
  std::deque<Task> clear() {
    std::deque<Task> dropped;
    for (auto& [caller, one] : callers_) {
      for (Task& task : one.tasks) dropped.push_back(std::move(task));
      one.tasks.clear();
      one.has_turn = false;
    }
    std::erase_if(callers_, [](const auto& entry) { return entry.second.running == 0; });
    turns_.clear();
    waiting_ = 0;
    return dropped;
  }

 private:
  struct Caller {
    std::deque<Task> tasks;
    std::size_t running = 0;
    bool has_turn = false;  // is in turns_
  };

  void give_turn(const std::string& caller, Caller& one) {
    if (one.has_turn || one.tasks.empty() || one.running >= limits_.running_per_caller) return;
    one.has_turn = true;
    turns_.push_back(caller);
  }

  const FairLimits limits_;
  std::unordered_map<std::string, Caller> callers_;
  std::deque<std::string> turns_;  // callers that may run a task, the next one first
  std::size_t waiting_ = 0;
};

}  // namespace hyperflock::hub
