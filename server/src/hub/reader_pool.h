// A few threads for work that may block: reading the database and files, and hashing. The queue has
// a limit.
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

  // Runs the task on one of the threads. Returns false if the queue is full or the pool has
  // stopped; the task does not run then. Any thread.
  [[nodiscard]] bool post(std::function<void()> task);

  // Finishes running tasks and drops waiting ones. Further calls do nothing.
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
