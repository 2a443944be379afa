// A few threads that may block: on database reads, on files, on hashing. The queue is bounded.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace hyperflock::hub {

class ReaderPool {
 public:
  ReaderPool(std::size_t threads, std::size_t queue_limit);
  ~ReaderPool();
  ReaderPool(const ReaderPool&) = delete;
  ReaderPool& operator=(const ReaderPool&) = delete;

  // Any thread. False when the queue is full or the pool has stopped: the task will not run.
  [[nodiscard]] bool post(std::function<void()> task);

  // Ends what runs, drops what waits. Idempotent.
  void stop();

 private:
  void run();

  const std::size_t queue_limit_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace hyperflock::hub
