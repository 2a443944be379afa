// The table of reductions, and how ufuncs reduce. New rows are added here only.
#include "ops/reductions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

namespace arraycore::ops {
namespace {

// The error of a float sum grows with the height of its tree of additions. The errors of a
// quotient, a root and a square are added to it.
constexpr Growth kNoGrowth{};
constexpr Growth kSum{.base = 2, .by_log = 1};
constexpr Growth kProductGrowth{.base = 2, .by_step = 1, .complex_by_step = 8};
constexpr Growth kMean{.base = 5, .by_log = 1};
constexpr Growth kVariance{.base = 16, .by_log = 4};

constexpr bool kSkipsNan = true;
constexpr bool kRoot = true;

constexpr std::array kReductions{
    Reduction{"sum", Form::fold, "add", false, false, kSum},
    Reduction{"prod", Form::fold, "multiply", false, false, kProductGrowth},
    Reduction{"max", Form::fold, "maximum", false, false, kNoGrowth},
    Reduction{"min", Form::fold, "minimum", false, false, kNoGrowth},
    Reduction{"any", Form::fold, "logical_or", false, false, kNoGrowth},
    Reduction{"all", Form::fold, "logical_and", false, false, kNoGrowth},
    Reduction{"count_nonzero", Form::count, "", false, false, kNoGrowth},
    Reduction{"mean", Form::mean, "", false, false, kMean},
    Reduction{"var", Form::variance, "", false, false, kVariance},
    Reduction{"std", Form::variance, "", false, kRoot, kVariance},
    Reduction{"ptp", Form::range, "", false, false, kNoGrowth},
    Reduction{"argmax", Form::place, "maximum", false, false, kNoGrowth},
    Reduction{"argmin", Form::place, "minimum", false, false, kNoGrowth},
    Reduction{"nansum", Form::fold, "add", kSkipsNan, false, kSum},
    Reduction{"nanprod", Form::fold, "multiply", kSkipsNan, false, kProductGrowth},
    Reduction{"nanmax", Form::fold, "fmax", false, false, kNoGrowth},
    Reduction{"nanmin", Form::fold, "fmin", false, false, kNoGrowth},
    Reduction{"nanmean", Form::mean, "", kSkipsNan, false, kMean},
    Reduction{"nanvar", Form::variance, "", kSkipsNan, false, kVariance},
    Reduction{"nanstd", Form::variance, "", kSkipsNan, kRoot, kVariance},
    Reduction{"nanargmax", Form::place, "maximum", kSkipsNan, false, kNoGrowth},
    Reduction{"nanargmin", Form::place, "minimum", kSkipsNan, false, kNoGrowth},
};

struct Row {
  std::string_view name;
  Reducible reducible;
};
constexpr bool kReorderable = true;
constexpr bool kByTree = true;
// Ufuncs that are not listed have no identity, and the order of their elements matters.
constexpr std::array kReducibles{
    Row{"add", {Identity::zero, kReorderable, kByTree}},
    Row{"multiply", {Identity::one, kReorderable, kByTree}},
    Row{"maximum", {Identity::none, kReorderable, kByTree}},
    Row{"minimum", {Identity::none, kReorderable, kByTree}},
    Row{"fmax", {Identity::none, kReorderable, kByTree}},
    Row{"fmin", {Identity::none, kReorderable, kByTree}},
    Row{"logical_or", {Identity::zero, kReorderable, kByTree}},
    Row{"logical_and", {Identity::one, kReorderable, kByTree}},
    Row{"logical_xor", {Identity::zero, kReorderable, kByTree}},
    Row{"bitwise_or", {Identity::zero, kReorderable, kByTree}},
    Row{"bitwise_and", {Identity::all_bits, kReorderable, kByTree}},
    Row{"bitwise_xor", {Identity::zero, kReorderable, kByTree}},
    Row{"hypot", {Identity::zero, kReorderable, kByTree}},
    Row{"logaddexp", {Identity::infinity_below, kReorderable, kByTree}},
    Row{"logaddexp2", {Identity::infinity_below, kReorderable, kByTree}},
    // gcd uses a loop (Euclid's algorithm), so its elements are not combined in a tree.
    Row{"gcd", {Identity::zero, kReorderable, false}},
    Row{"lcm", {Identity::none, kReorderable, false}},
};

bool widens_integers(const UFunc& ufunc) { return ufunc.name == "add" || ufunc.name == "multiply"; }

bool is_logical(const UFunc& ufunc) { return ufunc.name.starts_with("logical_"); }

Error no_loop(const UFunc& ufunc, DType array, std::optional<DType> dtype) {
  return {ErrorKind::type, "no_loop",
          std::string(ufunc.name) + " does not reduce " + std::string(name_of(array)) +
              (dtype ? " with dtype " + std::string(name_of(*dtype)) : "") +
              ": its results are no operands of its own."};
}

}  // namespace

float Growth::ulp(std::int64_t elements, bool complex) const {
  const auto count = static_cast<float>(std::max<std::int64_t>(elements, 1));
  return base + by_log * std::log2(count) + (complex ? complex_by_step : by_step) * count;
}

std::span<const Reduction> reductions() { return kReductions; }

std::optional<ReductionId> find_reduction(std::string_view name) {
  const auto* const found = std::ranges::find(kReductions, name, &Reduction::name);
  if (found == kReductions.end()) return std::nullopt;
  return static_cast<ReductionId>(found - kReductions.begin());
}

Reducible reducible(const UFunc& ufunc) {
  const auto* const found = std::ranges::find(kReducibles, ufunc.name, &Row::name);
  return found == kReducibles.end() ? Reducible{} : found->reducible;
}

std::optional<ir::Scalar> identity_of(const UFunc& ufunc, DType dtype) {
  switch (reducible(ufunc).identity) {
    case Identity::none:
      return std::nullopt;
    case Identity::zero:
      return ir::scalar_of(dtype, 0.0);
    case Identity::one:
      return ir::scalar_of(dtype, 1.0);
    case Identity::all_bits:
      return ir::scalar_of(dtype, std::int64_t{dtype == DType::boolean ? 1 : -1});
    case Identity::infinity_below:
      return ir::scalar_of(dtype, -std::numeric_limits<double>::infinity());
  }
  return std::nullopt;
}

Result<DType> fold_dtype(const UFunc& ufunc, DType array, std::optional<DType> out,
                         std::optional<DType> dtype) {
  // Logical ufuncs reduce to a bool, whatever the element's dtype.
  if (is_logical(ufunc)) {
    if (dtype && *dtype != DType::boolean) return no_loop(ufunc, array, dtype);
    return DType::boolean;
  }
  if (!dtype && !out && widens_integers(ufunc)) {
    if (kind_of(array) == Kind::unsigned_integer) return DType::uint64;
    if (is_integer(array) || array == DType::boolean) return DType::int64;
  }
  // In the next step of the reduction, the first operand is the total.
  std::array<Operand, 2> operands;
  operands[0].dtype = dtype ? *dtype : out.value_or(array);
  operands[1].dtype = dtype ? *dtype : array;
  for (int attempt = 0; attempt < 2; ++attempt) {
    TRY(const auto& loop, resolve(ufunc, PromotionMode::numpy2, operands));
    const DType result = loop.results[0];
    if (result == loop.operands[0] && result == loop.operands[1]) {
      if (dtype && result != *dtype) break;
      return result;
    }
    // If the loop's result has another type than its operands (a quotient of integers is a float),
    // the next step searches for a loop with operands of that type. It does not do so for bools,
    // which comparisons give.
    if (result == DType::boolean) break;
    operands[0].dtype = operands[1].dtype = result;
  }
  return no_loop(ufunc, array, dtype);
}

}  // namespace arraycore::ops
