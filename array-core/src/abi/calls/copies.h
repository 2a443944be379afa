// Conversion of scalars to elements. Python's thread only.
#pragma once

#include "base/result.h"
#include "ir/value.h"
#include "operations/ufunc_call.h"

namespace arraycore::calls {

// Returns the scalar as an element of `dtype`, with the errors of NumPy's assignment: weak numbers
// must fit, NumPy's scalars are cast.
Result<ir::Scalar> element_of(const UFuncOperand& scalar, DType dtype);

}  // namespace arraycore::calls
