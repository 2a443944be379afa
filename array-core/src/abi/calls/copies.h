// Copies and assignments as ac_call takes them: AC_CALL_COPY, AC_CALL_ASSIGN, AC_CALL_FILL.
// Python's thread only.
//
// Words of each call, in order; `items`, as in views.h, are the remaining words.
//
//   COPY    array, dtype + 1 (0: its own), order (one word each). The order is 0 C, 1 F, 2 A (F for
//           an array that is F- and not C-contiguous), 3 K (as in the source's memory). Returns the
//           new array's id.
//   ASSIGN  target, source (one word each), items: `target[items] = source`, cast by
//           ir/scalar.h. Returns 0.
//   FILL    target (one word), scalar, items: `target[items] = scalar`. Returns 0.
//
// A scalar is written as an operand of AC_CALL_UFUNC (ufuncs.h).
//
// Errors of ASSIGN and FILL: value, "read_only" (the target has one element at several places);
// value, "shapes_do_not_broadcast". Errors of FILL: value, "scalar_out_of_bounds" and
// "nan_to_integer"; type, "complex_to_real".
#pragma once

#include "base/result.h"
#include "ir/value.h"
#include "operations/ufunc_call.h"

namespace arraycore::calls {

// Returns the scalar as an element of `dtype`, with the errors of NumPy's assignment: weak numbers
// must fit, NumPy's scalars are cast.
Result<ir::Scalar> element_of(const UFuncOperand& scalar, DType dtype);

}  // namespace arraycore::calls
