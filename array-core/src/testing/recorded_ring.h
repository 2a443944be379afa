// A ring back end for tests and benchmarks. Its executor runs on the same thread and records the
// commands. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "backend/gpu/ring_backend.h"
#include "ring/recording_executor.h"

namespace arraycore {

struct RecordedRing {
  explicit RecordedRing(ring::Backend kind = ring::Backend::recording) {
    auto host = std::make_unique<ring::PumpHost>();
    ring::PumpHost& pump = *host;
    auto* const base = reinterpret_cast<std::byte*>(memory.get());
    backend = std::make_unique<RingBackend>(memory, base, std::move(host));
    executor =
        std::make_unique<ring::RecordingExecutor>(memory->control, base, sizeof(RingMemory), pump);
    executor->backend = kind;
    pump.executor = executor.get();
    opened = backend->open(std::int64_t{1} << 32);
  }
  RecordedRing(const RecordedRing&) = delete;
  RecordedRing& operator=(const RecordedRing&) = delete;
  ~RecordedRing() { backend.reset(); }  // the back end must end before its executor

  // Creates a storage for an array of 4-byte elements. Returns the array.
  ArrayArgument array(const Dims& shape) {
    const View view = contiguous(shape, 4);
    return {backend->create_storage(view.count() * 4).value(), view};
  }
  // Waits until all commands so far are executed, by a download of no bytes.
  Status finish() { return backend->download(1, 0, {}); }

  std::shared_ptr<RingMemory> memory = std::make_shared<RingMemory>();
  std::unique_ptr<RingBackend> backend;
  std::unique_ptr<ring::RecordingExecutor> executor;
  Status opened = Done{};
};

}  // namespace arraycore
