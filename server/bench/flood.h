// Peers that mean harm: many sockets that never say hello, and one that reads too slowly.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace hyperflock::bench {

struct FloodOutcome {
  int full = 0;       // refused before a byte was read (503 full)
  int timed_out = 0;  // upgraded, then refused for want of a hello
  int cut = 0;        // ended without a word
  int held = 0;       // still open at the end
  double seconds = 0;
};

// Opens `count` connections from an address of its own (127.0.0.2), each of which asks for a
// WebSocket and then says nothing, and keeps each until the server ends it, at most `limit`. Throws
// std::runtime_error where the system gives no sockets.
FloodOutcome flood(std::uint16_t port, int count, std::chrono::seconds limit);

// Watches a study and takes at most `bytes_per_s` of what comes, until `stop` is set. Bytes taken.
std::int64_t read_slowly(std::uint16_t console_port, const std::string& token, std::int64_t study,
                         std::int64_t bytes_per_s, const std::atomic<bool>& stop);

}  // namespace hyperflock::bench
