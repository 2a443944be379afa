// A ring, its memory and a recording executor for tests: on one thread (PumpRig) or two
// (ThreadRig).
#pragma once

#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "ring/recording_executor.h"
#include "ring/thread_host.h"
#include "ring/writer.h"

namespace arraycore::ring {

// The ring, its texts and its data in one block, as in the memory of a WebAssembly module.
class RingMemory {
 public:
  explicit RingMemory(std::uint32_t ring_words, std::uint32_t text_bytes = 4096,
                      std::uint32_t data_bytes = 1 << 20)
      : words_(ring_words + (text_bytes + data_bytes) / 4),
        ring_words_(ring_words),
        text_bytes_(text_bytes) {}

  std::byte* base() { return reinterpret_cast<std::byte*>(words_.data()); }
  std::uint64_t bytes() const { return words_.size() * 4; }
  std::span<std::uint32_t> ring() { return {words_.data(), ring_words_}; }
  std::span<std::byte> texts() { return {base() + ring().size_bytes(), text_bytes_}; }
  // data() returns the address of byte `offset` of the data. at() returns the pointer for an
  // address.
  Address data(std::uint32_t offset = 0) const { return ring_words_ * 4 + text_bytes_ + offset; }
  std::byte* at(Address address) { return base() + address; }

 private:
  std::vector<std::uint32_t> words_;
  std::uint32_t ring_words_;
  std::uint32_t text_bytes_;
};

struct PumpRig {
  explicit PumpRig(std::uint32_t ring_words = 1024, Writer::Options options = {})
      : memory(ring_words),
        executor(control, memory.base(), memory.bytes(), host),
        writer(control, memory.ring(), memory.texts(), memory.base(), host, options) {
    host.executor = &executor;
  }
  // Issues a fence and waits for it.
  Status finish() {
    TRY(const auto& fence, writer.fence());
    return writer.wait(fence);
  }

  ControlBlock control;
  RingMemory memory;
  PumpHost host;
  RecordingExecutor executor;
  Writer writer;
};

struct ThreadRig {
  explicit ThreadRig(std::uint32_t ring_words = 1024, Writer::Options options = {})
      : memory(ring_words),
        executor(control, memory.base(), memory.bytes(), host),
        writer(control, memory.ring(), memory.texts(), memory.base(), host, options) {}
  ~ThreadRig() {
    executor.stop();
    if (thread.joinable()) thread.join();
  }
  void start() {
    thread = std::thread([this] { executor.run(); });
  }
  Status finish() {
    TRY(const auto& fence, writer.fence());
    return writer.wait(fence);
  }

  ControlBlock control;
  RingMemory memory;
  ThreadHost host;
  RecordingExecutor executor;
  Writer writer;
  std::thread thread;
};

}  // namespace arraycore::ring
