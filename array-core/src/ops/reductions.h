// NumPy's reductions as one table. A row says which value is made of an element, how two values are
// combined (mostly by a ufunc), what becomes of the total, and in which dtypes. Every reduction,
// `ufunc.reduce` and `ufunc.accumulate` takes its kernel from here. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "dtype/dtype.h"
#include "ir/value.h"
#include "ops/ufunc.h"

namespace arraycore::ops {

// A reduction's index in reductions(). Python asks for it once, by name.
using ReductionId = std::int32_t;

enum class Form : std::uint8_t {
  fold,      // combines all elements by the ufunc
  count,     // counts elements that are not zero
  mean,      // the sum divided by the count
  variance,  // the mean of the squared distances from the mean, which is an operand
  range,     // the largest minus the smallest
  place,     // the first position of the element that the ufunc (maximum or minimum) selects
};

// The growth of a result's error with the number of elements, in units in the last place of the
// type of the computation. For a sum they are units of the sum of magnitudes, because errors remain
// when terms cancel.
struct Growth {
  float base = 0;
  float by_log = 0;   // for each doubling of the number of elements, which adds a level to the tree
  float by_step = 0;  // for each element, in products, whose relative errors add up
  float complex_by_step = 0;  // the same for products of complex numbers
  float ulp(std::int64_t elements, bool complex) const;
};

struct Reduction {
  std::string_view name;  // NumPy's
  Form form = Form::fold;
  std::string_view ufunc;  // of fold and place; the others need none
  bool skips_nan =
      false;          // in a fold, NaN counts as the ufunc's identity; elsewhere it does not count
  bool root = false;  // the square root of a variance
  Growth growth{};
};

std::span<const Reduction> reductions();
std::optional<ReductionId> find_reduction(std::string_view name);

// ---- ufuncs as reductions

enum class Identity : std::uint8_t { none, zero, one, all_bits, infinity_below };

// The rules by which a ufunc reduces: NumPy's `identity`, and whether several axes are possible.
struct Reducible {
  Identity identity = Identity::none;
  bool reorderable = false;
  // True: an expression combines two values in any order, so that values can be combined in a tree.
  // Other ufuncs take one element after the other.
  bool by_tree = false;
};
Reducible reducible(const UFunc& ufunc);
// Returns the identity as a value of `dtype`, or nullopt if the ufunc has none.
std::optional<ir::Scalar> identity_of(const UFunc& ufunc, DType dtype);

// Returns the dtype in which the ufunc combines, as NumPy chooses it from the operands' dtype
// `array`, the dtype `out` of a given result, and the `dtype` that the caller asks for. By default,
// sums and products of bools and integers have 64 bits. Error: type, "no_loop".
Result<DType> fold_dtype(const UFunc& ufunc, DType array, std::optional<DType> out,
                         std::optional<DType> dtype);

// ---- kernels

// Selects a kernel. `x` has dtype `array` in memory and is converted to `loop`. The result is
// converted to `out`.
struct ReductionSpec {
  Form form = Form::fold;
  const UFunc* ufunc = nullptr;  // of fold and place
  DType array = DType::float32;
  DType loop = DType::float32;
  DType out = DType::float32;
  bool where = false;  // there is an operand of bools; elements where it is false do not count
  bool initial =
      // True: a scalar operand is combined with the total. If the ufunc of a fold is by_tree and
      // has no identity, the scalar also replaces elements that do not count.
      false;
  bool skips_nan = false;
  bool root = false;
  // Only for make_ordered_kernel. True: an operand has each row's total so far. Then `initial` is
  // false.
  bool carried = false;
};

// Returns the dtype in which values are computed: float32 for float16.
DType computed_in(DType loop);

// Makes a reduction. Its parameters, as far as the spec needs them, are in this order: x; mean (for
// variance; of the computed type); where; initial (of `loop`); count (for mean and variance: the
// number of elements of a row, as a real number of the computed precision); less (for variance:
// NumPy's ddof, of the type of count); y. REQUIRES: the ufunc is by_tree.
ir::Kernel make_reduction_kernel(const ReductionSpec& spec);

// Makes a fold that gives every intermediate total along the reduced axes. Parameters: x, y.
// REQUIRES: the ufunc is by_tree.
ir::Kernel make_scan_kernel(const ReductionSpec& spec);

// Makes a fold that takes one element after the other, for ufuncs whose order matters: an
// elementwise kernel over the rows. Its parameters are x (raw, one row after the other in C order),
// where (raw, in the same order), initial or, with `carried`, each row's total so far (both of the
// dtype `loop`), length (of a row, int32), y. With `running`, y is raw and gets every intermediate
// total.
ir::Kernel make_ordered_kernel(const ReductionSpec& spec, bool running);

}  // namespace arraycore::ops
