// The kernels of binary operations on arrays of one dtype.
#pragma once

#include <optional>

#include "api/context.h"
#include "ir/ir.h"

namespace arraycore {

// out = a OP b. With `scalar`, the operand on that side is one value instead of an array.
// Parameters in order: the operands from left to right, then the output.
ir::Kernel binary_kernel(BinaryOperation operation, DType dtype, std::optional<Side> scalar);

}  // namespace arraycore
