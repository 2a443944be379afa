// The table of the kernel language's operations: the name, the operands, the kinds of types that
// each takes, and the result. The verifier, the printer, the interpreters, the random kernel
// generator and the code generators read it; nothing else lists the operations.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ir/ir.h"

namespace arraycore::ir {

enum class Shape : std::uint8_t {
  leaf,     // no operand, or an index; the verifier treats each by name
  unary,    // one operand of the expression's own type
  binary,   // two operands of the expression's own type
  ternary,  // three operands of the expression's own type
  compare,  // two operands of one type `T`; gives bool
  test,     // one operand of type `T`; gives bool
  special,  // the verifier treats it by name
};

// Kinds of type, as bits.
inline constexpr std::uint8_t kB = 1, kI = 2, kU = 4, kF = 8, kC = 16;
inline constexpr std::uint8_t kIU = kI | kU, kReal = kIU | kF, kNumber = kReal | kC,
                              kBits = kB | kIU, kFC = kF | kC, kAny = kB | kNumber;

struct OpInfo {
  Op op;
  std::string_view name;
  Shape shape;
  std::uint8_t
      // The allowed types, as bits: those of the operands if they differ from the result's type,
      // otherwise those of the result.
      kinds;
};

// The rows are in the order of the enumeration `Op`.
inline constexpr std::array kOpInfo{
    OpInfo{Op::constant, "constant", Shape::leaf, kAny},
    OpInfo{Op::local, "local", Shape::leaf, kAny},
    OpInfo{Op::local_at, "local_at", Shape::leaf, kAny},
    OpInfo{Op::loop_index, "loop_index", Shape::leaf, kI},
    OpInfo{Op::loop_size, "loop_size", Shape::leaf, kI},
    OpInfo{Op::axis_index, "axis_index", Shape::leaf, kI},
    OpInfo{Op::reduce_index, "reduce_index", Shape::leaf, kI},
    OpInfo{Op::param, "param", Shape::leaf, kAny},
    OpInfo{Op::param_at, "param_at", Shape::leaf, kAny},
    OpInfo{Op::param_shape, "param_shape", Shape::leaf, kI},
    OpInfo{Op::param_size, "param_size", Shape::leaf, kI},
    OpInfo{Op::convert, "convert", Shape::special, kAny},
    OpInfo{Op::bitcast, "bitcast", Shape::special, kReal},
    OpInfo{Op::negate, "negate", Shape::unary, kNumber},
    OpInfo{Op::absolute, "absolute", Shape::special, kNumber},
    OpInfo{Op::sign, "sign", Shape::unary, kReal},
    OpInfo{Op::bit_not, "bit_not", Shape::unary, kBits},
    OpInfo{Op::logical_not, "logical_not", Shape::unary, kB},
    OpInfo{Op::sqrt, "sqrt", Shape::unary, kFC},
    OpInfo{Op::rsqrt, "rsqrt", Shape::unary, kF},
    OpInfo{Op::cbrt, "cbrt", Shape::unary, kF},
    OpInfo{Op::exp, "exp", Shape::unary, kFC},
    OpInfo{Op::exp2, "exp2", Shape::unary, kF},
    OpInfo{Op::exp10, "exp10", Shape::unary, kF},
    OpInfo{Op::expm1, "expm1", Shape::unary, kF},
    OpInfo{Op::log, "log", Shape::unary, kFC},
    OpInfo{Op::log2, "log2", Shape::unary, kF},
    OpInfo{Op::log10, "log10", Shape::unary, kF},
    OpInfo{Op::log1p, "log1p", Shape::unary, kF},
    OpInfo{Op::sin, "sin", Shape::unary, kFC},
    OpInfo{Op::cos, "cos", Shape::unary, kFC},
    OpInfo{Op::tan, "tan", Shape::unary, kF},
    OpInfo{Op::asin, "asin", Shape::unary, kF},
    OpInfo{Op::acos, "acos", Shape::unary, kF},
    OpInfo{Op::atan, "atan", Shape::unary, kF},
    OpInfo{Op::sinh, "sinh", Shape::unary, kFC},
    OpInfo{Op::cosh, "cosh", Shape::unary, kFC},
    OpInfo{Op::tanh, "tanh", Shape::unary, kF},
    OpInfo{Op::asinh, "asinh", Shape::unary, kF},
    OpInfo{Op::acosh, "acosh", Shape::unary, kF},
    OpInfo{Op::atanh, "atanh", Shape::unary, kF},
    OpInfo{Op::floor, "floor", Shape::unary, kF},
    OpInfo{Op::ceil, "ceil", Shape::unary, kF},
    OpInfo{Op::trunc, "trunc", Shape::unary, kF},
    OpInfo{Op::rint, "rint", Shape::unary, kF},
    OpInfo{Op::round, "round", Shape::unary, kF},
    OpInfo{Op::is_nan, "is_nan", Shape::test, kFC},
    OpInfo{Op::is_inf, "is_inf", Shape::test, kFC},
    OpInfo{Op::is_finite, "is_finite", Shape::test, kFC},
    OpInfo{Op::sign_bit, "sign_bit", Shape::test, kF},
    OpInfo{Op::erf, "erf", Shape::unary, kF},
    OpInfo{Op::erfc, "erfc", Shape::unary, kF},
    OpInfo{Op::erfinv, "erfinv", Shape::unary, kF},
    OpInfo{Op::erfcinv, "erfcinv", Shape::unary, kF},
    OpInfo{Op::erfcx, "erfcx", Shape::unary, kF},
    OpInfo{Op::lgamma, "lgamma", Shape::unary, kF},
    OpInfo{Op::tgamma, "tgamma", Shape::unary, kF},
    OpInfo{Op::digamma, "digamma", Shape::unary, kF},
    OpInfo{Op::ndtr, "ndtr", Shape::unary, kF},
    OpInfo{Op::ndtri, "ndtri", Shape::unary, kF},
    OpInfo{Op::popcount, "popcount", Shape::unary, kIU},
    OpInfo{Op::leading_zeros, "leading_zeros", Shape::special, kIU},
    OpInfo{Op::real, "real", Shape::special, kC},
    OpInfo{Op::imag, "imag", Shape::special, kC},
    OpInfo{Op::conj, "conj", Shape::unary, kC},
    OpInfo{Op::stored, "stored", Shape::unary, kFC},
    OpInfo{Op::add, "add", Shape::binary, kNumber},
    OpInfo{Op::subtract, "subtract", Shape::binary, kNumber},
    OpInfo{Op::multiply, "multiply", Shape::binary, kNumber},
    OpInfo{Op::divide, "divide", Shape::binary, kNumber},
    OpInfo{Op::remainder, "remainder", Shape::binary, kReal},
    OpInfo{Op::floor_divide, "floor_divide", Shape::binary, kReal},
    OpInfo{Op::modulo, "modulo", Shape::binary, kReal},
    OpInfo{Op::power, "power", Shape::binary, kNumber},
    OpInfo{Op::atan2, "atan2", Shape::binary, kF},
    OpInfo{Op::hypot, "hypot", Shape::binary, kF},
    OpInfo{Op::copysign, "copysign", Shape::binary, kF},
    OpInfo{Op::nextafter, "nextafter", Shape::binary, kF},
    OpInfo{Op::ldexp, "ldexp", Shape::special, kF},
    OpInfo{Op::minimum, "minimum", Shape::binary, kB | kReal},
    OpInfo{Op::maximum, "maximum", Shape::binary, kB | kReal},
    OpInfo{Op::fmin, "fmin", Shape::binary, kB | kReal},
    OpInfo{Op::fmax, "fmax", Shape::binary, kB | kReal},
    OpInfo{Op::bit_and, "bit_and", Shape::binary, kBits},
    OpInfo{Op::bit_or, "bit_or", Shape::binary, kBits},
    OpInfo{Op::bit_xor, "bit_xor", Shape::binary, kBits},
    OpInfo{Op::shift_left, "shift_left", Shape::binary, kIU},
    OpInfo{Op::shift_right, "shift_right", Shape::binary, kIU},
    OpInfo{Op::equal, "equal", Shape::compare, kAny},
    OpInfo{Op::not_equal, "not_equal", Shape::compare, kAny},
    OpInfo{Op::less, "less", Shape::compare, kB | kReal},
    OpInfo{Op::less_equal, "less_equal", Shape::compare, kB | kReal},
    OpInfo{Op::greater, "greater", Shape::compare, kB | kReal},
    OpInfo{Op::greater_equal, "greater_equal", Shape::compare, kB | kReal},
    OpInfo{Op::logical_and, "logical_and", Shape::binary, kB},
    OpInfo{Op::logical_or, "logical_or", Shape::binary, kB},
    OpInfo{Op::logical_xor, "logical_xor", Shape::binary, kB},
    OpInfo{Op::make_complex, "make_complex", Shape::special, kC},
    OpInfo{Op::fma, "fma", Shape::ternary, kF},
    OpInfo{Op::select, "select", Shape::special, kAny},
    OpInfo{Op::call, "call", Shape::special, kAny},
    OpInfo{Op::atomic_add, "atomic_add", Shape::special, kReal},
    OpInfo{Op::atomic_min, "atomic_min", Shape::special, kReal},
    OpInfo{Op::atomic_max, "atomic_max", Shape::special, kReal},
    OpInfo{Op::atomic_exchange, "atomic_exchange", Shape::special, kReal},
    OpInfo{Op::atomic_compare_exchange, "atomic_compare_exchange", Shape::special, kReal},
};
inline constexpr std::size_t kOps = kOpInfo.size();

namespace detail {
constexpr bool table_is_ordered() {
  for (std::size_t i = 0; i < kOps; ++i)
    if (kOpInfo[i].op != static_cast<Op>(i)) return false;
  return kOpInfo[kOps - 1].op == Op::atomic_compare_exchange;
}
}  // namespace detail
static_assert(detail::table_is_ordered(), "kOpInfo has a row for each Op, in its order");

constexpr const OpInfo& info(Op op) { return kOpInfo[static_cast<std::size_t>(op)]; }
constexpr std::string_view name_of(Op op) { return info(op).name; }

constexpr std::uint8_t kind_bit(DType dtype) {
  return static_cast<std::uint8_t>(1u << static_cast<unsigned>(arraycore::kind_of(dtype)));
}
constexpr bool takes(Op op, DType dtype) { return (info(op).kinds & kind_bit(dtype)) != 0; }

constexpr bool is_atomic(Op op) { return op >= Op::atomic_add; }

// Returns float32 for complex64, float64 for complex128, and every other type unchanged.
constexpr DType real_of(DType dtype) {
  if (dtype == DType::complex64) return DType::float32;
  if (dtype == DType::complex128) return DType::float64;
  return dtype;
}
constexpr DType complex_of(DType dtype) {
  return dtype == DType::float64 ? DType::complex128 : DType::complex64;
}

}  // namespace arraycore::ir
