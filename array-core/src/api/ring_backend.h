// The back end that writes commands into the ring for an executor with a GPU: kernels become WGSL,
// one program for each way their arguments lie; storage becomes buffers. Touched by Python's thread
// only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/backend.h"
#include "codegen/plan.h"
#include "codegen/wgsl.h"
#include "memory/pool.h"
#include "ring/writer.h"

namespace arraycore {

// What the executor reads and writes besides a caller's own memory.
struct RingMemory {
  static constexpr std::size_t kRingWords = std::size_t{1} << 20;
  static constexpr std::size_t kTextBytes = std::size_t{1} << 18;
  static constexpr std::size_t kStagingBytes = std::size_t{4} << 20;
  ring::ControlBlock control;
  std::array<std::uint32_t, kRingWords> ring;
  alignas(16) std::array<std::byte, kTextBytes> texts;
  alignas(16) std::array<std::byte, kStagingBytes> staging;
};

class RingBackend final : public Backend, private BufferSource, private ring::Operations {
 public:
  // `base`: where the memory begins that addresses count from (null: addresses are pointers).
  // `memory` and every span that is downloaded to lie in it.
  RingBackend(std::shared_ptr<RingMemory> memory, const std::byte* base,
              std::unique_ptr<ring::Host> host);
  ~RingBackend() override;

  // Waits for the executor's device and takes its limits. Call first.
  // `budget_bytes`: the most that buffers may take together.
  Status open(std::int64_t budget_bytes);

  bool is_device() const override { return true; }
  Result<StorageId> create_storage(std::int64_t bytes) override;
  void destroy_storage(StorageId storage) override;
  Status upload(StorageId storage, std::int64_t offset, std::span<const std::byte> bytes) override;
  Status fill_zero(StorageId storage) override;
  Status download(StorageId storage, std::int64_t offset, std::span<std::byte> bytes) override;
  Result<KernelId> prepare(ir::Kernel kernel) override;
  Status launch(const Launch& launch) override;
  Status reset() override;

 private:
  // A kernel's text for one plan, and the pipelines of its stages.
  struct Program {
    std::string key;
    codegen::Plan plan;
    codegen::WgslProgram wgsl;
    std::vector<ring::PipelineId> pipelines;
  };
  struct Prepared {
    ir::Kernel kernel;
    std::vector<Program> programs;
  };

  Result<BufferId> create_buffer(std::int64_t bytes) override;
  void destroy_buffer(BufferId buffer) override;
  // Tags are the kernels' numbers plus 1.
  std::string name_of(std::uint32_t tag) const override;
  const Region& at(StorageId storage) const { return storages_[storage - 1]; }
  Result<const Program*> program(Prepared& prepared, const codegen::Launch& launch);
  Status dispatch(const Prepared& prepared, const Program& program, const codegen::Launch& launch);
  Status finish();  // waits for all that was issued

  std::shared_ptr<RingMemory> memory_;
  std::unique_ptr<ring::Host> host_;
  ring::Writer writer_;
  codegen::Limits limits_;
  std::int64_t budget_bytes_ = 0;
  std::optional<Pool> pool_;      // once the device's limits are known
  std::vector<Region> storages_;  // by id - 1
  std::vector<StorageId> free_;
  std::vector<Prepared> kernels_;
  ring::BufferId buffers_ = 0;
  ring::PipelineId pipelines_ = 0;
  std::size_t staged_ = 0;  // bytes of staging that the executor may still read
};

}  // namespace arraycore
