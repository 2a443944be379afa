// The machine's monotonic clock as an Instant. Any thread.
#pragma once

#include <chrono>

#include "base/instant.h"

namespace hyperflock {

inline Instant steady_now() {
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return Instant{std::chrono::duration_cast<std::chrono::milliseconds>(since_start).count()};
}

}  // namespace hyperflock
