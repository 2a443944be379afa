// The server's time for everything that ends, deletes or hides something: tokens, codes, the audit
// log, deliveries. A wrong clock of the machine cannot fool it.
//
//   TrustedTime time({wall, steady}, kept, AtStart::be_careful);
//   time.now({wall, steady});
//
// It never goes back, not even at a restart: the database keeps the largest time that was
// committed (storage::Storage::kept_time). While the server runs, it follows the machine's wall
// clock, but its speed is at least half and at most twice that of a steady clock. So a wall clock
// that jumps forward by years for an hour makes nothing end more than an hour too early, and one
// that is set back makes nothing live longer than twice its time.
//
// After a start there is no steady clock to compare with, since the machine may have been off. A
// wall clock before the kept time is not believed. Nor is one that is more than kLongestRestMs
// after it, unless the operator says that it is right (--trust-clock).
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "storage/storage.h"

namespace hyperflock::auth {

// What the machine's clocks show, in milliseconds. `steady` also counts while the machine sleeps.
struct ClockReading {
  std::int64_t wall = 0;
  std::int64_t steady = 0;
};

// What a start does if the wall clock is more than kLongestRestMs after the kept time: it begins at
// the kept time (be_careful), or believes the wall clock (trust_wall).
enum class AtStart { be_careful, trust_wall };

inline constexpr std::int64_t kLongestRestMs = std::int64_t{90} * 24 * 3'600'000;
// If the wall clock and the server's time differ by more than this, the operator is told.
inline constexpr std::int64_t kJumpMs = 3'600'000;

// A jump of the wall clock: what it shows, and the server's time at the same moment.
struct ClockJump {
  std::int64_t wall = 0;
  std::int64_t trusted = 0;
  bool operator==(const ClockJump&) const = default;
};

// Pure. Not thread-safe.
class TrustedTime {
 public:
  // `kept` is the largest time that was committed before a restart, or 0 if there is none.
  TrustedTime(ClockReading at, std::int64_t kept, AtStart at_start);

  std::int64_t now(ClockReading at);
  // Returns a jump if the two times differ by more than kJumpMs. Then returns none until they have
  // differed by at most half of kJumpMs.
  std::optional<ClockJump> take_jump(ClockReading at);

 private:
  ClockReading anchor_;      // `wall` is the trusted time at `steady`
  std::int64_t newest_ = 0;  // the largest time that was returned
  bool reported_ = false;
};

// TrustedTime on this machine's clocks. Any thread.
class TrustedClock {
 public:
  // Uses the wall clock as it is until begin().
  TrustedClock() : time_(read_clocks(), 0, AtStart::trust_wall) {}

  // Continues from the time that the database has kept.
  void begin(std::int64_t kept, AtStart at_start);
  std::int64_t now();
  std::optional<ClockJump> take_jump();

  static ClockReading read_clocks();

 private:
  std::mutex mutex_;
  TrustedTime time_;
};

}  // namespace hyperflock::auth
