// The dispatcher's monotonic time, in milliseconds since an arbitrary start. It is not the time of
// day (R24).
#pragma once

#include <cstdint>

namespace hyperflock {

using Millis = std::int64_t;

inline constexpr Millis kMinuteMs = 60'000;
inline constexpr Millis kHourMs = 60 * kMinuteMs;
inline constexpr Millis kDayMs = 24 * kHourMs;

struct Instant {
  Millis ms = 0;
  auto operator<=>(const Instant&) const = default;
  friend Instant operator+(Instant at, Millis delta) { return Instant{at.ms + delta}; }
  friend Millis operator-(Instant a, Instant b) { return a.ms - b.ms; }
};

}  // namespace hyperflock
