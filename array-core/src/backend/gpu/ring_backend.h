// The back end that writes commands into the ring for an executor with a GPU. Kernels become WGSL
// or, for an executor with WebGL2, passes in GLSL (docs/webgl2.md): one program for each layout of
// their arguments. Storages become buffers. A launch with the same signature as an earlier launch
// of its kernel (codegen::LaunchSignature) reuses its program and allocates nothing. Python's
// thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/gpu/device_gemm.h"
#include "backend/gpu/device_pace.h"
#include "backend/gpu/packing.h"
#include "codegen/glsl/glsl.h"
#include "codegen/plan.h"
#include "codegen/wgsl.h"
#include "memory/pool.h"
#include "ring/writer.h"

namespace arraycore {

// All memory that the executor reads and writes. It is never a caller's own memory, which the
// caller may free before the executor uses it.
struct RingMemory {
  static constexpr std::size_t kRingWords = std::size_t{1} << 20;
  static constexpr std::size_t kTextBytes = std::size_t{1} << 18;
  static constexpr std::size_t kStagingBytes = std::size_t{4} << 20;
  // The number of dispatches whose times fit in the end of the staging block.
  static constexpr std::size_t kTraced = std::size_t{1} << 15;
  static constexpr std::size_t kTraceBytes = kTraced * ring::kTraceWords * 4;
  ring::ControlBlock control;
  std::array<std::uint32_t, kRingWords> ring;
  alignas(16) std::array<std::byte, kTextBytes> texts;
  alignas(16) std::array<std::byte, kStagingBytes> staging;
  alignas(8) std::array<std::uint64_t, 2> clock;  // when the timer began and ended, in nanoseconds
};

class RingBackend final : public Backend, private BufferSource, private ring::Operations {
 public:
  // The addresses in commands are offsets from `base`, or pointers if `base` is nullptr. `memory`
  // is at an address above `base`.
  RingBackend(std::shared_ptr<RingMemory> memory, const std::byte* base,
              std::unique_ptr<ring::Host> host);
  ~RingBackend() override;

  // Waits for the executor's device and reads the device's limits. Call it first. `budget_bytes`
  // limits the size of all buffers together.
  Status open(std::int64_t budget_bytes);

  bool is_device() const override { return true; }
  std::int64_t held_bytes() const override { return pool_ ? pool_->held_bytes() : 0; }
  std::string device_text() const override;
  std::uint32_t device_flags() const override;
  Result<StorageId> create_storage(std::int64_t bytes) override;
  void destroy_storage(StorageId storage) override;
  Status upload(StorageId storage, std::int64_t offset, std::span<const std::byte> bytes) override;
  Status fill_zero(StorageId storage) override;
  Status download(StorageId storage, std::int64_t offset, std::span<std::byte> bytes) override;
  Result<KernelId> prepare(ir::Kernel kernel) override;
  void forget(KernelId kernel) override;
  Status launch(const Launch& launch) override;
  std::uint32_t shared_buffer(StorageId storage) const override;
  Status launch_batch(KernelId kernel, std::span<const ir::Scalar> scalars,
                      std::span<const BatchSegment> segments) override;
  // Errors: value, "raw_limits" (more bindings or uniforms than the device allows), "raw_arguments"
  // (other numbers of arrays or uniform bytes than the kernel has), "raw_grid" (more workgroups
  // than the device allows), "raw_alias" (an array is bound twice and written).
  Result<KernelId> prepare_raw(const RawText& text) override;
  Status launch_raw(const RawLaunch& launch) override;
  // Error on WebGL2: not_implemented.
  Status launch_gemm(const GemmLaunch& launch) override;
  std::uint32_t tune_gemm(const gemm::Tuning& tuning) override { return gemm_.tune(tuning); }
  bool keeps_blocks() const override { return true; }
  void begin_block(const void* owner) override;
  std::uint32_t end_block(const void* owner) override;
  Status issue_block(const void* owner, std::uint32_t block, std::size_t& from) override;
  void forget_blocks(const void* owner) override;
  Status begin_timer() override;
  Result<std::int64_t> end_timer() override;
  Status begin_trace() override;
  Status end_trace() override;
  Result<DeviceTrace> take_trace() override;
  bool trace_is_full(std::uint32_t since) const override;
  std::uint32_t position() const override { return writer_.position(); }
  std::string kernel_name(std::uint32_t tag) const override;
  Status reset() override;

  const codegen::Limits& limits() const { return limits_; }

 private:
  // The shaders of a kernel for one plan, and a pipeline for each of their stages.
  struct Program {
    std::string key;
    codegen::Plan plan;
    codegen::WgslProgram wgsl;
    codegen::glsl::Program glsl;  // in place of the WGSL, on WebGL2
    std::vector<ring::PipelineId> pipelines;
  };
  // The program of the launches with one signature, or the error that says why there is no program.
  struct Known {
    std::uint64_t hash = 0;
    codegen::LaunchSignature signature;
    std::uint64_t variant = 0;  // glsl::LaunchAnalysis::variant()
    Result<const Program*> program;
  };
  struct Prepared {
    ir::Kernel kernel;
    lower::Merge merge;
    std::vector<Known> known;
    std::vector<std::unique_ptr<Program>> programs;  // several signatures may share one
    std::vector<std::pair<std::uint32_t, KernelId>>
        batches;  // the key is the number of segments (fuse/batch.h)
  };
  struct Raw {
    RawText text;
    ring::PipelineId pipeline = 0;  // 0: not yet created on this device
  };

  // The recorded blocks of one owner: the words of their commands, and the scratch memory that
  // these commands use.
  struct Blocks {
    std::vector<std::vector<std::uint32_t>> words;
    Shelf scratch;
  };

  Result<BufferId> create_buffer(std::int64_t bytes) override;
  void destroy_buffer(BufferId buffer) override;
  // A trace's tag is a kernel's number plus 1, or kRawTag plus the number of a raw kernel.
  static constexpr std::uint32_t kRawTag = 0x8000'0000;
  std::string name_of(std::uint32_t tag) const override;
  const Region& at(StorageId storage) const { return storages_[storage - 1]; }
  // Allocates a region that has its own buffer.
  Result<Region> allocate_alone(std::int64_t bytes);
  std::uint32_t bind(StorageId storage);
  // Returns a kernel that runs `kernel` over this many segments in one launch (fuse/batch.h).
  Result<KernelId> batch_of(KernelId kernel, std::uint32_t segments);
  // The functions below work on the current launch in `gpu_` and `ranges_`.
  Result<const Program*> program(Prepared& prepared);
  Result<const Program*> compile(Prepared& prepared);
  Status create_pipelines(const ir::Kernel& kernel, Program& program);
  Status launch_packed(Prepared& prepared);
  Status run_packed(Prepared& prepared, const Packing& packing);
  Status dispatch(const ir::Kernel& kernel, const Program& program);
  Status dispatch_stages(const Program& program, const ring::Binding& scratch);
  // The same steps for WebGL2 (ring_passes.cc).
  Result<const Program*> program_of_passes(Prepared& prepared);
  Result<const Program*> compile_passes(Prepared& prepared);
  Status dispatch_passes(const ir::Kernel& kernel, const Program& program);
  Status dispatch_raw(const Raw& raw, const RawLaunch& launch, std::vector<Region>& copies);
  Status finish();  // waits for all commands that were issued
  Result<std::span<std::byte>> stage_part(std::size_t bytes);
  std::byte* trace_block() {
    return memory_->staging.data() + (RingMemory::kStagingBytes - RingMemory::kTraceBytes);
  }
  Status start_trace();

  std::shared_ptr<RingMemory> memory_;
  std::unique_ptr<ring::Host> host_;
  ring::Writer writer_;
  codegen::Limits limits_;
  bool has_passes_ = false;  // the executor has WebGL2
  std::int64_t budget_bytes_ = 0;
  std::uint32_t largest_buffer_ = 0;
  std::optional<Pool> pool_;      // none until the device's limits are known
  std::vector<Region> storages_;  // by id - 1
  std::vector<StorageId> free_;
  std::vector<Prepared> kernels_;
  std::vector<Raw> raws_;
  DeviceGemm gemm_{*this};
  DevicePace pace_;
  bool recording_ = false;  // a block is being recorded
  std::map<const void*, Blocks> blocks_;
  // The current launch. The vectors are members so that their memory is reused.
  codegen::Launch gpu_;
  codegen::LaunchAnalysis analysis_;
  codegen::glsl::LaunchAnalysis passes_;
  std::vector<BoundRange> ranges_;
  std::vector<ring::Binding> slots_;
  std::vector<ring::Binding> bindings_;
  std::array<std::uint32_t, ring::kMaxUniformWords> uniforms_{};
  ring::BufferId buffers_ = 0;
  ring::PipelineId pipelines_ = 0;
  std::uint32_t tag_ = 0;  // of the launch that is being made
  // The number of bytes at the start of the staging block that commands use, or may still use after
  // a wait that failed.
  std::size_t staged_ = 0;
  // The usable size of the staging block. During a trace it is smaller, because the executor writes
  // times to its end.
  std::size_t staging_bytes_ = RingMemory::kStagingBytes;
  bool tracing_ = false;
  std::uint32_t traced_from_ =
      0;  // the executor's count of dispatches when the trace's memory was last empty
};

}  // namespace arraycore
