// NumPy's universal functions as one table: names, loops (which dtypes meet in which result), the
// IR of one element, and the derivative where there is one. Everything that is computed element by
// element comes from here; a test compares the table's dtypes with NumPy's own and every kernel
// with NumPy's values. Pure; any thread.
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

// A ufunc's number is its place in table(); Python asks for it by name once.
using UFuncId = std::int32_t;

inline constexpr int kMaxOperands = 3;
inline constexpr int kMaxResults = 2;

using Values = std::vector<ir::Value>;
// The results of one element. `x` are the operands, converted to the loop's types.
using Body = Values (*)(ir::Builder& builder, const Values& x);

// How far a result may be from the exact one. Only what a row knows of itself stands here: what its
// operations may err on a GPU is codegen/accuracy.h's, and tolerance.h puts both together.
struct Tolerance {
  float ulp = 0;  // on a CPU, units in the last place of the result's type; 0: the very bits
  // The same for complex loops, by the larger part: NumPy contracts products to fused ones.
  float complex_ulp = 0;
  // Results smaller than this may err by as much as this would: functions that run through zero.
  float floor = 0;
};

struct UFunc {
  std::string_view name;  // NumPy's; scipy.special's for those that NumPy lacks
  std::int8_t operands = 1;
  std::int8_t results = 1;
  // The loops in the order in which they are tried, as NumPy writes them ("qQ->?"), the same
  // pattern over several types as "11->1:bBhH" (1 stands for each letter in turn).
  std::string_view loops;
  Body body = nullptr;
  Tolerance tolerance{};
  // float16 operands are computed in float32 and rounded once, except where the bits of the very
  // type matter.
  enum class Half : std::uint8_t { in_float32, native } half = Half::in_float32;
  // Operands that are all bool are refused, as NumPy does for - and its like, though a safe cast
  // would find a loop.
  bool refuses_bool = false;
};

std::span<const UFunc> table();
std::optional<UFuncId> find(std::string_view name);

// One operand of a call: an array, or a scalar that may be weak.
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

// The first loop that takes the operands by safe casts. Error: type, "no_loop", naming ufunc and
// dtypes. REQUIRES: as many operands as the ufunc has.
// `result`: the first result's dtype where the caller asks for one; operands then need casts of the
// same kind only, as with NumPy's `dtype=`.
Result<Loop> resolve(const UFunc& ufunc, PromotionMode mode, std::span<const Operand> operands,
                     std::optional<DType> result = std::nullopt);

// All loops of a ufunc.
std::vector<Loop> loops_of(const UFunc& ufunc);

// The kernel of a call. Parameters: the operands in order (`x0`..: arrays elementwise in their own
// dtype, scalars of the loop's type), then the results (`y0`..) of dtype `out`, converted where
// that differs from the loop's.
struct KernelSpec {
  const UFunc* ufunc = nullptr;
  Loop loop;
  std::array<DType, kMaxOperands> operands{};  // as they lie in memory
  std::array<bool, kMaxOperands> scalar{};
  std::array<DType, kMaxResults> out{};
  bool where = false;  // one more operand before the results, `where`: a bool; false stores nothing
};
ir::Kernel make_kernel(const KernelSpec& spec);

}  // namespace arraycore::ops
