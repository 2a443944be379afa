// The kernels that stand in stages of products (gemm/stages.h): a bias and an activation of the
// sums, a scale and a shift of what is multiplied. Made once each, and kept. Touched by Python's
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

  // activation(sum + bias), without the bias where there is none.
  Result<KernelRef> epilogue(DType dtype, bool bias, Activation activation);
  // x * scale + shift.
  Result<KernelRef> prologue(DType dtype);

 private:
  Launcher& launcher_;
  std::map<std::pair<DType, int>, KernelRef> known_;
};

}  // namespace arraycore
