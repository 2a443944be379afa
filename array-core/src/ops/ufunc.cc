#include "ops/ufunc.h"

#include <algorithm>
#include <string>

namespace arraycore::ops {
namespace {

constexpr std::string_view kLetters = "?bBhHiIqQefdFD";

DType dtype_of(char letter) { return static_cast<DType>(kLetters.find(letter)); }

// Returns the loop of a pattern such as "11->?", in which `letter` replaces each 1.
Loop loop_from(std::string_view pattern, char letter) {
  Loop loop;
  const std::size_t arrow = pattern.find("->");
  const auto type = [letter](char c) { return dtype_of(c == '1' ? letter : c); };
  for (std::size_t i = 0; i < arrow; ++i) loop.operands[i] = type(pattern[i]);
  for (std::size_t i = arrow + 2; i < pattern.size(); ++i)
    loop.results[i - arrow - 2] = type(pattern[i]);
  return loop;
}

// Calls `each(loop)` for the ufunc's loops in order until it returns true.
template <typename Each>
void walk(std::string_view loops, Each each) {
  while (!loops.empty()) {
    const std::size_t end = std::min(loops.find(' '), loops.size());
    const std::string_view word = loops.substr(0, end);
    loops.remove_prefix(std::min(end + 1, loops.size()));
    const std::size_t colon = word.find(':');
    if (colon == std::string_view::npos) {
      if (each(loop_from(word, '?'))) return;
      continue;
    }
    for (const char letter : word.substr(colon + 1))
      if (each(loop_from(word.substr(0, colon), letter))) return;
  }
}

std::string operand_name(const Operand& operand) {
  if (!operand.python) return std::string(name_of(operand.dtype));
  switch (*operand.python) {
    case PythonScalar::integer:
      return "int";
    case PythonScalar::floating:
      return "float";
    case PythonScalar::complex:
      return "complex";
  }
  return {};
}

// Returns the dtype that the search for a loop uses for scalars, weak or not: the result type of
// all operands.
DType scalar_dtype(PromotionMode mode, std::span<const Operand> operands) {
  std::array<DType, kMaxOperands> arrays{};
  std::array<ScalarOperand, kMaxOperands> scalars{};
  std::size_t array_count = 0;
  std::size_t scalar_count = 0;
  for (const Operand& operand : operands) {
    if (operand.python) {
      scalars[scalar_count++] = ScalarOperand::of(*operand.python);
    } else if (operand.is_scalar) {
      scalars[scalar_count++] = ScalarOperand::of(operand.dtype);
    } else {
      arrays[array_count++] = operand.dtype;
    }
  }
  return result_type(mode, {arrays.data(), array_count}, {scalars.data(), scalar_count});
}

// Returns whether both operands of the ufunc's loops have one type. In ldexp they have two, because
// its second operand is an integer.
bool operands_are_alike(const UFunc& ufunc) {
  bool alike = true;
  walk(ufunc.loops, [&](const Loop& loop) {
    alike = ufunc.operands != 2 || loop.operands[0] == loop.operands[1];
    return true;
  });
  return alike;
}

// Returns the dtype of an operand whose type need not be that of the other operand. A weak integer
// fits every loop, but next to a bool it has NumPy's default type, int64.
DType own_dtype(const Operand& operand, const Operand& other, PromotionMode mode) {
  const bool weak = operand.is_scalar && mode == PromotionMode::cupy && is_integer(operand.dtype);
  if (operand.python == PythonScalar::integer || weak) {
    const bool beside_bool = !other.python && other.dtype == DType::boolean;
    return beside_bool ? DType::int64 : DType::int8;
  }
  if (!operand.python) return operand.dtype;
  return *operand.python == PythonScalar::floating ? DType::float64 : DType::complex128;
}

bool half_in_float32(const UFunc& ufunc, const Loop& loop) {
  if (ufunc.half == UFunc::Half::native) return false;
  return std::any_of(loop.operands.begin(), loop.operands.begin() + ufunc.operands,
                     [](DType d) { return d == DType::float16; });
}

DType widened(DType dtype) { return dtype == DType::float16 ? DType::float32 : dtype; }

}  // namespace

std::optional<UFuncId> find(std::string_view name) {
  const std::span<const UFunc> all = table();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].name == name) return static_cast<UFuncId>(i);
  return std::nullopt;
}

std::vector<Loop> loops_of(const UFunc& ufunc) {
  std::vector<Loop> loops;
  walk(ufunc.loops, [&loops](const Loop& loop) {
    loops.push_back(loop);
    return false;
  });
  return loops;
}

Result<Loop> resolve(const UFunc& ufunc, PromotionMode mode, std::span<const Operand> operands,
                     std::optional<DType> result, Casting casting) {
  std::array<DType, kMaxOperands> types{};
  const bool scalars = std::any_of(operands.begin(), operands.end(),
                                   [](const Operand& o) { return o.is_scalar || o.python; });
  const DType common = scalars ? scalar_dtype(mode, operands) : DType::float32;
  const bool alike = operands_are_alike(ufunc);
  const bool weak_integers =
      mode == PromotionMode::cupy && alike &&
      std::any_of(operands.begin(), operands.end(), [](const Operand& o) {
        return !o.python && !o.is_scalar && (is_floating(o.dtype) || is_complex(o.dtype));
      });
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand& operand = operands[i];
    if (!alike) {
      types[i] = own_dtype(operand, operands[1 - i], mode);
      continue;
    }
    types[i] = operand.python || (operand.is_scalar && mode == PromotionMode::cupy) ? common
                                                                                    : operand.dtype;
    // Weak integers get the narrowest dtype, so that the floating operands choose the loop.
    if (weak_integers && is_integer(types[i])) types[i] = DType::int8;
  }
  const bool bools = std::all_of(types.begin(), types.begin() + ufunc.operands,
                                 [](DType d) { return d == DType::boolean; });
  std::optional<Loop> found;
  const auto look = [&](Casting rule, std::optional<DType> wanted) {
    if (bools && ufunc.refuses_bool) return;
    walk(ufunc.loops, [&](const Loop& loop) {
      for (std::size_t i = 0; i < operands.size(); ++i)
        if (!can_cast(types[i], loop.operands[i], rule)) return false;
      if (wanted && loop.results[0] != *wanted) return false;
      found = loop;
      return true;
    });
  };
  look(Casting::safe, std::nullopt);
  if (result && (!found || found->results[0] != *result)) {
    found.reset();
    look(Casting::same_kind, result);
    if (!found && casting == Casting::unsafe) look(Casting::unsafe, result);
  }
  if (found) return *found;
  std::string names;
  for (const Operand& operand : operands)
    names += (names.empty() ? "" : ", ") + operand_name(operand);
  return Error{ErrorKind::type, "no_loop",
               std::string(ufunc.name) + " does not take (" + names + ")" +
                   (result ? " with dtype " + std::string(name_of(*result)) : "") +
                   ": cast an operand first."};
}

ir::Kernel make_kernel(const KernelSpec& spec) {
  const UFunc& ufunc = *spec.ufunc;
  ir::Builder builder{std::string(ufunc.name)};
  const bool widen = half_in_float32(ufunc, spec.loop);
  std::vector<ir::ParamRef> params;
  for (std::size_t i = 0; i < static_cast<std::size_t>(ufunc.operands); ++i) {
    const std::string name = "x" + std::to_string(i);
    params.push_back(spec.scalar[i] ? builder.scalar(name, spec.loop.operands[i])
                                    : builder.in(name, spec.operands[i]));
  }
  std::optional<ir::ParamRef> where;
  if (spec.where) where = builder.in("where", DType::boolean);
  std::vector<ir::ParamRef> outs;
  for (std::size_t i = 0; i < static_cast<std::size_t>(ufunc.results); ++i) {
    // With `where`, elements that are not written keep the values that the array had.
    const std::string name = "y" + std::to_string(i);
    outs.push_back(spec.where ? builder.in_out(name, spec.out[i]) : builder.out(name, spec.out[i]));
  }
  const auto compute = [&] {
    Values x;
    for (std::size_t i = 0; i < params.size(); ++i) {
      // The value is converted to the loop's type first, which rounds as NumPy's cast does.
      const ir::Value value = builder.convert(spec.loop.operands[i], builder.read(params[i]));
      x.push_back(widen ? builder.convert(widened(value.type), value) : value);
    }
    const Values y = ufunc.body(builder, x);
    for (std::size_t i = 0; i < outs.size(); ++i) {
      const ir::Value value = builder.convert(spec.loop.results[i], y[i]);
      builder.store(outs[i], builder.convert(spec.out[i], value));
    }
  };
  if (where)
    builder.if_(builder.read(*where), compute);
  else
    compute();
  return builder.take();
}

}  // namespace arraycore::ops
