// A model of issuer, executor and surroundings around the transition functions of state.h, for
// tests: every interleaving of their single accesses to shared memory is explored, breadth first.
// The issuer follows a short script through a ring of a few one-word commands.
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
  bad_late,  // append one whose error the device tells later
  fence,     // append a fence
  wait,      // wait for the newest fence
  flush,
  reset,
  close,
};

// A deliberate fault in the protocol, which the checker must find.
enum class Mutation : std::uint8_t {
  none,
  no_recheck,            // the executor sleeps without looking again
  signal_after_looking,  // the issuer notes `signal` only when it is about to sleep
  wake_before_publish,   // the issuer looks at `sleeps` before it stores `written`
  request_before_written,
  fence_before_error,    // the executor tells of a fence before an error ahead of it
  error_overwrites,      // the executor fills a slot that is full
  error_not_cleared,     // the issuer leaves the slot full
  error_outlives_reset,  // the executor leaves the slot full when it opens the device again
  consume_early,         // the executor frees a command before it has read it
  consume_unsaid,        // the executor tells nobody of any command that it took
};

struct ModelOptions {
  std::vector<Do> script;
  std::uint32_t capacity = 2;
  bool by_message = false;       // the executor is woken by messages
  std::uint32_t interrupts = 0;  // how often an interrupt may come, at any moment
  bool revoke = false;           // one may come
  bool loss = false;             // one may come
  bool kill = false;             // the executor's thread may end
  bool kill_is_told = false;     // its owner says so, and may start another
  bool reopen_fails = false;     // a reset may find no device
  bool timeouts = false;         // waits may end by time; else a lost wake-up is a deadlock
  Mutation mutation = Mutation::none;
  std::size_t max_states = 3'000'000;
};

struct ModelReport {
  std::size_t states = 0;
  std::size_t endings = 0;         // different states in which the script is over
  std::size_t deepest = 0;         // steps of the longest shortest path
  bool complete = false;           // every reachable state was seen
  std::string violation;           // empty: none
  std::vector<std::string> trace;  // how it came to the violation
};

ModelReport explore(const ModelOptions& options);

}  // namespace arraycore::ring
