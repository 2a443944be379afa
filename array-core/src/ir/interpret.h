// The reference interpreter: one element after the other, every value a Scalar, no cleverness. It
// judges every other executor. Reductions combine halves recursively, so that a float sum errs like
// NumPy's pairwise one. Any thread; touches only the arrays it is given.
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

// One parameter's argument: an array (elementwise, raw) or a value of the parameter's type.
struct Argument {
  std::byte* base = nullptr;  // of the storage; the view's offset counts from here
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

// What a kernel runs over. Elementwise arguments broadcast to `loop`; those that are written have
// its very shape. In a reduction, bit `k` of `reduced` says that axis `k` is reduced, and written
// elementwise arguments have the shape of the other axes; in a scan, which runs along the axes of
// `reduced`, the loop's.
struct Launch {
  Dims loop;
  std::uint32_t reduced = 0;
  std::vector<Argument> arguments;
};

// The broadcast shape of the elementwise arguments (in a reduction: of those that are only read).
Result<Dims> loop_shape(const Kernel& kernel, std::span<const Argument> arguments);

// The loop's shape without the reduced axes.
Dims output_shape(const Launch& launch);

// Numbers and shapes of the arguments; every executor begins with it.
Status check_launch(const Kernel& kernel, const Launch& launch);

// REQUIRES: verify(kernel) passed; the arrays lie inside their storage.
Status interpret(const Kernel& kernel, const Launch& launch);

// One operation on values of `operand` type (the type of its first operand) giving `result`.
// REQUIRES: `op` is pure and neither a leaf, select nor call.
Scalar apply(Op op, DType operand, DType result, const Scalar* operands);

}  // namespace arraycore::ir
