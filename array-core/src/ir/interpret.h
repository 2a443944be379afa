// The reference interpreter. It computes one element after the other, with every value as a Scalar,
// and is simple on purpose, because every other executor is compared with it. Reductions split a
// row in the middle, recursively, so that a float sum has errors like those of NumPy's pairwise
// sum. Any thread; it accesses only the arrays that it is given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "ir/ir.h"
#include "ir/value.h"
#include "view/view.h"

namespace arraycore::ir {

// The argument of one parameter: an array (elementwise or raw), or a value of the parameter's type.
struct Argument {
  std::byte* base = nullptr;  // the beginning of the storage, from which the view's offset counts
  View view;
  Scalar scalar;

  static Argument array(void* storage, const View& view) {
    return {static_cast<std::byte*>(storage), view, {}};
  }
  template <typename T>
  static Argument value(DType dtype, T value) {
    return {nullptr, {}, scalar_of(dtype, value)};
  }
};

// The loop and the arguments of a run. Elementwise arguments broadcast to `loop`; written ones have
// exactly its shape. In a reduction, bit `k` of `reduced` says that axis `k` is reduced, and
// written elementwise arguments have the shape of the other axes. A scan runs along the axes of
// `reduced`, and its written arguments have the loop's shape.
struct Launch {
  Dims loop;
  std::uint32_t reduced = 0;
  std::vector<Argument> arguments;
};

// Returns the broadcast shape of the elementwise arguments; in a reduction, of those that are only
// read.
Result<Dims> loop_shape(const Kernel& kernel, std::span<const Argument> arguments);

// Returns the loop's shape without the reduced axes.
Dims output_shape(const Launch& launch);

// Checks the number and the shapes of the arguments. Every executor calls it first.
Status check_launch(const Kernel& kernel, const Launch& launch);

// Runs a kernel. REQUIRES: verify(kernel) passed; the arrays lie inside their storage.
Status interpret(const Kernel& kernel, const Launch& launch);

// Applies one operation to values. `operand` is the type of its first operand, `result` of its
// result. REQUIRES: `op` is pure, and is not a leaf, select or call.
Scalar apply(Op op, DType operand, DType result, const Scalar* operands);

}  // namespace arraycore::ir
