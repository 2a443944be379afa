// The requests of the ring's state machine (state.h) to its host. Data only: any thread.
#pragma once

#include <cstdint>

namespace arraycore::ring {

// The action that the host must take after a step of the state machine.
enum class Act : std::uint8_t {
  none,
  notify_executor,   // wake the thread that sleeps on `sleeps`
  message_executor,  // post one message to the executor
  notify_issuer,     // wake the thread that sleeps on `signal`
  // The issuer's host sleeps while `signal` is `seen_signal`; the executor's, while `sleeps` is 1.
  wait,
  execute,      // drain: execute the command at `position`, then executed()
  reset,        // drain: drop all objects and open the device again, then was_reset()
  write_error,  // announcement: put the error into the slot's words
  finished,
};

}  // namespace arraycore::ring
