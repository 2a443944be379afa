// The Host of the WebAssembly module: four imports that the loader supplies (module name "env").
// docs/ring.md says what each must do. The issuing thread only.
#pragma once

#if defined(__wasm__)

#include "ring/host.h"

extern "C" {
// 0: woken or changed, 1: timed out, 2: Python's signal buffer is set. `word` is a byte address.
__attribute__((import_module("env"), import_name("ac_ring_wait"))) std::int32_t ac_ring_wait(
    const void* word, std::uint32_t expected, std::uint32_t timeout_ms);
__attribute__((import_module("env"), import_name("ac_ring_wake"))) void ac_ring_wake(
    const void* word);
__attribute__((import_module("env"), import_name("ac_ring_wake_message"))) void
ac_ring_wake_message();
__attribute__((import_module("env"), import_name("ac_now_ms"))) double ac_now_ms();
}

namespace arraycore::ring {

class WasmHost final : public Host {
 public:
  WaitResult wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                  std::uint32_t timeout_ms) override {
    switch (ac_ring_wait(&word, expected, timeout_ms)) {
      case 1:
        return WaitResult::timed_out;
      case 2:
        return WaitResult::interrupted;
      default:
        return WaitResult::woken;
    }
  }
  void wake(std::atomic<std::uint32_t>& word) override { ac_ring_wake(&word); }
  void post_wake_message() override { ac_ring_wake_message(); }
  std::uint64_t now_ms() override { return static_cast<std::uint64_t>(ac_now_ms()); }
};

}  // namespace arraycore::ring

#endif  // __wasm__
