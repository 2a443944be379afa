// A Host for native threads, which sleep and wake each other with a condition variable. Any thread
// may use it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "ring/host.h"

namespace arraycore::ring {

class ThreadHost : public Host {
 public:
  WaitResult wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                  std::uint32_t timeout_ms) override {
    std::unique_lock lock(mutex_);
    const bool changed = changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                                           [&] { return word.load() != expected; });
    return changed ? WaitResult::woken : WaitResult::timed_out;
  }
  void wake(std::atomic<std::uint32_t>& /*word*/) override {
    // A waiting thread may have checked the word but not begun to sleep. It holds the lock until it
    // sleeps, so taking the lock here ensures that it does not miss the wake-up.
    {
      const std::lock_guard lock(mutex_);
    }
    changed_.notify_all();
  }
  void post_wake_message() override { ++messages_; }
  std::uint64_t now_ms() override {
    using std::chrono::duration_cast, std::chrono::milliseconds, std::chrono::steady_clock;
    return static_cast<std::uint64_t>(
        duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count());
  }
  std::uint32_t messages() const { return messages_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<std::uint32_t> messages_{0};
};

}  // namespace arraycore::ring
