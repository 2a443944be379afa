// Converts scalars to elements of arrays. Python's thread only.
#pragma once

#include "base/result.h"
#include "ir/value.h"
#include "operations/ufunc_call.h"

namespace arraycore::calls {

// Returns the scalar as an element of `dtype`, with the errors of an assignment in NumPy: Python's
// numbers must fit, NumPy's scalars are cast.
Result<ir::Scalar> element_of(const UFuncOperand& scalar, DType dtype);

}  // namespace arraycore::calls
