// The slowest pace that is allowed. The time limit of a transfer (a request's body, a message, an
// answer) is a grace, plus one second for each `bytes_per_s` bytes of it that have moved. So its
// whole time is limited by its size, a peer that sends one byte now and then is cut soon, and a
// slow line passes. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/instant.h"

namespace hyperflock::net {

struct Pace {
  Millis grace_ms = 30'000;
  // Less than the slowest lines of 2G (GPRS with one slot, about 1.2 KiB/s) carry.
  std::uint64_t bytes_per_s = 1'024;

  // Returns the longest time for a transfer of which `bytes` have moved.
  Millis limit_ms(std::uint64_t bytes) const {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max() / 1'000;
    return grace_ms + static_cast<Millis>(std::min(bytes, kMost) * 1'000 / bytes_per_s);
  }
};

class PacedTransfer {
 public:
  PacedTransfer(const Pace& pace, Instant start) : pace_(pace), start_(start) {}

  void moved(std::uint64_t bytes) { bytes_ += bytes; }
  // Returns the time that is left; 0 if it is over.
  Millis left_ms(Instant now) const {
    return std::max<Millis>(0, pace_.limit_ms(bytes_) - (now - start_));
  }

 private:
  Pace pace_;
  Instant start_;
  std::uint64_t bytes_ = 0;
};

}  // namespace hyperflock::net
