// How much of the devices' time researchers and projects are charged for (R70). Constants and pure
// functions.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/instant.h"

namespace hyperflock::dispatch {

// An attempt is charged in advance for this long, at its lease and whenever that time is over. What
// it did not use is given back at its end.
inline constexpr Millis kPrepaidMs = 60'000;
// An attempt is charged for at least this long, because its lease and its files cost time, too.
inline constexpr Millis kLeastChargedMs = 1'000;
// Nobody's running attempts are charged for more than this time of the whole pool in advance of the
// others. So whoever held most devices, for lack of others, is not made to wait for as long.
inline constexpr Millis kMostLeadMs = 600'000;
// How much further a researcher may be served than the next one, so that a device stays with a
// study whose files it has.
inline constexpr Millis kLocalityMs = 300'000;
// Virtual time is time of devices, multiplied by this and divided by the weight.
inline constexpr std::int64_t kVirtualScale = 1'000;

inline std::int64_t cost_of(Millis device_ms, std::int64_t weight) {
  return device_ms * kVirtualScale / weight;
}

// Charges `served` for a lease. Whoever had nothing to lease before is taken to be at most `slack`
// behind the virtual time of the pool, which is what those had been served who were next. If this
// one was next, the virtual time moves on.
inline void serve_next(std::int64_t& virtual_time, std::int64_t& served, std::int64_t cost,
                       std::int64_t slack, bool was_next) {
  served = std::max(served, virtual_time - slack);
  if (was_next) virtual_time = std::max(virtual_time, served);
  served += cost;
}

// Returns the slack, as time of devices, in a pool of so many running attempts: what they are
// charged for in advance and may get back.
inline Millis slack_ms(std::int64_t running) { return kPrepaidMs * running; }

// Returns for how much longer an attempt that ends now was charged than it ran. Negative: it ran
// for longer.
inline Millis unused_ms(Instant leased, Instant paid_until, Instant now) {
  return paid_until - std::max(now, leased + kLeastChargedMs);
}

}  // namespace hyperflock::dispatch
