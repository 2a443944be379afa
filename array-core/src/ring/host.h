// The functions by which the issuing thread waits and wakes others: in WebAssembly imports from the
// loader (backend/gpu/open_device.cc), natively a condition variable (thread_host.h).
#pragma once

#include <atomic>
#include <cstdint>

namespace arraycore::ring {

enum class WaitResult : std::uint8_t {
  woken,  // something woke it (perhaps for nothing), or `word` did not hold `expected`
  timed_out,
  interrupted,  // the host's own interrupt (Python's signal buffer) is set
};

// The host of the issuing thread. No other thread uses it.
class Host {
 public:
  virtual ~Host() = default;
  // Sleeps while `word` has the value `expected`, for at most `timeout_ms`.
  virtual WaitResult wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                          std::uint32_t timeout_ms) = 0;
  virtual void wake(std::atomic<std::uint32_t>& word) = 0;
  // Wakes an executor that cannot sleep until a word changes.
  virtual void post_wake_message() = 0;
  virtual std::uint64_t now_ms() = 0;
  // Asks for a new executor, because the present one has ended or does not answer. The new one will
  // carry out the reset that is requested next.
  virtual void revive_executor() {}
};

}  // namespace arraycore::ring
