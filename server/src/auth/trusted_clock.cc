// See trusted_clock.h.
#include "auth/trusted_clock.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace hyperflock::auth {
namespace {

// The limits of the speed apply to the time that has passed since an anchor. The anchor moves to
// the present after at least this time. If it moved more often, rounding errors would add up.
constexpr std::int64_t kAnchorMs = 1'000;

std::int64_t first_time(std::int64_t wall, std::int64_t kept, AtStart at_start) {
  if (kept == 0 || at_start == AtStart::trust_wall) return std::max(wall, kept);
  return wall > kept + kLongestRestMs ? kept : std::max(wall, kept);
}

}  // namespace

TrustedTime::TrustedTime(ClockReading at, std::int64_t kept, AtStart at_start)
    : anchor_{first_time(at.wall, kept, at_start), at.steady}, newest_(anchor_.wall) {}

std::int64_t TrustedTime::now(ClockReading at) {
  const std::int64_t passed = std::max<std::int64_t>(at.steady - anchor_.steady, 0);
  newest_ =
      std::max(newest_, std::clamp(at.wall, anchor_.wall + passed / 2, anchor_.wall + 2 * passed));
  if (passed >= kAnchorMs) anchor_ = {newest_, at.steady};
  return newest_;
}

std::optional<ClockJump> TrustedTime::take_jump(ClockReading at) {
  const std::int64_t trusted = now(at);
  const std::int64_t apart = std::abs(at.wall - trusted);
  if (apart <= kJumpMs / 2) reported_ = false;
  if (apart <= kJumpMs || reported_) return std::nullopt;
  reported_ = true;
  return ClockJump{at.wall, trusted};
}

void TrustedClock::begin(std::int64_t kept, AtStart at_start) {
  const std::lock_guard lock(mutex_);
  time_ = TrustedTime(read_clocks(), kept, at_start);
}

std::int64_t TrustedClock::now() {
  const std::lock_guard lock(mutex_);
  return time_.now(read_clocks());
}

std::optional<ClockJump> TrustedClock::take_jump() {
  const std::lock_guard lock(mutex_);
  return time_.take_jump(read_clocks());
}

ClockReading TrustedClock::read_clocks() {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  ClockReading reading;
  reading.wall =
      duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
#ifdef CLOCK_BOOTTIME
  // Unlike std::chrono::steady_clock, CLOCK_BOOTTIME goes on while a laptop sleeps.
  timespec since_boot{};
  if (clock_gettime(CLOCK_BOOTTIME, &since_boot) == 0) {
    reading.steady = std::int64_t{since_boot.tv_sec} * 1'000 + since_boot.tv_nsec / 1'000'000;
    return reading;
  }
#endif
  reading.steady =
      duration_cast<milliseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
  return reading;
}

}  // namespace hyperflock::auth
