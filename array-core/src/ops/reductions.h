// NumPy's reductions as one table beside the ufuncs': what is made of each element, how two are
// combined (mostly by a ufunc), what becomes of the total, and which dtypes that happens in. Every
// reduction, `ufunc.reduce` and `ufunc.accumulate` takes its kernel from here. Pure; any thread.
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

// A reduction's number is its place in reductions(); Python asks for it by name once.
using ReductionId = std::int32_t;

enum class Form : std::uint8_t {
  fold,      // the ufunc of all elements
  count,     // how many are not zero
  mean,      // the sum divided by how many there are
  variance,  // the mean of the squared distances from the mean, which comes as an operand
  range,     // the largest less the smallest
  place,     // where the element is that the ufunc (maximum, minimum) chooses; the first of several
};

// How far a result may be from the exact one, in units in the last place of the type that it is
// computed in. A sum's are those of the sum of magnitudes, since what cancels leaves its error.
struct Growth {
  float base = 0;
  float by_log = 0;           // for each doubling of the elements: the height of a tree
  float by_step = 0;          // for each element: of products, whose relative errors add up
  float complex_by_step = 0;  // the same where products are of complex numbers
  float ulp(std::int64_t elements, bool complex) const;
};

struct Reduction {
  std::string_view name;  // NumPy's
  Form form = Form::fold;
  std::string_view ufunc;  // of fold and place; the others' is known
  bool skips_nan = false;  // fold: NaN counts as the ufunc's identity; else: it does not count
  bool root = false;       // variance: the square root of it
  Growth growth{};
};

std::span<const Reduction> reductions();
std::optional<ReductionId> find_reduction(std::string_view name);

// ---- ufuncs as reductions

enum class Identity : std::uint8_t { none, zero, one, all_bits, infinity_below };

// What a ufunc is when it reduces; NumPy's `identity`, and whether several axes may be reduced.
struct Reducible {
  Identity identity = Identity::none;
  bool reorderable = false;
  // Combines in any order, by an expression: a tree may do it. The others go one by one.
  bool by_tree = false;
};
Reducible reducible(const UFunc& ufunc);
// The identity as a value of `dtype`; nothing where there is none.
std::optional<ir::Scalar> identity_of(const UFunc& ufunc, DType dtype);

// The dtype that the ufunc combines in, as NumPy chooses it: operands of `array`, a result that
// goes to `out`, or the `dtype` that the caller asks for. Sums and products of bools and integers
// are of 64 bits where nothing else is asked. Error: type, "no_loop".
Result<DType> fold_dtype(const UFunc& ufunc, DType array, std::optional<DType> out,
                         std::optional<DType> dtype);

// ---- kernels

// Which kernel. `x` lies in memory as `array`, is converted to `loop`, and the result to `out`.
struct ReductionSpec {
  Form form = Form::fold;
  const UFunc* ufunc = nullptr;  // of fold and place
  DType array = DType::float32;
  DType loop = DType::float32;
  DType out = DType::float32;
  bool where = false;    // an operand of bools; elements elsewhere do not count
  bool initial = false;  // fold: a scalar that the total is combined with; by_tree: what elements
                         // elsewhere are taken for, where the ufunc has no identity
  bool skips_nan = false;
  bool root = false;
  bool carried = false;  // in order: an operand holds each row's total so far; excludes initial
};

// The dtype that the values are computed in: float16's are float32.
DType computed_in(DType loop);

// Parameters: x; mean (variance: of the computed type); where; initial (of `loop`), count (mean and
// variance: of the computed type's real one, how many elements a row has), less (variance: NumPy's
// ddof, of the same type); then y. REQUIRES: the ufunc is by_tree.
ir::Kernel make_reduction_kernel(const ReductionSpec& spec);

// A fold that gives every total on the way, along the reduced axes: parameters x, y.
// REQUIRES: the ufunc is by_tree.
ir::Kernel make_scan_kernel(const ReductionSpec& spec);

// A fold that goes one by one, for ufuncs whose order counts: an elementwise kernel over the rows.
// Parameters: x (raw, a row after the other in C order), where (raw, likewise), initial or
// (carried) the rows' totals so far, of `loop`; length (of a row, int32), y. `running`: y is raw
// and takes every total on the way.
ir::Kernel make_ordered_kernel(const ReductionSpec& spec, bool running);

}  // namespace arraycore::ops
