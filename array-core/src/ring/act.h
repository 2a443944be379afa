// What a step of the ring's state machine (state.h) asks of its host. Data: any thread.
#pragma once

#include <cstdint>

namespace arraycore::ring {

// What the host does after a step.
enum class Act : std::uint8_t {
  none,
  notify_executor,   // wake who sleeps on `sleeps`
  message_executor,  // post it one message
  notify_issuer,     // wake who sleeps on `signal`
  wait,         // issuer: sleep while `signal` holds `seen_signal`. Drain: while `sleeps` holds 1
  execute,      // drain: execute the command at `position`, then executed()
  reset,        // drain: drop all objects and open the device again, then was_reset()
  write_error,  // announcement: put the error into the slot's words
  finished,
};

}  // namespace arraycore::ring
