// The kernels of prologues and epilogues of products (gemm/stages.h): a bias and an activation as
// an epilogue, a scale and a shift as a prologue. Each is made once and kept. Used by Python's
// thread only.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "base/result.h"
#include "runtime/launcher.h"

namespace arraycore {

enum class Activation : std::uint8_t { none, relu, sigmoid, tanh, gelu };
inline constexpr int kActivations = 5;

class StageKernels {
 public:
  explicit StageKernels(Launcher& launcher) : launcher_(launcher) {}

  // Returns the kernel of activation(sum + bias), or of activation(sum) without a bias.
  Result<KernelRef> epilogue(DType dtype, bool bias, Activation activation);
  // Returns the kernel of x * scale + shift.
  Result<KernelRef> prologue(DType dtype);

 private:
  Launcher& launcher_;
  std::map<std::pair<DType, int>, KernelRef> known_;
};

}  // namespace arraycore
