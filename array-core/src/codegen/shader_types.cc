#include "codegen/shader_types.h"

#include <cmath>
#include <cstdio>

#include "ir/op_info.h"

namespace arraycore::codegen {
namespace {

using ir::Op;
using Args = std::vector<std::string>;

bool is_signed(DType d) { return kind_of(d) == Kind::signed_integer; }
bool is_half(DType d) { return d == DType::float16; }
std::string bits_text(DType d) { return std::to_string(size_of(d) * 8); }

// Wraps a 32-bit result into the range of a narrower integer.
std::string wrapped(DType d, const std::string& x) {
  switch (d) {
    case DType::int8:
      return "((" + x + " << 24u) >> 24u)";
    case DType::int16:
      return "((" + x + " << 16u) >> 16u)";
    case DType::uint8:
      return "(" + x + " & 0xffu)";
    case DType::uint16:
      return "(" + x + " & 0xffffu)";
    default:
      return x;
  }
}

std::string call(const std::string& name, const Args& x) {
  std::string text = name + "(";
  for (std::size_t i = 0; i < x.size(); ++i) text += (i > 0 ? ", " : "") + x[i];
  return text + ")";
}
std::string infix(const Args& x, const char* op) {
  return "(" + x[0] + " " + op + " " + x[1] + ")";
}

std::string rounded(DType d, const std::string& x) {
  return is_half(d) ? "ac_round_half(" + x + ")" : x;
}

std::optional<std::string> integer_operation(Op op, DType d, const Args& x) {
  const std::string t = is_signed(d) ? "i32" : "u32";
  const std::string zero = is_signed(d) ? "0i" : "0u";
  const std::string mask = size_of(d) == 1 ? "0xffu" : size_of(d) == 2 ? "0xffffu" : "0xffffffffu";
  switch (op) {
    case Op::negate:
      return wrapped(d, "(" + zero + " - " + x[0] + ")");
    case Op::absolute:
      return is_signed(d) ? wrapped(d, "abs(" + x[0] + ")") : x[0];
    case Op::sign:
      return is_signed(d) ? call("sign", x) : "min(" + x[0] + ", 1u)";
    case Op::bit_not:
      return wrapped(d, "(~" + x[0] + ")");
    case Op::popcount:
      return t + "(countOneBits(u32(" + x[0] + ") & " + mask + "))";
    case Op::leading_zeros:
      return "(i32(countLeadingZeros(u32(" + x[0] + ") & " + mask + ")) - " +
             std::to_string(32 - 8 * size_of(d)) + "i)";
    case Op::add:
      return wrapped(d, infix(x, "+"));
    case Op::subtract:
      return wrapped(d, infix(x, "-"));
    case Op::multiply:
      return wrapped(d, infix(x, "*"));
    case Op::divide:
      return wrapped(d, call("ac_div_" + t, x));
    case Op::remainder:
      return call("ac_rem_" + t, x);
    case Op::floor_divide:
      return wrapped(d, call(is_signed(d) ? "ac_floor_div_i32" : "ac_div_u32", x));
    case Op::modulo:
      return call(is_signed(d) ? "ac_mod_i32" : "ac_rem_u32", x);
    case Op::power:
      return wrapped(d, call("ac_pow_" + t, x));
    case Op::minimum:
    case Op::fmin:
      return call("min", x);
    case Op::maximum:
    case Op::fmax:
      return call("max", x);
    case Op::bit_and:
      return infix(x, "&");
    case Op::bit_or:
      return infix(x, "|");
    case Op::bit_xor:
      return infix(x, "^");
    case Op::shift_left:
      return wrapped(d, call("ac_shl_" + t, {x[0], x[1], bits_text(d) + "u"}));
    case Op::shift_right:
      return call("ac_shr_" + t, {x[0], x[1], bits_text(d) + "u"});
    case Op::equal:
      return infix(x, "==");
    case Op::not_equal:
      return infix(x, "!=");
    case Op::less:
      return infix(x, "<");
    case Op::less_equal:
      return infix(x, "<=");
    case Op::greater:
      return infix(x, ">");
    case Op::greater_equal:
      return infix(x, ">=");
    default:
      return std::nullopt;
  }
}

std::optional<std::string> wide_operation(Op op, DType d, const Args& x) {
  const std::string t = is_signed(d) ? "_i64" : "_u64";
  switch (op) {
    case Op::negate:
      return call("ac_neg_u64", x);
    case Op::absolute:
      return is_signed(d) ? call("ac_abs_i64", x) : x[0];
    case Op::sign:
      return call("ac_sign" + t, x);
    case Op::bit_not:
      return "(~" + x[0] + ")";
    case Op::popcount:
      return call("ac_popcount_u64", x);
    case Op::leading_zeros:
      return "i32(ac_clz_u64(" + x[0] + "))";
    case Op::add:
      return call("ac_add_u64", x);
    case Op::subtract:
      return call("ac_sub_u64", x);
    case Op::multiply:
      return call("ac_mul_u64", x);
    case Op::divide:
      return call("ac_div" + t, x);
    case Op::remainder:
      return call("ac_rem" + t, x);
    case Op::floor_divide:
      return call(is_signed(d) ? "ac_floor_div_i64" : "ac_div_u64", x);
    case Op::modulo:
      return call(is_signed(d) ? "ac_mod_i64" : "ac_rem_u64", x);
    case Op::power:
      return call("ac_pow" + t, x);
    case Op::minimum:
    case Op::fmin:
      return "select(" + x[0] + ", " + x[1] + ", " + call("ac_lt" + t, {x[1], x[0]}) + ")";
    case Op::maximum:
    case Op::fmax:
      return "select(" + x[0] + ", " + x[1] + ", " + call("ac_lt" + t, x) + ")";
    case Op::bit_and:
      return infix(x, "&");
    case Op::bit_or:
      return infix(x, "|");
    case Op::bit_xor:
      return infix(x, "^");
    case Op::shift_left:
      return call("ac_shl_u64", x);
    case Op::shift_right:
      return call("ac_shr" + t, x);
    case Op::equal:
      return call("ac_eq_u64", x);
    case Op::not_equal:
      return "(!" + call("ac_eq_u64", x) + ")";
    case Op::less:
      return call("ac_lt" + t, x);
    case Op::less_equal:
      return "(!" + call("ac_lt" + t, {x[1], x[0]}) + ")";
    case Op::greater:
      return call("ac_lt" + t, {x[1], x[0]});
    case Op::greater_equal:
      return "(!" + call("ac_lt" + t, x) + ")";
    default:
      return std::nullopt;
  }
}

std::optional<std::string> bool_operation(Op op, const Args& x) {
  switch (op) {
    case Op::bit_not:
    case Op::logical_not:
      return "(!" + x[0] + ")";
    case Op::minimum:
    case Op::fmin:
    case Op::bit_and:
    case Op::logical_and:
      return infix(x, "&&");
    case Op::maximum:
    case Op::fmax:
    case Op::bit_or:
    case Op::logical_or:
      return infix(x, "||");
    case Op::bit_xor:
    case Op::logical_xor:
    case Op::not_equal:
      return infix(x, "!=");
    case Op::equal:
      return infix(x, "==");
    case Op::less:
      return "((!" + x[0] + ") && " + x[1] + ")";
    case Op::less_equal:
      return "((!" + x[0] + ") || " + x[1] + ")";
    case Op::greater:
      return "(" + x[0] + " && (!" + x[1] + "))";
    case Op::greater_equal:
      return "(" + x[0] + " || (!" + x[1] + "))";
    default:
      return std::nullopt;
  }
}

std::optional<std::string> float_operation(Op op, DType d, const Args& x) {
  switch (op) {
    // The next operations are exact in half and in single precision, so nothing is rounded.
    case Op::negate:
      return call("ac_negate", x);
    case Op::absolute:
      return call("ac_absolute", x);
    case Op::sign:
      return call("ac_sign", x);
    case Op::floor:
    case Op::ceil:
    case Op::trunc:
    case Op::round:
    case Op::rint:
      return call("ac_" + std::string(name_of(op)), x);
    case Op::is_nan:
      return call("ac_is_nan", x);
    case Op::is_inf:
      return call("ac_is_inf", x);
    case Op::is_finite:
      return call("ac_is_finite", x);
    case Op::sign_bit:
      return "((bitcast<u32>(" + x[0] + ") >> 31u) != 0u)";
    case Op::copysign:
      return call("ac_copysign", x);
    case Op::minimum:
      return call("ac_minimum", x);
    case Op::maximum:
      return call("ac_maximum", x);
    case Op::fmin:
      return call("ac_fmin", x);
    case Op::fmax:
      return call("ac_fmax", x);
    case Op::nextafter:
      return call(is_half(d) ? "ac_nextafter_half" : "ac_nextafter", x);
    case Op::equal:
    case Op::not_equal:
    case Op::less:
    case Op::less_equal:
    case Op::greater:
    case Op::greater_equal:
      return call("ac_" + std::string(name_of(op)), x);
    case Op::stored:  // a half was already rounded by its bits
      return is_half(d) ? x[0] : call("ac_stored", x);
    // Arithmetic. A half-precision result is computed in single precision and then rounded.
    case Op::add:
      return rounded(d, infix(x, "+"));
    case Op::subtract:
      return rounded(d, infix(x, "-"));
    case Op::multiply:
      return rounded(d, infix(x, "*"));
    case Op::divide:
      return rounded(d, call("ac_divide", x));
    case Op::fma:
      return rounded(
          d, is_half(d) ? "((" + x[0] + " * " + x[1] + ") + " + x[2] + ")" : call("fma", x));
    case Op::ldexp:
      return rounded(d, call("ac_ldexp", x));
    // Operations for which the prelude has helper functions.
    case Op::sqrt:
    case Op::rsqrt:
    case Op::cbrt:
    case Op::exp:
    case Op::exp2:
    case Op::exp10:
    case Op::expm1:
    case Op::log:
    case Op::log2:
    case Op::log10:
    case Op::log1p:
    case Op::sin:
    case Op::cos:
    case Op::tan:
    case Op::asin:
    case Op::acos:
    case Op::atan:
    case Op::sinh:
    case Op::cosh:
    case Op::tanh:
    case Op::asinh:
    case Op::acosh:
    case Op::atanh:
    case Op::erf:
    case Op::erfc:
    case Op::erfinv:
    case Op::erfcinv:
    case Op::erfcx:
    case Op::lgamma:
    case Op::tgamma:
    case Op::digamma:
    case Op::ndtr:
    case Op::ndtri:
    case Op::remainder:
    case Op::floor_divide:
    case Op::modulo:
    case Op::power:
    case Op::atan2:
    case Op::hypot:
      return rounded(d, call("ac_" + std::string(name_of(op)), x));
    default:
      return std::nullopt;
  }
}

std::optional<std::string> complex_operation(Op op, const Args& x) {
  switch (op) {
    case Op::negate:
      return "vec2<f32>(ac_negate(" + x[0] + ".x), ac_negate(" + x[0] + ".y))";
    case Op::conj:
      return "vec2<f32>(" + x[0] + ".x, ac_negate(" + x[0] + ".y))";
    case Op::real:
      return x[0] + ".x";
    case Op::imag:
      return x[0] + ".y";
    case Op::absolute:
      return "ac_hypot(" + x[0] + ".x, " + x[0] + ".y)";
    case Op::is_nan:
      return "(ac_is_nan(" + x[0] + ".x) || ac_is_nan(" + x[0] + ".y))";
    case Op::is_inf:
      return "(ac_is_inf(" + x[0] + ".x) || ac_is_inf(" + x[0] + ".y))";
    case Op::is_finite:
      return "(ac_is_finite(" + x[0] + ".x) && ac_is_finite(" + x[0] + ".y))";
    case Op::subtract:
      return infix(x, "-");
    case Op::equal:
      return "(ac_equal(" + x[0] + ".x, " + x[1] + ".x) && ac_equal(" + x[0] + ".y, " + x[1] +
             ".y))";
    case Op::not_equal:
      return "(ac_not_equal(" + x[0] + ".x, " + x[1] + ".x) || ac_not_equal(" + x[0] + ".y, " +
             x[1] + ".y))";
    case Op::stored:
      return "vec2<f32>(ac_stored(" + x[0] + ".x), ac_stored(" + x[0] + ".y))";
    case Op::add:
    case Op::multiply:
    case Op::divide:
    case Op::sqrt:
    case Op::exp:
    case Op::log:
    case Op::sin:
    case Op::cos:
    case Op::sinh:
    case Op::cosh:
    case Op::power:
      return call("ac_c_" + std::string(name_of(op)), x);
    default:
      return std::nullopt;
  }
}

std::string convert(DType from, DType to, const std::string& x) {
  if (from == to) return x;
  if (is_complex(from)) {
    if (to == DType::boolean) return "(ac_truth(" + x + ".x) || ac_truth(" + x + ".y))";
    return convert(DType::float32, to, x + ".x");
  }
  if (is_complex(to)) return "vec2<f32>(" + convert(from, DType::float32, x) + ", 0.0)";
  const std::string kind = is_signed(to) ? "i32" : "u32";
  if (from == DType::boolean) {
    if (is_wide(to)) return "vec2<u32>(select(0u, 1u, " + x + "), 0u)";
    if (is_floating(to)) return "select(0.0, 1.0, " + x + ")";
    return kind + "(select(0u, 1u, " + x + "))";
  }
  if (is_floating(from)) {
    if (to == DType::boolean) return "ac_truth(" + x + ")";
    if (is_floating(to)) return is_half(to) ? rounded(to, x) : x;
    if (is_wide(to)) return (is_signed(to) ? "ac_f32_to_i64(" : "ac_f32_to_u64(") + x + ")";
    const std::string whole = "ac_f32_to_" + kind + "(" + x + ")";
    switch (to) {
      case DType::int8:
        return "clamp(" + whole + ", -128i, 127i)";
      case DType::int16:
        return "clamp(" + whole + ", -32768i, 32767i)";
      case DType::uint8:
        return "min(" + whole + ", 255u)";
      case DType::uint16:
        return "min(" + whole + ", 65535u)";
      default:
        return whole;
    }
  }
  if (is_wide(from)) {
    if (to == DType::boolean) return "ac_truth_u64(" + x + ")";
    if (is_floating(to))
      return rounded(to, (is_signed(from) ? "ac_i64_to_f32(" : "ac_u64_to_f32(") + x + ")");
    if (is_wide(to)) return x;
    return wrapped(to, kind + "(" + x + ".x)");
  }
  if (to == DType::boolean) return "(" + x + " != " + (is_signed(from) ? "0i" : "0u") + ")";
  if (is_floating(to)) {
    const std::string function =
        size_of(from) < 4 ? "f32(" : "ac_" + register_type(from) + "_to_f32(";
    return rounded(to, function + x + ")");
  }
  if (is_wide(to))
    return is_signed(from) ? "vec2<u32>(u32(" + x + "), u32(" + x + " >> 31u))"
                           : "vec2<u32>(" + x + ", 0u)";
  return wrapped(to, kind + "(" + x + ")");
}

}  // namespace

bool is_wide(DType dtype) { return dtype == DType::int64 || dtype == DType::uint64; }

std::string register_type(DType dtype) {
  switch (kind_of(dtype)) {
    case Kind::boolean:
      return "bool";
    case Kind::signed_integer:
      return is_wide(dtype) ? "vec2<u32>" : "i32";
    case Kind::unsigned_integer:
      return is_wide(dtype) ? "vec2<u32>" : "u32";
    case Kind::floating:
      return "f32";
    case Kind::complex:
      return "vec2<f32>";
  }
  return "u32";
}

std::string zero_of(DType dtype) { return register_type(dtype) + "()"; }

std::string to_bits(DType dtype, const std::string& value) {
  switch (dtype) {
    case DType::boolean:
      return "select(0u, 1u, " + value + ")";
    case DType::int8:
      return "(u32(" + value + ") & 0xffu)";
    case DType::int16:
      return "(u32(" + value + ") & 0xffffu)";
    case DType::int32:
    case DType::float32:
      return "bitcast<u32>(" + value + ")";
    case DType::float16:
      return "ac_half_bits(" + value + ")";
    case DType::complex64:
      return "bitcast<vec2<u32>>(" + value + ")";
    default:
      return value;
  }
}

std::string from_bits(DType dtype, const std::string& bits) {
  switch (dtype) {
    case DType::boolean:
      return "(" + bits + " != 0u)";
    case DType::int8:
    case DType::int16:
      return wrapped(dtype, "i32(" + bits + ")");
    case DType::int32:
      return "bitcast<i32>(" + bits + ")";
    case DType::float32:
      return "bitcast<f32>(" + bits + ")";
    case DType::float16:
      return "ac_half_value(" + bits + ")";
    case DType::complex64:
      return "bitcast<vec2<f32>>(" + bits + ")";
    default:
      return bits;
  }
}

std::optional<std::string> literal(DType dtype, const ir::Scalar& value) {
  const auto real = [](float x) -> std::optional<std::string> {
    if (!std::isnormal(x) && !(x == 0 && !std::signbit(x))) return std::nullopt;
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", static_cast<double>(x));
    std::string result = text;
    if (result.find_first_of(".e") == std::string::npos) result += ".0";
    return "f32(" + result + ")";
  };
  char text[64];
  switch (dtype) {
    case DType::boolean:
      return ir::get<bool>(value) ? "true" : "false";
    case DType::float16:
      return real(static_cast<float>(ir::get<ir::Half>(value)));
    case DType::float32:
      return real(ir::get<float>(value));
    case DType::complex64: {
      const auto c = ir::get<ir::Complex<float>>(value);
      const auto re = real(c.re);
      const auto im = real(c.im);
      if (!re || !im) return std::nullopt;
      return "vec2<f32>(" + *re + ", " + *im + ")";
    }
    case DType::int64:
    case DType::uint64:
      std::snprintf(text, sizeof text, "vec2<u32>(%uu, %uu)", static_cast<unsigned>(value.bits),
                    static_cast<unsigned>(value.bits >> 32));
      return text;
    default:
      break;
  }
  return ir::visit(dtype, [&](auto zero) -> std::optional<std::string> {
    using T = decltype(zero);
    if constexpr (ir::kIsInteger<T>) {
      if constexpr (std::is_signed_v<T>) {
        // There is no literal for the lowest int32.
        if (static_cast<std::int64_t>(ir::get<T>(value)) == -2147483648LL)
          return "(-2147483647i - 1i)";
        return "i32(" + std::to_string(ir::get<T>(value)) + ")";
      } else {
        return std::to_string(ir::get<T>(value)) + "u";
      }
    }
    return std::nullopt;
  });
}

std::optional<std::string> operation(Op op, DType operand, DType result, const Args& x) {
  switch (op) {
    case Op::convert:
      return convert(operand, result, x[0]);
    case Op::bitcast:
      return from_bits(result, to_bits(operand, x[0]));
    case Op::make_complex:
      return "vec2<f32>(" + x[0] + ", " + x[1] + ")";
    default:
      break;
  }
  switch (kind_of(operand)) {
    case Kind::boolean:
      return bool_operation(op, x);
    case Kind::floating:
      return float_operation(op, operand, x);
    case Kind::complex:
      return complex_operation(op, x);
    default:
      return is_wide(operand) ? wide_operation(op, operand, x) : integer_operation(op, operand, x);
  }
}

}  // namespace arraycore::codegen
