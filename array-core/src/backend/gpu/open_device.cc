#include "backend/gpu/open_device.h"

#if defined(__wasm__)

#include <chrono>
#include <new>
#include <utility>

#include "backend/gpu/ring_backend.h"

// The loader provides these imports (worker-runtime/src/python/arraycore/arraycore_module.ts).
extern "C" {
// Sends the address of the control block to the gpu thread. Returns 0 if there is no gpu thread. A
// further call for the same control block asks for a new thread, which replaces the present one.
__attribute__((import_module("env"), import_name("ac_host_attach"))) std::int32_t ac_host_attach(
    void* control);
// Sleeps while a word in shared memory has the expected value. Returns a WaitResult.
__attribute__((import_module("env"), import_name("ac_host_wait"))) std::int32_t ac_host_wait(
    void* word, std::uint32_t expected, std::uint32_t timeout_ms);
// Wakes a gpu thread that cannot sleep until a word changes: posts one message to the thread.
__attribute__((import_module("env"), import_name("ac_host_message"))) void ac_host_message(void);
}

namespace arraycore {

namespace {

class WasmHost final : public ring::Host {
 public:
  explicit WasmHost(ring::ControlBlock& control) : control_(control) {}
  ring::WaitResult wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                        std::uint32_t timeout_ms) override {
    return static_cast<ring::WaitResult>(ac_host_wait(&word, expected, timeout_ms));
  }
  void wake(std::atomic<std::uint32_t>& word) override {
    __builtin_wasm_memory_atomic_notify(reinterpret_cast<int*>(&word), ~0U);
  }
  void post_wake_message() override { ac_host_message(); }
  std::uint64_t now_ms() override {
    using std::chrono::duration_cast, std::chrono::milliseconds, std::chrono::steady_clock;
    return static_cast<std::uint64_t>(
        duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count());
  }
  void revive_executor() override { static_cast<void>(ac_host_attach(&control_)); }

 private:
  ring::ControlBlock& control_;
};

}  // namespace

Result<std::unique_ptr<Backend>> open_device(ring::Backend wanted,
                                             std::optional<std::int64_t> budget_bytes) {
  std::shared_ptr<RingMemory> memory(new (std::nothrow) RingMemory);
  if (memory == nullptr)
    return Error{ErrorKind::memory, "out_of_memory", "There is no memory left for the ring."};
  ring::ControlBlock& control = memory->control;
  control[ring::Word::wanted].store(static_cast<std::uint32_t>(wanted));
  auto backend = std::make_unique<RingBackend>(std::move(memory), nullptr,
                                               std::make_unique<WasmHost>(control));
  if (ac_host_attach(&control) == 0)
    return Error{ErrorKind::not_implemented, "backend_missing",
                 "There is no gpu thread here: open array-core with backend 'cpu'."};
  // The device may hold this many bytes more than the arrays, for heaps that are partly free and
  // for buffers that are kept for reuse.
  constexpr std::int64_t kSlackBytes = std::int64_t{64} << 20;
  constexpr std::int64_t kNoBudget = std::int64_t{1} << 50;
  TRY_DONE(backend->open(budget_bytes.value_or(kNoBudget) + kSlackBytes));
  return std::unique_ptr<Backend>(std::move(backend));
}

}  // namespace arraycore

#else

namespace arraycore {

Result<std::unique_ptr<Backend>> open_device(ring::Backend /*wanted*/,
                                             std::optional<std::int64_t> /*budget_bytes*/) {
  return Error{ErrorKind::not_implemented, "backend_missing",
               "This build of array-core has no back end for a GPU: open it with backend 'cpu'."};
}

}  // namespace arraycore

#endif
