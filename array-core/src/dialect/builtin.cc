#include "dialect/builtin.h"

#include <algorithm>
#include <array>

namespace arraycore::dialect {
namespace {

using ir::Op;
using Rule = Builtin::Rule;

constexpr std::array kBuiltins{
    Builtin{"sqrt", Rule::number, 1, Op::sqrt},
    Builtin{"rsqrt", Rule::floating, 1, Op::rsqrt},
    Builtin{"cbrt", Rule::floating, 1, Op::cbrt},
    Builtin{"exp", Rule::number, 1, Op::exp},
    Builtin{"exp2", Rule::floating, 1, Op::exp2},
    Builtin{"exp10", Rule::floating, 1, Op::exp10},
    Builtin{"expm1", Rule::floating, 1, Op::expm1},
    Builtin{"log", Rule::number, 1, Op::log},
    Builtin{"log2", Rule::floating, 1, Op::log2},
    Builtin{"log10", Rule::floating, 1, Op::log10},
    Builtin{"log1p", Rule::floating, 1, Op::log1p},
    Builtin{"sin", Rule::number, 1, Op::sin},
    Builtin{"cos", Rule::number, 1, Op::cos},
    Builtin{"tan", Rule::number, 1, Op::tan},
    Builtin{"asin", Rule::floating, 1, Op::asin},
    Builtin{"acos", Rule::floating, 1, Op::acos},
    Builtin{"atan", Rule::floating, 1, Op::atan},
    Builtin{"sinh", Rule::number, 1, Op::sinh},
    Builtin{"cosh", Rule::number, 1, Op::cosh},
    Builtin{"tanh", Rule::number, 1, Op::tanh},
    Builtin{"asinh", Rule::floating, 1, Op::asinh},
    Builtin{"acosh", Rule::floating, 1, Op::acosh},
    Builtin{"atanh", Rule::floating, 1, Op::atanh},
    Builtin{"floor", Rule::floating, 1, Op::floor},
    Builtin{"ceil", Rule::floating, 1, Op::ceil},
    Builtin{"trunc", Rule::floating, 1, Op::trunc},
    Builtin{"rint", Rule::floating, 1, Op::rint},
    Builtin{"nearbyint", Rule::floating, 1, Op::rint},
    Builtin{"round", Rule::floating, 1, Op::round},
    Builtin{"erf", Rule::floating, 1, Op::erf},
    Builtin{"erfc", Rule::floating, 1, Op::erfc},
    Builtin{"erfinv", Rule::floating, 1, Op::erfinv},
    Builtin{"erfcinv", Rule::floating, 1, Op::erfcinv},
    Builtin{"erfcx", Rule::floating, 1, Op::erfcx},
    Builtin{"lgamma", Rule::floating, 1, Op::lgamma},
    Builtin{"tgamma", Rule::floating, 1, Op::tgamma},
    Builtin{"digamma", Rule::floating, 1, Op::digamma},
    Builtin{"normcdf", Rule::floating, 1, Op::ndtr},
    Builtin{"normcdfinv", Rule::floating, 1, Op::ndtri},
    Builtin{"fmod", Rule::floating, 2, Op::remainder},
    Builtin{"atan2", Rule::floating, 2, Op::atan2},
    Builtin{"hypot", Rule::floating, 2, Op::hypot},
    Builtin{"copysign", Rule::floating, 2, Op::copysign},
    Builtin{"nextafter", Rule::floating, 2, Op::nextafter},
    Builtin{"fma", Rule::floating, 3, Op::fma},
    Builtin{"fmin", Rule::floating, 2, Op::fmin},
    Builtin{"fmax", Rule::floating, 2, Op::fmax},
    Builtin{"fabs", Rule::floating, 1, Op::absolute},
    Builtin{"fdivide", Rule::floating, 2, Op::divide},
    Builtin{"min", Rule::smaller, 2, Op::fmin},
    Builtin{"max", Rule::smaller, 2, Op::fmax},
    Builtin{"abs", Rule::magnitude, 1, Op::absolute},
    Builtin{"labs", Rule::magnitude, 1, Op::absolute},
    Builtin{"llabs", Rule::magnitude, 1, Op::absolute},
    Builtin{"pow", Rule::power, 2, Op::power},
    Builtin{"ldexp", Rule::scaled, 2, Op::ldexp},
    Builtin{"scalbn", Rule::scaled, 2, Op::ldexp},
    Builtin{"isnan", Rule::test, 1, Op::is_nan},
    Builtin{"isinf", Rule::test, 1, Op::is_inf},
    Builtin{"isfinite", Rule::test, 1, Op::is_finite},
    Builtin{"signbit", Rule::test, 1, Op::sign_bit},
    Builtin{"real", Rule::to_real, 1, Op::real},
    Builtin{"imag", Rule::to_real, 1, Op::imag},
    Builtin{"conj", Rule::conjugate, 1, Op::conj},
    Builtin{"lround", Rule::to_integer, 1, Op::round},
    Builtin{"lrint", Rule::to_integer, 1, Op::rint},
    Builtin{"__float2int_rd", Rule::to_integer, 1, Op::floor},
    Builtin{"__float2int_ru", Rule::to_integer, 1, Op::ceil},
    Builtin{"__float2int_rn", Rule::to_integer, 1, Op::rint},
    Builtin{"__float2int_rz", Rule::to_integer, 1, Op::trunc},
    Builtin{"__popc", Rule::bits, 1, Op::popcount},
    Builtin{"__clz", Rule::bits, 1, Op::leading_zeros},
    Builtin{"__int2float_rn", Rule::convert, 1, Op::convert, DType::float32},
    Builtin{"__float2half", Rule::convert, 1, Op::convert, DType::float16},
    Builtin{"__half2float", Rule::convert, 1, Op::convert, DType::float32},
    Builtin{"__float_as_int", Rule::as_bits, 1, Op::bitcast, DType::int32},
    Builtin{"__float_as_uint", Rule::as_bits, 1, Op::bitcast, DType::uint32},
    Builtin{"__int_as_float", Rule::as_bits, 1, Op::bitcast, DType::float32},
    Builtin{"__uint_as_float", Rule::as_bits, 1, Op::bitcast, DType::float32},
    Builtin{"__saturatef", Rule::saturate, 1},
    Builtin{"assert", Rule::nothing, 1},
    Builtin{"printf", Rule::refused, 0},
    Builtin{"__syncthreads", Rule::refused, 0},
    Builtin{"atomicAnd", Rule::refused, 0},
    Builtin{"atomicOr", Rule::refused, 0},
    Builtin{"atomicXor", Rule::refused, 0},
    Builtin{"atomicInc", Rule::refused, 0},
    Builtin{"atomicDec", Rule::refused, 0},
};

constexpr std::array<Atomic, 6> kAtomics{{
    {"atomicAdd", Op::atomic_add, 2, false},
    {"atomicSub", Op::atomic_add, 2, true},
    {"atomicMin", Op::atomic_min, 2, false},
    {"atomicMax", Op::atomic_max, 2, false},
    {"atomicExch", Op::atomic_exchange, 2, false},
    {"atomicCAS", Op::atomic_compare_exchange, 3, false},
}};

const Builtin* exactly(std::string_view name) {
  const auto* found = std::find_if(kBuiltins.begin(), kBuiltins.end(),
                                   [&](const Builtin& b) { return b.name == name; });
  return found == kBuiltins.end() ? nullptr : &*found;
}

bool has_single_form(const Builtin& b) {
  return b.rule == Rule::floating || b.rule == Rule::number || b.rule == Rule::power ||
         b.rule == Rule::scaled || b.rule == Rule::to_integer;
}

}  // namespace

FoundBuiltin find_builtin(std::string_view name) {
  if (const Builtin* b = exactly(name)) return {b, false};
  if (name.empty() || name.back() != 'f') return {};
  std::string_view base = name.substr(0, name.size() - 1);
  if (base.substr(0, 2) == "__")
    base.remove_prefix(2);  // CUDA's fast __expf and similar functions; here they are exact
  const Builtin* b = exactly(base);
  if (b == nullptr || !has_single_form(*b)) return {};
  return {b, true};
}

const Atomic* find_atomic(std::string_view name) {
  const auto* found = std::find_if(kAtomics.begin(), kAtomics.end(),
                                   [&](const Atomic& a) { return a.name == name; });
  return found == kAtomics.end() ? nullptr : &*found;
}

}  // namespace arraycore::dialect
