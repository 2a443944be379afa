// The prologue and the epilogue of products on the CPU. The prologue changes b's elements when they
// are packed, the epilogue changes the sums when the product is done. Touched by Python's thread
// only.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "backend/backend.h"
#include "cpu/gemm/gemm.h"
#include "cpu/threaded_program.h"

namespace arraycore {

class CpuPrologue final : public cpu::PackedPrologue {
 public:
  // `machine` runs the prologue's kernel. The operands' storages begin at `first` and `second`.
  CpuPrologue(cpu::Machine& machine, const GemmLaunch& launch, std::byte* first, std::byte* second)
      : machine_(machine), launch_(launch), operands_{first, second} {}

  Status apply(const Part& part, std::byte* packed) override;

 private:
  // Returns the operand in the layout of the panels, as a view of `values`, which it fills.
  View spread(std::size_t operand, const Part& part, std::vector<std::byte>& values) const;

  cpu::Machine& machine_;
  const GemmLaunch& launch_;
  std::array<std::byte*, gemm::kStageOperands> operands_;
};

// `out` is the result's storage, which holds the sums.
Status run_epilogue(cpu::ThreadedProgram& threaded, const GemmLaunch& launch, std::byte* out,
                    std::byte* first, std::byte* second);

}  // namespace arraycore
