// The prologue and the epilogue of products a @ b on the CPU. The prologue changes the elements of
// b after they are packed, and the epilogue changes the sums after the product is done. Python's
// thread only.
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
  // `machine` runs the prologue's kernel. `first` and `second` are the addresses of the storages of
  // the prologue's operands.
  CpuPrologue(cpu::Machine& machine, const GemmLaunch& launch, std::byte* first, std::byte* second)
      : machine_(machine), launch_(launch), operands_{first, second} {}

  Status apply(const Part& part, std::byte* packed) override;

 private:
  // Copies an operand to `values` in the layout of the packed panels. Returns a view of the copy.
  View spread(std::size_t operand, const Part& part, std::vector<std::byte>& values) const;

  cpu::Machine& machine_;
  const GemmLaunch& launch_;
  std::array<std::byte*, gemm::kStageOperands> operands_;
};

// Applies the epilogue to the finished sums in the result's storage `out`.
Status run_epilogue(cpu::ThreadedProgram& threaded, const GemmLaunch& launch, std::byte* out,
                    std::byte* first, std::byte* second);

}  // namespace arraycore
