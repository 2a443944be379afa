// What the issuing thread needs of its surroundings to wait and to wake: imports of the loader in
// WebAssembly (backend/gpu/webgpu_backend.cc), a condition variable natively (thread_host.h).
#pragma once

#include <atomic>
#include <cstdint>

namespace arraycore::ring {

enum class WaitResult : std::uint8_t {
  woken,  // by a wake (also one with nothing changed), or `word` did not hold `expected`
  timed_out,
  interrupted,  // the host's own interrupt (Python's signal buffer) is set
};

// Used by the issuing thread only.
class Host {
 public:
  virtual ~Host() = default;
  // Sleeps while `word` holds `expected`, for at most `timeout_ms`.
  virtual WaitResult wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                          std::uint32_t timeout_ms) = 0;
  virtual void wake(std::atomic<std::uint32_t>& word) = 0;
  // For an executor that cannot sleep on a word.
  virtual void post_wake_message() = 0;
  virtual std::uint64_t now_ms() = 0;
  // Asks for another executor in the place of one that has ended or does not answer: a reset is
  // about to be issued that it is to do.
  virtual void revive_executor() {}
};

}  // namespace arraycore::ring
