// The hot operations, which need no words. Python's thread only.
#pragma once

#include <cstdint>

#include "abi/calls/context.h"
#include "base/result.h"

namespace arraycore::calls {

Result<ArrayId> unary(Context& context, std::int32_t ufunc, ArrayId a);
Result<ArrayId> binary(Context& context, std::int32_t ufunc, ArrayId a, ArrayId b);
// `kind` is one of ac_scalar_kind; with `left` it is value OP a.
Result<ArrayId> binary_scalar(Context& context, std::int32_t ufunc, ArrayId a, double value,
                              std::int32_t kind, bool left);

}  // namespace arraycore::calls
