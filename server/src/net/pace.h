// The slowest transfers that are allowed. The time limit of a transfer (a request's body, a
// message, an answer) is a grace period, plus one second for each `bytes_per_s` bytes that have
// moved. So the size of a transfer limits its whole time. A peer that sends one byte now and then
// is soon cut off; a slow but steady peer is not. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/instant.h"

namespace hyperflock::net {

struct Pace {
  Millis grace_ms = 30'000;
  // The slowest 2G connections are a little faster: GPRS with one slot carries about 1.2 KiB/s.
  std::uint64_t bytes_per_s = 1'024;

  // Returns the time limit of a transfer of which `bytes` have moved so far.
  Millis limit_ms(std::uint64_t bytes) const {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max() / 1'000;
    return grace_ms + static_cast<Millis>(std::min(bytes, kMost) * 1'000 / bytes_per_s);
  }
};

class PacedTransfer {
 public:
  PacedTransfer(const Pace& pace, Instant start) : pace_(pace), start_(start) {}

  void moved(std::uint64_t bytes) { bytes_ += bytes; }
  // Returns the time that is left until the limit; 0 after the limit.
  Millis left_ms(Instant now) const {
    return std::max<Millis>(0, pace_.limit_ms(bytes_) - (now - start_));
  }

 private:
  Pace pace_;
  Instant start_;
  std::uint64_t bytes_ = 0;
};

}  // namespace hyperflock::net
