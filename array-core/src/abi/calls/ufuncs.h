// The words of the operation table's calls, and the most frequent calls, which need no words.
// Touched by Python's thread only.
//
// AC_CALL_UFUNC: the ufunc; dtype + 1, or 0; the casting rule of results to `out` (a number of
// promotion.h); the id of `where`, or 0; the ids of two `out`, or 0; then the operands, each as
//   -1, an array's id
//   AC_PYTHON_INT, negative (0 or 1), the magnitude (two words), 1 if it has more than 64 bits, the
//     nearest double (two words)
//   AC_PYTHON_FLOAT, a double (two words)
//   AC_PYTHON_COMPLEX, real and imaginary part (four words)
//   AC_PYTHON_BOOL, 0 or 1
//   AC_NUMPY_SCALAR, its dtype, its bytes, padded with zeros (four words)
// Returns the first result's id, or 0 where it went to `out`.
//
// AC_CALL_RESULT: no words. Returns the id of the second result of the last ufunc call that had
// one.
//
// AC_CALL_TOLERANCE: the ufunc; 1 for a GPU, 0 for the CPU; 1 for the floor, 0 for the units in the
// last place (ops/tolerance.h); the dtypes of a loop's operands. Returns the bits of the number as
// a float32, which is never negative. Error: type, "no_loop".
#pragma once

#include <cstdint>

#include "abi/calls/context.h"
#include "abi/calls/words.h"
#include "base/result.h"

namespace arraycore::calls {

Result<ArrayId> unary(Context& context, std::int32_t ufunc, ArrayId a);
Result<ArrayId> binary(Context& context, std::int32_t ufunc, ArrayId a, ArrayId b);
// `kind` is one of ac_scalar_kind; with `left` it is value OP a.
Result<ArrayId> binary_scalar(Context& context, std::int32_t ufunc, ArrayId a, double value,
                              std::int32_t kind, bool left);

// Reads a scalar as described above, after its `kind`. Every call with a value uses it.
UFuncOperand read_scalar(Words& words, std::int32_t kind);

}  // namespace arraycore::calls
