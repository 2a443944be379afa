// NumPy's universal functions as one table: names, loops (which operand dtypes give which result)
// and the IR of one element. Everything that is computed element by element comes from here. Tests
// compare the table's dtypes with NumPy's, and every kernel with NumPy's values. Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dtype/dtype.h"
#include "dtype/promotion.h"
#include "ir/builder.h"

namespace arraycore::ops {

// A ufunc's index in table(). Python asks for it once, by name.
using UFuncId = std::int32_t;

inline constexpr int kMaxOperands = 3;
inline constexpr int kMaxResults = 2;

using Values = std::vector<ir::Value>;
// Returns the results of one element. `x` are the operands, converted to the loop's types.
using Body = Values (*)(ir::Builder& builder, const Values& x);

// The part of a result's possible error that depends on the ufunc's row of the table.
// codegen/accuracy.h has the errors of single operations on a GPU, and tolerance.h combines both.
struct Tolerance {
  float ulp = 0;  // on a CPU, in units in the last place of the result's type; 0: the same bits
  // The tolerance of complex loops, for the part with the larger error. Even a product has a
  // tolerance here, because NumPy may compute complex products with fused multiply-add.
  float complex_ulp = 0;
  // The floor for functions that pass through 0: a result smaller than `floor` may have the error
  // that `floor` itself would have.
  float floor = 0;
};

struct UFunc {
  std::string_view name;  // as in NumPy, or in scipy.special for those that NumPy lacks
  std::int8_t operands = 1;
  std::int8_t results = 1;
  // The loops in the order in which they are tried, as NumPy writes them: "qQ->?". A pattern over
  // several types is "11->1:bBhH", in which 1 stands for each letter in turn.
  std::string_view loops;
  Body body = nullptr;
  Tolerance tolerance{};
  // in_float32: float16 operands are computed in float32 and rounded once. native: the bits of
  // float16 itself matter.
  enum class Half : std::uint8_t { in_float32, native } half = Half::in_float32;
  // Refuses operands that are all bool, as NumPy does for `subtract` and some other ufuncs,
  // although a safe cast would find a loop.
  bool refuses_bool = false;
};

std::span<const UFunc> table();
std::optional<UFuncId> find(std::string_view name);

// An operand of a call: an array, or a scalar that may be weak.
struct Operand {
  DType dtype = DType::float32;
  bool is_scalar = false;
  std::optional<PythonScalar> python;  // a weak scalar; `dtype` is ignored
};

struct Loop {
  std::array<DType, kMaxOperands> operands{};
  std::array<DType, kMaxResults> results{};
  bool operator==(const Loop&) const = default;
};

// Returns the first loop that takes the operands by safe casts. `result` is the first result's
// dtype where the caller asks for one. Then operands may be cast by same_kind, as with NumPy's
// `dtype=`, or in any way if `casting` is unsafe. Error: type, "no_loop", naming ufunc and dtypes.
// REQUIRES: as many operands as the ufunc has.
Result<Loop> resolve(const UFunc& ufunc, PromotionMode mode, std::span<const Operand> operands,
                     std::optional<DType> result = std::nullopt,
                     Casting casting = Casting::same_kind);

// Returns all loops of a ufunc.
std::vector<Loop> loops_of(const UFunc& ufunc);

// Describes the kernel of a call. Its parameters are the operands in order (`x0`, ...: arrays are
// elementwise in their own dtype, scalars have the loop's type), then the results (`y0`, ...) of
// dtype `out`, to which the loop's results are converted.
struct KernelSpec {
  const UFunc* ufunc = nullptr;
  Loop loop;
  std::array<DType, kMaxOperands> operands{};  // as in memory
  std::array<bool, kMaxOperands> scalar{};
  std::array<DType, kMaxResults> out{};
  // If true, one more operand comes before the results: the bool `where`. Elements where it is
  // false are not stored.
  bool where = false;
};
ir::Kernel make_kernel(const KernelSpec& spec);

}  // namespace arraycore::ops
