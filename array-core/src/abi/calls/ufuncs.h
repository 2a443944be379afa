// The most frequent operations. Their arguments are plain numbers, not words. Python's thread only.
#pragma once

#include <cstdint>

#include "abi/calls/context.h"
#include "base/result.h"

namespace arraycore::calls {

Result<ArrayId> unary(Context& context, std::int32_t ufunc, ArrayId a);
Result<ArrayId> binary(Context& context, std::int32_t ufunc, ArrayId a, ArrayId b);
// Computes `a OP value`, or `value OP a` if `left` is set. `kind` is one of ac_scalar_kind.
Result<ArrayId> binary_scalar(Context& context, std::int32_t ufunc, ArrayId a, double value,
                              std::int32_t kind, bool left);

}  // namespace arraycore::calls
