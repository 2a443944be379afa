// Emulates hostile peers: many sockets that never send hello, and one that reads too slowly.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace hyperflock::bench {

struct FloodOutcome {
  int full = 0;       // refused before any request was read (503 full)
  int timed_out = 0;  // upgraded, then refused because no hello came
  int cut = 0;        // closed without an answer
  int held = 0;       // still open at the end
  double seconds = 0;
};

// Opens `count` connections from a separate address (127.0.0.2). Each asks for a WebSocket and then
// sends nothing. Each stays until the server ends it, for at most `limit`. Throws
// std::runtime_error if the system has too few sockets.
FloodOutcome flood(std::uint16_t port, int count, std::chrono::seconds limit);

// Watches a study and reads at most `bytes_per_s` of its updates, until `stop` is set. Returns the
// number of bytes that it read.
std::int64_t read_slowly(std::uint16_t console_port, const std::string& token, std::int64_t study,
                         std::int64_t bytes_per_s, const std::atomic<bool>& stop);

}  // namespace hyperflock::bench
