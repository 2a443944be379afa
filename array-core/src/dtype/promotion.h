// Which dtype an operation's operands meet in, and which casts a casting rule allows. Pure; any
// thread. Dtypes of single operations (true_divide, sum) are the operation table's matter.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "dtype/dtype.h"

namespace arraycore {

enum class PromotionMode : std::uint8_t {
  // NumPy 2 (NEP 50): Python's int, float and complex are weak, NumPy's scalars count as arrays.
  numpy2 = 0,
  // As CuPy before it followed NEP 50: NumPy's scalars are weak too where some array is of at least
  // their category (bool < integers < floating and complex), so a float32 array times np.float64(2)
  // stays float32. CuPy also looked at values (a uint8 array plus 300 became uint16); here no dtype
  // depends on a value, and such a scalar is refused by check_fits. Beyond CuPy's: arrays of
  // integers
  // are weak where an array is floating or complex, so that int32 labels and float32 scores meet in
  // float32. NumPy and CuPy take float64 there, which no browser's device computes.
  cupy = 1,
};

// A scalar operand. Python's bool is none of the weak ones: it is NumPy's bool.
enum class PythonScalar : std::uint8_t { integer = 0, floating = 1, complex = 2 };
struct ScalarOperand {
  std::optional<PythonScalar> python;  // else a NumPy scalar of `dtype`
  DType dtype = DType::boolean;

  static ScalarOperand of(PythonScalar kind) { return {kind, DType::boolean}; }
  static ScalarOperand of(DType dtype) { return {std::nullopt, dtype}; }
};

// NumPy's np.promote_types.
DType promote(DType a, DType b);

// NumPy's np.result_type: the arrays first, then the scalars. With no operand: float64.
// Not a fold of promote(): (int16, uint16, float32) is float32, as in NumPy.
DType result_type(PromotionMode mode, std::span<const DType> arrays,
                  std::span<const ScalarOperand> scalars);

enum class Casting : std::uint8_t { no = 0, equiv = 1, safe = 2, same_kind = 3, unsafe = 4 };
bool can_cast(DType from, DType to, Casting casting);

// A Python int as sign and magnitude. An int beyond 64 bits has `beyond` set and fits no integer.
struct PythonInt {
  bool negative = false;
  std::uint64_t magnitude = 0;
  bool beyond = false;
};

// A weak int takes the array's dtype and must be representable there: `np.uint8(1) + 300` raises.
// Fits every floating and complex dtype (as infinity at worst), and bool.
// Error: value, "scalar_out_of_bounds", in NumPy's words. (Python's layer raises OverflowError.)
Status check_fits(const PythonInt& value, DType dtype);

}  // namespace arraycore
