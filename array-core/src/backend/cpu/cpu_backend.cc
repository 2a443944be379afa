#include "backend/cpu/cpu_backend.h"

#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/cpu/cpu_stages.h"
#include "cpu/gemm/gemm.h"
#include "cpu/nn/normalization.h"
#include "cpu/nn/pooling.h"
#include "cpu/threaded_program.h"
#include "ir/interpret.h"
#include "ir/verify.h"

namespace arraycore {

namespace {

class CpuBackend final : public Backend {
 public:
  CpuBackend() = default;
  ~CpuBackend() override {
    for (const Block& block : storages_) std::free(block.base);  // NOLINT(*-no-malloc)
  }

  Result<StorageId> create_storage(std::int64_t bytes) override {
    // malloc returns a null pointer when memory is exhausted; new would end the process.
    std::byte* base = nullptr;
    if (static_cast<std::uint64_t>(bytes) <= std::numeric_limits<std::size_t>::max() / 2)
      base = static_cast<std::byte*>(  // NOLINTNEXTLINE(*-no-malloc)
          std::malloc(bytes == 0 ? 1 : static_cast<std::size_t>(bytes)));
    if (base == nullptr)
      return Error{ErrorKind::memory, "out_of_memory",
                   "There is no memory left for " + std::to_string(bytes) + " bytes."};
    StorageId id = 0;
    if (free_.empty()) {
      storages_.emplace_back();
      id = static_cast<StorageId>(storages_.size());
    } else {
      id = free_.back();
      free_.pop_back();
    }
    storages_[id - 1] = {base, static_cast<std::size_t>(bytes)};
    return id;
  }

  void destroy_storage(StorageId storage) override {
    std::free(at(storage).base);  // NOLINT(*-no-malloc)
    storages_[storage - 1] = {};
    free_.push_back(storage);
  }

  Status upload(StorageId storage, std::int64_t offset, std::span<const std::byte> bytes) override {
    if (!bytes.empty()) std::memcpy(at(storage).base + offset, bytes.data(), bytes.size());
    return Done{};
  }

  Status fill_zero(StorageId storage) override {
    std::memset(at(storage).base, 0, at(storage).bytes);
    return Done{};
  }

  Status download(StorageId storage, std::int64_t offset, std::span<std::byte> bytes) override {
    if (!bytes.empty()) std::memcpy(bytes.data(), at(storage).base + offset, bytes.size());
    return Done{};
  }

  Result<KernelId> prepare(ir::Kernel kernel) override {
    TRY_DONE(ir::verify(kernel));
    kernels_.push_back(std::make_unique<Prepared>(kernel));
    return static_cast<KernelId>(kernels_.size() - 1);
  }

  void forget(KernelId kernel) override { kernels_[kernel].reset(); }

  Status launch(const Launch& launch) override {
    launch_.loop = launch.loop;
    launch_.reduced = launch.reduced;
    launch_.arguments.resize(launch.arguments.size());
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      ir::Argument& to = launch_.arguments[i];
      if (const auto* array = std::get_if<ArrayArgument>(&launch.arguments[i])) {
        to.base = at(array->storage).base;
        to.view = array->view;
      } else {
        to.scalar = *std::get_if<ir::Scalar>(&launch.arguments[i]);
      }
    }
    Prepared& prepared = *kernels_[launch.kernel];
    const ir::Kernel& kernel = prepared.program.kernel();
    if (const auto done = cpu::run_pooling(kernel, launch_); done) return *done;
    if (const auto done = cpu::run_normalization(kernel, launch_); done) return *done;
    return prepared.threaded.run(launch_);
  }

  Status launch_gemm(const GemmLaunch& launch) override {
    if (!cpu::Gemm::computes(launch.problem.dtype)) return no_gemm();
    const auto operand = [&](std::size_t i) { return at(launch.operands[i]).base; };
    std::optional<CpuPrologue> prologue;
    if (launch.stages.prologue.kernel != nullptr)
      prologue.emplace(kernels_[launch.stages.prologue.number]->threaded.machine(), launch,
                       operand(0), operand(1));
    const Status done = gemm_.run(launch.problem, at(launch.a).base, at(launch.b).base,
                                  at(launch.out).base, prologue ? &*prologue : nullptr);
    if (!done || launch.stages.epilogue.kernel == nullptr) return done;
    return run_epilogue(kernels_[launch.stages.epilogue.number]->threaded, launch,
                        at(launch.out).base, operand(gemm::kStageOperands),
                        operand(gemm::kStageOperands + 1));
  }

 private:
  struct Block {
    std::byte* base = nullptr;
    std::size_t bytes = 0;
  };
  // A kernel that is compiled once. Its registers are kept, so that a launch allocates nothing.
  struct Prepared {
    explicit Prepared(const ir::Kernel& kernel) : program(cpu::Program::compile(kernel)) {}
    cpu::Program program;
    cpu::ThreadedProgram threaded{program};
  };
  // Returns the memory of a storage; id 0 means no storage.
  Block at(StorageId storage) const { return storage == 0 ? Block{} : storages_[storage - 1]; }

  std::vector<Block> storages_;  // by id - 1
  std::vector<StorageId> free_;
  std::vector<std::unique_ptr<Prepared>> kernels_;
  cpu::Gemm gemm_;
  ir::Launch launch_;  // kept for its memory
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend() { return std::make_unique<CpuBackend>(); }

}  // namespace arraycore
