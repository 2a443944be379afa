// A pool of threads that compute the parts of one task at a time. A task is a number of parts that
// may be computed in any order, each by one thread. The caller computes parts too, and run()
// returns when all parts are done. The other threads are helpers; they sleep between tasks.
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
  // Computes one part. It runs on any thread, while other parts run on other threads, so a part
  // must not write what another part reads or writes. It allocates nothing. `thread` is 0 for the
  // caller and the helper's number for a helper; at any time each number runs at most one part.
  using Part = void (*)(void* task, std::int64_t part, int thread);

  static constexpr int kMaxThreads = 16;

  // Returns the number of threads: the caller and the helpers that serve. Any thread may call it.
  int threads() const { return 1 + helpers_.load(std::memory_order_acquire); }

  // Runs the parts 0 to parts - 1 on the threads 0 to threads - 1. Helpers with larger numbers get
  // none. One caller at a time; a part must not call run(). Returns false if a helper took a
  // part and did not finish it within `kPatienceMs`. Then the result is incomplete, and the pool
  // has no helpers any more. REQUIRES: 0 <= parts < 2^31.
  bool run(Part part, void* task, std::int64_t parts, int threads);

  // Makes the calling thread a helper, which takes parts until end() is called. `thread` is its
  // number, from 1 to kMaxThreads - 1, which no other helper has. Allocates nothing.
  void serve(int thread);

  // Ends all helpers: their serve() returns soon. Only the caller's thread may call it.
  void end();

  static constexpr int kPatienceMs = 20'000;
  // Returns the error of a caller whose run() returned false: device, "thread_lost".
  static Error lost();

 private:
  void take_parts(int thread);

  std::atomic<std::uint32_t> turn_ = 0;  // odd: a task is open
  std::atomic<std::uint32_t> inside_ = 0;
  std::atomic<std::uint32_t> next_ = 0;
  std::atomic<int> helpers_ = 0;
  std::atomic<bool> ends_ = false;
  // The open task. It is written only while no task is open and no helper is inside.
  Part part_ = nullptr;
  void* task_ = nullptr;
  std::uint32_t parts_ = 0;
  int threads_ = 0;
};

// Returns the thread pool of this process, or of this module's memory. Without helpers it consists
// of the caller.
ThreadPool& thread_pool();

}  // namespace arraycore
