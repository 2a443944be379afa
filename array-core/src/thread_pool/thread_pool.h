// Threads that share out the parts of one task at a time. A task is a number of parts that may be
// computed in any order, each by one thread; the caller takes parts too, and run() returns when all
// are done. Helpers sleep between tasks.
//
//   caller   set task -> open -> take parts ... -> close -> wait until nobody is inside
//   helper   sleep -> enter -> open? take parts ... -> leave
//
// A helper that wakes too late finds the task closed and touches nothing of it. Entering and
// closing are sequentially consistent: either the helper sees that the task is closed, or the
// caller sees that the helper is inside.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/result.h"

namespace arraycore {

class ThreadPool {
 public:
  // One part. Runs on any thread, at the same time as others, so that no part writes what another
  // one reads or writes; allocates nothing. `thread` is 0 for the caller, else the helper's number:
  // at any time one part runs for each.
  using Part = void (*)(void* task, std::int64_t part, int thread);

  static constexpr int kMaxThreads = 16;

  // The caller and the helpers that have come to serve. Any thread.
  int threads() const { return 1 + helpers_.load(std::memory_order_acquire); }

  // Runs parts 0 to parts - 1 by threads 0 to threads - 1: what each of them needs is there,
  // however many have come since. One caller at a time; a part may not run a task itself. False
  // when a helper took a part and has not come back for `kPatienceMs`: the result is not whole, and
  // the thread pool has no helpers from then on. REQUIRES: 0 <= parts < 2^31.
  bool run(Part part, void* task, std::int64_t parts, int threads);

  // A helper's life, on its own thread: takes parts until end(). `thread` is from 1 to
  // kMaxThreads - 1, and its own. Allocates nothing.
  void serve(int thread);

  // Sends the helpers home: their serve() returns soon. The caller's thread.
  void end();

  static constexpr int kPatienceMs = 20'000;
  // What a caller says when run() gave false: device, "thread_lost".
  static Error lost();

 private:
  void take_parts(int thread);

  std::atomic<std::uint32_t> turn_ = 0;  // odd: a task is open
  std::atomic<std::uint32_t> inside_ = 0;
  std::atomic<std::uint32_t> next_ = 0;
  std::atomic<int> helpers_ = 0;
  std::atomic<bool> ends_ = false;
  // Of the open task; written while none is open and nobody is inside.
  Part part_ = nullptr;
  void* task_ = nullptr;
  std::uint32_t parts_ = 0;
  int threads_ = 0;
};

// The thread pool of this process, or of this module's memory. Without helpers it is the caller
// alone.
ThreadPool& thread_pool();

}  // namespace arraycore
