// Stages of products on the CPU: b's elements where they are packed, sums in the result as soon as
// it is there. Touched by Python's thread only.
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
  // `machine`: of the stage's kernel. The operands' storages begin at `first` and `second`.
  CpuPrologue(cpu::Machine& machine, const GemmLaunch& launch, std::byte* first, std::byte* second)
      : machine_(machine), launch_(launch), operands_{first, second} {}

  Status apply(const Part& part, std::byte* packed) override;

 private:
  // The operand as the panels want it: a view of `values`, which it fills.
  View spread(std::size_t operand, const Part& part, std::vector<std::byte>& values) const;

  cpu::Machine& machine_;
  const GemmLaunch& launch_;
  std::array<std::byte*, gemm::kStageOperands> operands_;
};

// `out`: the result's storage, which holds the sums.
Status run_epilogue(cpu::ThreadedProgram& threaded, const GemmLaunch& launch, std::byte* out,
                    std::byte* first, std::byte* second);

}  // namespace arraycore
