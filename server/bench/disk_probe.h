// What the disk itself can do: durable writes one after the other.
#pragma once

#include <string>

namespace hyperflock::bench {

// Writes 16 KiB and calls fdatasync, again and again, over a file of fixed size (as a write-ahead
// log does once it has reached its size); how many a second. Throws std::runtime_error.
double durable_writes_per_s(const std::string& folder, double seconds);

}  // namespace hyperflock::bench
