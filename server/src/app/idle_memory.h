// Gives memory back to the system after many connections have ended. The C library keeps freed
// memory of small objects, so the process would otherwise stay as large as a flood made it.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/instant.h"

namespace hyperflock::app {

// Decides when memory is given back. Pure; one thread at a time.
class IdleMemory {
 public:
  // Call it about once a second with the number of open connections, and with the most that were
  // open since the last call: a flood may be shorter than a second. Returns whether memory should
  // be given back now. That is so if at least kFew connections have ended, and either their number
  // has not changed for kQuietMs, or it has been that low for kLongMs.
  bool due(std::size_t open, std::size_t peak, Instant now) {
    if (open != last_) changed_ = now;
    last_ = open;
    most_ = std::max({most_, open, peak});
    if (most_ - open < kFew) {
      fewer_since_ = now;
      return false;
    }
    if (now - changed_ < kQuietMs && now - fewer_since_ < kLongMs) return false;
    most_ = open;
    fewer_since_ = now;
    return true;
  }

  static constexpr std::size_t kFew = 32;
  static constexpr Millis kQuietMs = 5'000;
  static constexpr Millis kLongMs = 20'000;

 private:
  std::size_t last_ = 0;
  std::size_t most_ = 0;
  Instant changed_{};
  Instant fewer_since_{};
};

// Gives the C library's unused memory back to the system. May take some milliseconds.
void give_back_memory();

}  // namespace hyperflock::app
