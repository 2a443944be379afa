// Measures the speed of the disk itself: durable writes, one after the other.
#pragma once

#include <string>

namespace hyperflock::bench {

// Writes 16 KiB and calls fdatasync repeatedly. The file has a fixed size, like a write-ahead log
// that has reached its limit. Returns the writes per second. Throws std::runtime_error.
double durable_writes_per_s(const std::string& folder, double seconds);

}  // namespace hyperflock::bench
