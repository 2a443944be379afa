// Measures how fast the disk itself is: durable writes, one after another.
#pragma once

#include <string>

namespace hyperflock::bench {

// Writes 16 KiB and calls fdatasync again and again, over a file of fixed size, as a write-ahead
// log of full size does. Returns the writes per second. Throws std::runtime_error.
double durable_writes_per_s(const std::string& folder, double seconds);

}  // namespace hyperflock::bench
