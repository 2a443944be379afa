// Random kernels with their arguments, from a seed: expressions, branches, loops with break and
// continue, returns, functions, raw reads and writes, atomics, reductions. Executors are compared
// on them. Every kernel passes verify() and ends, and its result does not depend on the order of
// its elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/interpret.h"
#include "ir/ir.h"

namespace arraycore::ir {

enum class Subset : std::uint8_t {
  all,  // every type and operation
  gpu,  // types of a GPU, and operations whose results have the same bits everywhere
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

  // Returns the launch, which points into `arguments`.
  Launch launch();
};

RandomCase random_case(std::uint64_t seed, Subset subset);

// Returns whether two values have equal bits, or are both NaN.
bool same_value(DType dtype, const std::byte* a, const std::byte* b);

}  // namespace arraycore::ir
