// Finds out whether the server's threads still work. The main thread asks them regularly, and each
// thread answers. Only if all of them have answered, the main thread notifies the service manager's
// watchdog. A thread that hangs (a deadlock, a handler that never returns) does not answer.
#pragma once

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/instant.h"

namespace hyperflock::app {

// Any thread.
class Liveness {
 public:
  explicit Liveness(std::size_t threads) : answers_(threads) {}

  // Asks all threads. Returns the number of the question.
  std::uint64_t ask() { return ++asked_; }
  std::uint64_t question() const { return asked_; }
  void answer(std::size_t thread, std::uint64_t question) { answers_[thread] = question; }
  // Returns whether every thread has answered the last question.
  bool all_answered() const {
    return std::ranges::all_of(answers_, [this](const auto& answer) { return answer == asked_; });
  }

 private:
  std::atomic<std::uint64_t> asked_{0};
  std::vector<std::atomic<std::uint64_t>> answers_;
};

// Runs handlers until the context is stopped, and answers between two of them, at least once in
// `answer_ms` while no handler takes longer.
inline void run_answering(boost::asio::io_context& io, Liveness& liveness, std::size_t thread,
                          Millis answer_ms) {
  while (!io.stopped()) {
    io.run_for(std::chrono::milliseconds(answer_ms));
    liveness.answer(thread, liveness.question());
  }
}

}  // namespace hyperflock::app
