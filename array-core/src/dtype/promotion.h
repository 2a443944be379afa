// Finds the common dtype of an operation's operands, and the casts that a casting rule allows.
// Pure; any thread. For single operations (true_divide, sum) see the table in ops.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "dtype/dtype.h"

namespace arraycore {

enum class PromotionMode : std::uint8_t {
  // NumPy 2 (NEP 50): Python's int, float and complex are weak; NumPy's scalars count as arrays.
  numpy2 = 0,
  // The rules of CuPy before it followed NEP 50. NumPy's scalars are weak too if some array is of
  // at least their category (bool < integers < floating and complex). So a float32 array times
  // np.float64(2) stays float32. There are two differences from CuPy. First, CuPy looked at values
  // (a uint8 array plus 300 became uint16); here no dtype depends on a value, and check_fits()
  // refuses such a scalar. Second, integer arrays are weak here if an array is floating or complex,
  // so that int32 labels and float32 scores give float32. NumPy and CuPy take float64 there, which
  // no browser's GPU has.
  cupy = 1,
};

// The kinds of Python scalars that are weak. Python's bool is not among them: it counts as NumPy's
// bool.
enum class PythonScalar : std::uint8_t { integer = 0, floating = 1, complex = 2 };
struct ScalarOperand {
  std::optional<PythonScalar> python;  // none: a NumPy scalar of `dtype`
  DType dtype = DType::boolean;

  static ScalarOperand of(PythonScalar kind) { return {kind, DType::boolean}; }
  static ScalarOperand of(DType dtype) { return {std::nullopt, dtype}; }
};

// Returns the same dtype as NumPy's np.promote_types.
DType promote(DType a, DType b);

// Returns the dtype of NumPy's np.result_type for arrays and then scalars; float64 without
// operands. It is not a repeated promote(): (int16, uint16, float32) gives float32, as in NumPy.
DType result_type(PromotionMode mode, std::span<const DType> arrays,
                  std::span<const ScalarOperand> scalars);

enum class Casting : std::uint8_t { no = 0, equiv = 1, safe = 2, same_kind = 3, unsafe = 4 };
bool can_cast(DType from, DType to, Casting casting);

// A Python int as sign and magnitude. `beyond` is set for an int of more than 64 bits, which fits
// no integer dtype.
struct PythonInt {
  bool negative = false;
  std::uint64_t magnitude = 0;
  bool beyond = false;
};

// Checks that a weak int fits the array's dtype: `np.uint8(1) + 300` raises. Every int fits bool
// and each floating and complex dtype (as infinity at worst). Error: value, "scalar_out_of_bounds",
// in NumPy's words. (Python's layer raises OverflowError.)
Status check_fits(const PythonInt& value, DType dtype);

}  // namespace arraycore
