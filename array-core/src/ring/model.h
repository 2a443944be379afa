// A model of the issuer, the executor and their surroundings, for tests. It runs the transition
// functions of state.h and explores every interleaving of their single accesses to shared memory,
// breadth first. The issuer follows a short script through a ring of a few one-word commands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace arraycore::ring {

// A step of the issuer's script.
enum class Do : std::uint8_t {
  work,      // append a command that succeeds
  bad,       // append one that fails at once
  bad_late,  // append one whose error the device reports later
  fence,     // append a fence
  wait,      // wait for the newest fence
  flush,
  reset,
  close,
};

// A deliberate mistake in the protocol, which the checker must find.
enum class Mutation : std::uint8_t {
  none,
  no_recheck,            // the executor sleeps without looking again
  signal_after_looking,  // the issuer reads `signal` only when it is about to sleep
  wake_before_publish,   // the issuer reads `sleeps` before it stores `written`
  request_before_written,
  fence_before_error,    // the executor reports a fence before an error that precedes it
  error_overwrites,      // the executor fills a slot that is full
  error_not_cleared,     // the issuer leaves the slot full
  error_outlives_reset,  // the executor leaves the slot full when it opens the device again
  consume_early,         // the executor frees a command before it has read it
  consume_unsaid,        // the executor reports no command that it took
};

struct ModelOptions {
  std::vector<Do> script;
  std::uint32_t capacity = 2;
  bool by_message = false;       // the executor is woken by messages
  std::uint32_t interrupts = 0;  // how often an interrupt may come, at any moment
  bool revoke = false;           // a revoke may come
  bool loss = false;             // the device may be lost
  bool kill = false;             // the executor's thread may end
  bool kill_is_told = false;     // its owner reports the end, and may start another executor
  bool reopen_fails = false;     // a reset may find no device
  bool timeouts = false;  // waits may end by time-out; otherwise a lost wake-up is a deadlock
  Mutation mutation = Mutation::none;
  std::size_t max_states = 3'000'000;
};

struct ModelReport {
  std::size_t states = 0;
  std::size_t endings = 0;         // the number of different states in which the script is over
  std::size_t deepest = 0;         // the steps of the longest of all shortest paths
  bool complete = false;           // every reachable state was seen
  std::string violation;           // empty: none was found
  std::vector<std::string> trace;  // the steps that led to the violation
};

ModelReport explore(const ModelOptions& options);

}  // namespace arraycore::ring
