// A ring back end for tests and benchmarks. Its executor runs on the same thread and records the
// commands. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

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
  // Waits for all commands so far, and returns those of this kind. Throws what finish() returns.
  std::vector<ring::RecordedCommand> of(ring::Opcode opcode) {
    if (const Status done = finish(); !done) throw std::runtime_error(done.error().message);
    std::vector<ring::RecordedCommand> found;
    std::ranges::copy_if(executor->commands(), std::back_inserter(found),
                         [&](const auto& command) { return command.opcode == opcode; });
    return found;
  }

  std::shared_ptr<RingMemory> memory = std::make_shared<RingMemory>();
  std::unique_ptr<RingBackend> backend;
  std::unique_ptr<ring::RecordingExecutor> executor;
  Status opened = Done{};
};

}  // namespace arraycore
