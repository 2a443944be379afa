// How long to wait before the next try: the time doubles with each failure up to a limit, and
// differs by up to a quarter, so that many that failed together do not try together again. One
// thread.
#pragma once

#include <algorithm>
#include <random>

#include "base/instant.h"

namespace hyperflock::hub {

class Backoff {
 public:
  Backoff(Millis first, Millis longest) : first_(first), longest_(longest) {}

  Millis next() {
    const int doublings = std::min(failures_++, 16);
    const Millis mean = std::min(longest_, first_ << doublings);
    return mean - mean / 4 + std::uniform_int_distribution<Millis>(0, mean / 2)(random_);
  }
  // Call it after a success.
  void reset() { failures_ = 0; }

 private:
  const Millis first_;
  const Millis longest_;
  int failures_ = 0;
  std::mt19937_64 random_{std::random_device{}()};
};

}  // namespace hyperflock::hub
