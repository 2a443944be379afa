// How far a result of the operation table may lie from the exact one: a row's own tolerance
// (ufunc.h) and, on a GPU, the bounds of the operations that its kernel is made of
// (codegen/accuracy.h). The one source for every comparison with NumPy. Pure; any thread.
#pragma once

#include "ops/ufunc.h"

namespace arraycore::ops {

enum class Executor : std::uint8_t { cpu = 0, gpu = 1 };

// A result's distance in units in the last place of its type (0: the very bits), counted from
// `floor` on: what is smaller may err by as much as `floor` would. A complex number's parts are
// measured by the larger of the two.
struct Bound {
  float ulp = 0;
  float floor = 0;
};

Bound bound_of(const UFunc& ufunc, const Loop& loop, Executor executor);

}  // namespace arraycore::ops
