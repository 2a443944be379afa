// Wraps each back end of a launcher. It passes on every call and, while a step is recorded, notes
// the call on the tape. Storage that a capture plays is pinned: a pinned storage that is freed
// keeps its memory until it is unpinned. Kernels that are dropped stay as long as any storage is
// pinned. Python's thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "runtime/capture/tape.h"

namespace arraycore::capture {

// The state that all TapedBackends of one launcher share.
struct Recorder {
  Tape* tape = nullptr;    // of the step that is being recorded
  Tape* newest = nullptr;  // the last tape, which must learn when its storages are freed
};

class TapedBackend final : public Backend {
 public:
  TapedBackend(std::unique_ptr<Backend> inner, Recorder& recorder, std::size_t side)
      : inner_(std::move(inner)), recorder_(recorder), side_(side) {}

  // Returns the wrapped back end. Its calls are not recorded.
  Backend& inner() { return *inner_; }
  // Keeps the storage even after it is freed, until unpin() was called as often as pin().
  void pin(StorageId storage) { ++pins_[storage].count; }
  void unpin(StorageId storage);
  // Returns a number that distinguishes the storage from others that had the same id.
  std::uint64_t serial(StorageId storage) const { return serials_[storage - 1]; }
  // Copies bytes from one storage to another. Errors: those of the back end.
  Result<Launch> copy(StorageId from, StorageId to, std::int64_t bytes);

  bool is_device() const override { return inner_->is_device(); }
  std::int64_t held_bytes() const override { return inner_->held_bytes(); }
  std::string device_text() const override { return inner_->device_text(); }
  std::uint32_t device_flags() const override { return inner_->device_flags(); }
  Result<StorageId> create_storage(std::int64_t bytes) override;
  void destroy_storage(StorageId storage) override;
  Status upload(StorageId storage, std::int64_t offset, std::span<const std::byte> bytes) override;
  Status fill_zero(StorageId storage) override;
  Status download(StorageId storage, std::int64_t offset, std::span<std::byte> bytes) override;
  Result<KernelId> prepare(ir::Kernel kernel) override;
  void forget(KernelId kernel) override;
  Status launch(const Launch& launch) override;
  Status launch_gemm(const GemmLaunch& launch) override;
  std::uint32_t shared_buffer(StorageId storage) const override {
    return inner_->shared_buffer(storage);
  }
  Status launch_batch(KernelId kernel, std::span<const ir::Scalar> scalars,
                      std::span<const BatchSegment> segments) override;
  std::uint32_t tune_gemm(const gemm::Tuning& tuning) override { return inner_->tune_gemm(tuning); }
  Result<KernelId> prepare_raw(const RawText& text) override;
  Status launch_raw(const RawLaunch& launch) override;
  Status begin_timer() override;
  Result<std::int64_t> end_timer() override { return inner_->end_timer(); }
  Status begin_trace() override;
  Status end_trace() override { return inner_->end_trace(); }
  Result<DeviceTrace> take_trace() override;
  bool trace_is_full(std::uint32_t since) const override { return inner_->trace_is_full(since); }
  std::uint32_t position() const override { return inner_->position(); }
  std::string kernel_name(std::uint32_t tag) const override { return inner_->kernel_name(tag); }
  Status reset() override;

 private:
  struct Pin {
    std::uint32_t count = 0;
    bool given_back = false;
  };
  void note(const Operation* operation, Action action);
  void refuse_measuring();

  std::unique_ptr<Backend> inner_;
  Recorder& recorder_;
  std::size_t side_;
  std::deque<Operation> kernels_;  // by number
  std::deque<Operation> raws_;
  std::vector<std::uint64_t> serials_;  // by storage - 1
  std::uint64_t serial_ = 0;
  std::unordered_map<StorageId, Pin> pins_;
  std::vector<KernelId> forgotten_;  // to be dropped once nothing is pinned
  std::optional<KernelId> copy_words_;
  std::optional<KernelId> copy_bytes_;
};

}  // namespace arraycore::capture
