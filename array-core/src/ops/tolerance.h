// Computes how far a result of the operation table may be from the exact one. It combines a row's
// own tolerance (ufunc.h) and, on a GPU, the bounds of the operations in its kernel
// (codegen/accuracy.h). Every comparison with NumPy uses it. Pure; any thread.
#pragma once

#include "ops/ufunc.h"

namespace arraycore::ops {

enum class Executor : std::uint8_t { cpu = 0, gpu = 1 };

// The largest distance of a result in units in the last place of its type (0: the same bits).
// Results smaller than `floor` may have the error that `floor` itself would have. For a complex
// number the larger distance of the two parts counts.
struct Bound {
  float ulp = 0;
  float floor = 0;
};

Bound bound_of(const UFunc& ufunc, const Loop& loop, Executor executor);

}  // namespace arraycore::ops
