#include "telemetry/allowance.h"

#include <algorithm>
#include <utility>

namespace hyperflock::telemetry {

// Each one takes `every_ms` of time. The allowance is the time from `empty_at_` to now, at most
// that of `burst`.
std::optional<std::int64_t> Allowance::admit(Instant now) {
  const std::lock_guard lock(mutex_);
  const Millis earliest = now.ms - burst_ * every_ms_;
  const Millis from = std::max(empty_at_.value_or(earliest), earliest);
  if (from + every_ms_ > now.ms) {
    ++left_out_;
    return std::nullopt;
  }
  empty_at_ = from + every_ms_;
  return std::exchange(left_out_, 0);
}

}  // namespace hyperflock::telemetry
