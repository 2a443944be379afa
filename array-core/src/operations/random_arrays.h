// Makes arrays of random numbers. Each takes one launch of a kernel of ops/random.h. The kernels
// are kept. Python's thread only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "ops/random.h"
#include "runtime/launcher.h"

namespace arraycore {

struct RandomRequest {
  ops::Distribution distribution = ops::Distribution::bits;
  DType dtype = DType::uint32;
  std::array<std::uint32_t, 2> key{};
  std::array<std::uint32_t, 4> counter{};
  // The parameters of the distribution. Both have the type ops::parameter_of().
  ir::Scalar a;
  ir::Scalar b;
  Dims shape;
  const Array* each = nullptr;  // one parameter for each element, if ops::takes_array()
};

class RandomArrays {
 public:
  explicit RandomArrays(Launcher& launcher) : launcher_(launcher) {}

  // Makes an array. REQUIRES: ops::draws(distribution, dtype). Errors: those of allocate; value,
  // "loop_too_long", "shapes_do_not_broadcast".
  Result<Array> make(const RandomRequest& request);

 private:
  Result<KernelRef> kernel(ops::Distribution distribution, DType dtype);

  Launcher& launcher_;
  // The kernels that were made, at index distribution * kDTypes + dtype.
  std::array<std::optional<KernelRef>, ops::kDistributions * kDTypes> kernels_;
};

}  // namespace arraycore
