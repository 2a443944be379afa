// Random kernels with their arguments, from a seed: expressions, branches, loops with break and
// continue, returns, functions, raw reads and writes, atomics, reductions. What executors are
// compared on. Every kernel verifies, ends, and means the same in whatever order its elements run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/interpret.h"
#include "ir/ir.h"

namespace arraycore::ir {

enum class Subset : std::uint8_t {
  all,  // every type and operation
  gpu,  // types of a GPU; operations whose results are the same bits everywhere
};

struct RandomArgument {
  std::vector<std::byte> bytes;  // the storage; empty for a scalar
  View view;
  Scalar scalar;
};

struct RandomCase {
  Kernel kernel;
  Dims loop;
  std::uint32_t reduced = 0;
  std::vector<RandomArgument> arguments;

  // Points into `arguments`.
  Launch launch();
};

RandomCase random_case(std::uint64_t seed, Subset subset);

// Whether two values are the same: equal bits, or both NaN.
bool same_value(DType dtype, const std::byte* a, const std::byte* b);

}  // namespace arraycore::ir
