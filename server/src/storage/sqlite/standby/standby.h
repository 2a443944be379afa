// What a standby of the database is, for those who configure and watch it.
//
// The standby is a second database file to which the writer ships the pages that its commits
// change, a fifth of a second after the first of them. Each shipment is one transaction of SQLite,
// so the standby always has the state after some commit, also if this process or its machine ends
// in the middle.
//
// While the standby is current, no commit is acknowledged as long as the standby misses a commit
// that began more than kHoldMs before. So whenever the server is lost, what the standby misses of
// the acknowledged work is at most that old. If the standby cannot be written for kPatienceMs, it
// counts as behind: commits do not wait for it any more, until it is current again.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"

namespace hyperflock::storage {

inline constexpr std::chrono::milliseconds kShipEvery{200};
inline constexpr std::chrono::milliseconds kHold{500};
inline constexpr std::chrono::milliseconds kPatience{10'000};

// What the standby is doing. Any thread.
class StandbyStatus {
 public:
  using Clock = std::chrono::steady_clock;

  bool current() const { return current_; }
  // Returns the age of the oldest commit that the standby misses; 0 if it misses none.
  std::chrono::duration<double> lag() const {
    const std::lock_guard lock(mutex_);
    if (!missing_since_) return {};
    return Clock::now() - *missing_since_;
  }

  void set_current(bool current) { current_ = current; }
  void set_missing_since(std::optional<Clock::time_point> since) {
    const std::lock_guard lock(mutex_);
    missing_since_ = since;
  }

 private:
  std::atomic<bool> current_{false};
  mutable std::mutex mutex_;
  std::optional<Clock::time_point> missing_since_;
};

struct StandbyTarget {
  std::string database;  // the path of the standby's file
  // Prepares the folder of the file. An error makes the standby wait for the next try. Runs on the
  // shipping thread.
  std::function<Status()> prepare = [] { return Status(); };
  // Returns whether the file has a whole state.
  std::function<bool()> is_complete = [] { return false; };
  // Is called when it has one.
  std::function<Status()> complete = [] { return Status(); };
  // Is called when the standby falls behind, and when it is current again. Any thread.
  std::function<void(const Error&)> behind = [](const Error&) {};
  std::function<void()> caught_up = [] {};
  std::chrono::milliseconds retry{10'000};
  std::shared_ptr<StandbyStatus> status = std::make_shared<StandbyStatus>();
};

}  // namespace hyperflock::storage
