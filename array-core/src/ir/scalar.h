// The meaning of each operation of the kernel language for one element. The reference interpreter
// and the blocked CPU interpreter share this definition. Pure; any thread.
//
// The element types are bool, the sized integers, Half, float, double, Complex<float> and
// Complex<double>. Half computes in float and rounds each result. For + - * / sqrt this gives the
// half that is nearest to the exact result, because a float has more than twice as many digits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "dtype/dtype.h"
#include "dtype/half.h"
#include "ir/ir.h"
#include "ir/special.h"

namespace arraycore::ir {

struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  explicit Half(float value) : bits(to_half(value)) {}
  explicit operator float() const { return from_half<float>(bits); }
};

template <typename T>
struct Complex {
  using Real = T;
  T re = 0;
  T im = 0;
};

template <typename T>
inline constexpr bool kIsHalf = std::is_same_v<T, Half>;
template <typename T>
inline constexpr bool kIsComplex = false;
template <typename T>
inline constexpr bool kIsComplex<Complex<T>> = true;
template <typename T>
inline constexpr bool kIsFloat = kIsHalf<T> || std::is_floating_point_v<T>;
template <typename T>
inline constexpr bool kIsBool = std::is_same_v<T, bool>;
template <typename T>
inline constexpr bool kIsInteger = std::is_integral_v<T> && !kIsBool<T>;

// Gives the C++ type of a dtype that is known at compile time.
template <DType>
struct Type;
// clang-format off
template <> struct Type<DType::boolean> { using T = bool; };
template <> struct Type<DType::int8> { using T = std::int8_t; };
template <> struct Type<DType::uint8> { using T = std::uint8_t; };
template <> struct Type<DType::int16> { using T = std::int16_t; };
template <> struct Type<DType::uint16> { using T = std::uint16_t; };
template <> struct Type<DType::int32> { using T = std::int32_t; };
template <> struct Type<DType::uint32> { using T = std::uint32_t; };
template <> struct Type<DType::int64> { using T = std::int64_t; };
template <> struct Type<DType::uint64> { using T = std::uint64_t; };
template <> struct Type<DType::float16> { using T = Half; };
template <> struct Type<DType::float32> { using T = float; };
template <> struct Type<DType::float64> { using T = double; };
template <> struct Type<DType::complex64> { using T = Complex<float>; };
template <> struct Type<DType::complex128> { using T = Complex<double>; };
// clang-format on

// Calls f(T{}) with the C++ type T of `dtype`.
template <typename F>
decltype(auto) visit(DType dtype, F&& f) {
  switch (dtype) {
    case DType::boolean:
      return f(bool{});
    case DType::int8:
      return f(std::int8_t{});
    case DType::uint8:
      return f(std::uint8_t{});
    case DType::int16:
      return f(std::int16_t{});
    case DType::uint16:
      return f(std::uint16_t{});
    case DType::int32:
      return f(std::int32_t{});
    case DType::uint32:
      return f(std::uint32_t{});
    case DType::int64:
      return f(std::int64_t{});
    case DType::uint64:
      return f(std::uint64_t{});
    case DType::float16:
      return f(Half{});
    case DType::float32:
      return f(float{});
    case DType::float64:
      return f(double{});
    case DType::complex64:
      return f(Complex<float>{});
    case DType::complex128:
      break;
  }
  return f(Complex<double>{});
}

// ---- conversion

// Converts one value. This defines `astype` and Op::convert.
//
//   to bool             x != 0. NaN is true. A complex number is true if either part is not 0.
//   integer to integer  keeps the low bits (two's complement wraps), as NumPy and C++20 do
//   float to integer    rounds towards zero, as NumPy does. For NaN and values that do not fit,
//                       NumPy gives what the processor gives, which differs between x86, Arm,
//                       WebAssembly and WGSL. Here NaN gives 0, and a value that does not fit gives
//                       the nearest integer that does. So every back end gives the same bits.
//   to floating         rounds to nearest, ties to even. Beyond the range it gives infinity.
//   complex to real     drops the imaginary part, as NumPy does (which also warns)
//   real to complex     sets the imaginary part to +0
//   NaN of a half       keeps its sign and payload, and stays signalling, as in NumPy
template <typename To, typename From>
To convert_to(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (kIsHalf<From> && std::is_same_v<To, double>) {
    return from_half<double>(x.bits);  // by way of float, a signalling NaN would become quiet
  } else if constexpr (kIsHalf<From> && !kIsComplex<To>) {
    return convert_to<To>(static_cast<float>(x));
  } else if constexpr (kIsComplex<From>) {
    if constexpr (kIsComplex<To>) {
      using R = typename To::Real;
      return To{static_cast<R>(x.re), static_cast<R>(x.im)};
    } else if constexpr (kIsBool<To>) {
      return x.re != 0 || x.im != 0;
    } else {
      return convert_to<To>(x.re);
    }
  } else if constexpr (kIsComplex<To>) {
    return To{convert_to<typename To::Real>(x), 0};
  } else if constexpr (kIsBool<To>) {
    return x != From{};
  } else if constexpr (kIsHalf<To>) {
    if constexpr (std::is_same_v<From, double>) {
      To half;
      half.bits = to_half(x);
      return half;
    } else {
      return To{static_cast<float>(x)};
    }
  } else if constexpr (std::is_floating_point_v<From> && kIsInteger<To>) {
    if (std::isnan(x)) return To{0};
    // The bounds are powers of two, so they are exact in every float type.
    constexpr From kAbove = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * 2;
    constexpr From kLow = static_cast<From>(std::numeric_limits<To>::min());
    if (x >= kAbove) return std::numeric_limits<To>::max();
    if (x <= kLow) return std::numeric_limits<To>::min();
    return static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

// ---- integers: every result is defined
template <typename T>
T wrap(std::make_unsigned_t<T> x) {
  return static_cast<T>(x);
}

template <typename T>
T integer_divide(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>)
    if (b == -1)
      return wrap<T>(
          static_cast<std::make_unsigned_t<T>>(0u - static_cast<std::make_unsigned_t<T>>(a)));
  return static_cast<T>(a / b);
}

template <typename T>
T integer_remainder(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return 0;
  return static_cast<T>(a % b);
}

template <typename T>
T integer_power(T base, T exponent) {
  using U = std::uint64_t;
  if constexpr (std::is_signed_v<T>) {
    if (exponent < 0) {
      if (base == 1) return 1;
      if (base == -1) return exponent % 2 == 0 ? T{1} : T{-1};
      return 0;
    }
  }
  U result = 1;
  U factor = static_cast<U>(base);
  for (U e = static_cast<U>(exponent); e != 0; e >>= 1) {
    if (e & 1) result *= factor;
    factor *= factor;
  }
  return static_cast<T>(result);
}

template <typename T>
T shift(T x, T count, bool left) {
  constexpr T kWidth = static_cast<T>(sizeof(T) * 8);
  bool outside = count >= kWidth;
  if constexpr (std::is_signed_v<T>) outside = outside || count < 0;
  if (outside) {
    if constexpr (std::is_signed_v<T>)
      if (!left && x < 0) return -1;
    return 0;
  }
  using U = std::make_unsigned_t<T>;
  if (left) return static_cast<T>(static_cast<std::uint64_t>(static_cast<U>(x)) << count);
  return static_cast<T>(x >> count);
}

// ---- floats
//
// NumPy's floor division and modulo, from one exact remainder.
template <typename T>
void float_divmod(T a, T b, T& quotient, T& remainder) {
  if (b == 0) {
    quotient = a / b;
    remainder = std::numeric_limits<T>::quiet_NaN();
    return;
  }
  T mod = std::fmod(a, b);
  T div = (a - mod) / b;
  if (mod != 0) {
    if ((b < 0) != (mod < 0)) {
      mod += b;
      div -= 1;
    }
  } else {
    mod = std::copysign(T{0}, b);
  }
  if (div != 0) {
    const T low = std::floor(div);
    quotient = div - low > T(0.5) ? low + 1 : low;
  } else {
    quotient = std::copysign(T{0}, a / b);
  }
  if (std::isnan(a) || std::isnan(b) || std::isinf(a))
    quotient = std::numeric_limits<T>::quiet_NaN();
  remainder = mod;
}

template <typename T>
T float_minimum(T a, T b) {
  if (std::isnan(a)) return a;
  if (std::isnan(b)) return b;
  return b < a ? b : a;
}
template <typename T>
T float_maximum(T a, T b) {
  if (std::isnan(a)) return a;
  if (std::isnan(b)) return b;
  return a < b ? b : a;
}

inline Half next_half(Half from, Half to) {
  const auto a = static_cast<float>(from);
  const auto b = static_cast<float>(to);
  Half result = from;
  if (std::isnan(b)) return to;
  if (std::isnan(a) || a == b) return from;  // -0 gives 0 too, as NumPy's half does
  if (a == 0) {
    result.bits = static_cast<std::uint16_t>(b > 0 ? 1 : 0x8001);
  } else {
    const bool away = (a < b) == (a > 0);
    result.bits = static_cast<std::uint16_t>(from.bits + (away ? 1 : -1));
  }
  return result;
}

// ---- complex: NumPy's formulas
template <typename T>
Complex<T> complex_divide(Complex<T> a, Complex<T> b) {
  if (std::abs(b.re) >= std::abs(b.im)) {
    if (b.re == 0 && b.im == 0) return {a.re / std::abs(b.re), a.im / std::abs(b.re)};
    const T ratio = b.im / b.re;
    const T scale = 1 / (b.re + b.im * ratio);
    return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
  }
  const T ratio = b.re / b.im;
  const T scale = 1 / (b.im + b.re * ratio);
  return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
}

template <typename T>
Complex<T> complex_exp(Complex<T> x) {
  const T size = std::exp(x.re);
  if (x.im == 0) return {size, x.im};
  return {size * std::cos(x.im), size * std::sin(x.im)};
}
template <typename T>
Complex<T> complex_log(Complex<T> x) {
  return {std::log(std::hypot(x.re, x.im)), std::atan2(x.im, x.re)};
}
template <typename T>
Complex<T> complex_sqrt(Complex<T> x) {
  if (x.re == 0 && x.im == 0) return {0, x.im};
  const T size = std::hypot(x.re, x.im);
  const T half = std::sqrt((size + std::abs(x.re)) / 2);
  if (x.re >= 0) return {half, x.im / (2 * half)};
  return {std::abs(x.im) / (2 * half), std::copysign(half, x.im)};
}
template <typename T>
Complex<T> complex_multiply(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <typename T>
Complex<T> complex_power(Complex<T> a, Complex<T> b) {
  if (b.re == 0 && b.im == 0) return {1, 0};
  if (a.re == 0 && a.im == 0) {
    if (b.re > 0 && b.im == 0) return {0, 0};
    constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
    return {kNan, kNan};
  }
  if (b.im == 0 && b.re == 1) return a;
  if (b.im == 0 && b.re == 2) return complex_multiply(a, a);
  return complex_exp(complex_multiply(b, complex_log(a)));
}

// ---- one operand, result of the same type
template <Op op, typename T>
T unary(T x) {
  if constexpr (op == Op::stored) {
    return x;
  } else if constexpr (kIsHalf<T>) {
    if constexpr (op == Op::negate) {
      x.bits ^= 0x8000;
      return x;
    } else if constexpr (op == Op::absolute) {
      x.bits &= 0x7fff;
      return x;
    } else {
      return T{unary<op, float>(static_cast<float>(x))};
    }
  } else if constexpr (kIsBool<T>) {
    static_assert(op == Op::bit_not || op == Op::logical_not);
    return !x;
  } else if constexpr (kIsInteger<T>) {
    using U = std::make_unsigned_t<T>;
    if constexpr (op == Op::negate) return static_cast<T>(static_cast<U>(0u - static_cast<U>(x)));
    if constexpr (op == Op::absolute) {
      if constexpr (std::is_signed_v<T>)
        if (x < 0) return static_cast<T>(static_cast<U>(0u - static_cast<U>(x)));
      return x;
    }
    if constexpr (op == Op::sign) return static_cast<T>(x > 0 ? 1 : (x == 0 ? 0 : -1));
    if constexpr (op == Op::bit_not) return static_cast<T>(~x);
    if constexpr (op == Op::popcount) return static_cast<T>(std::popcount(static_cast<U>(x)));
  } else if constexpr (kIsComplex<T>) {
    if constexpr (op == Op::negate) return {-x.re, -x.im};
    if constexpr (op == Op::conj) return {x.re, -x.im};
    if constexpr (op == Op::sqrt) return complex_sqrt(x);
    if constexpr (op == Op::exp) return complex_exp(x);
    if constexpr (op == Op::log) return complex_log(x);
    if constexpr (op == Op::sin)
      return {std::sin(x.re) * std::cosh(x.im), std::cos(x.re) * std::sinh(x.im)};
    if constexpr (op == Op::cos)
      return {std::cos(x.re) * std::cosh(x.im), -(std::sin(x.re) * std::sinh(x.im))};
    if constexpr (op == Op::sinh)
      return {std::sinh(x.re) * std::cos(x.im), std::cosh(x.re) * std::sin(x.im)};
    if constexpr (op == Op::cosh)
      return {std::cosh(x.re) * std::cos(x.im), std::sinh(x.re) * std::sin(x.im)};
  } else {
    if constexpr (op == Op::negate) return -x;
    if constexpr (op == Op::absolute) return std::abs(x);
    if constexpr (op == Op::sign) return std::isnan(x) ? x : static_cast<T>((x > 0) - (x < 0));
    if constexpr (op == Op::sqrt) return std::sqrt(x);
    if constexpr (op == Op::rsqrt) return 1 / std::sqrt(x);
    if constexpr (op == Op::cbrt) return std::cbrt(x);
    if constexpr (op == Op::exp) return std::exp(x);
    if constexpr (op == Op::exp2) return std::exp2(x);
    if constexpr (op == Op::exp10) return static_cast<T>(std::pow(10.0, static_cast<double>(x)));
    if constexpr (op == Op::expm1) return std::expm1(x);
    if constexpr (op == Op::log) return std::log(x);
    if constexpr (op == Op::log2) return std::log2(x);
    if constexpr (op == Op::log10) return std::log10(x);
    if constexpr (op == Op::log1p) return std::log1p(x);
    if constexpr (op == Op::sin) return std::sin(x);
    if constexpr (op == Op::cos) return std::cos(x);
    if constexpr (op == Op::tan) return std::tan(x);
    if constexpr (op == Op::asin) return std::asin(x);
    if constexpr (op == Op::acos) return std::acos(x);
    if constexpr (op == Op::atan) return std::atan(x);
    if constexpr (op == Op::sinh) return std::sinh(x);
    if constexpr (op == Op::cosh) return std::cosh(x);
    if constexpr (op == Op::tanh) return std::tanh(x);
    if constexpr (op == Op::asinh) return std::asinh(x);
    // For large negative x, acosh of browsers' C libraries returns a number instead of NaN.
    if constexpr (op == Op::acosh)
      return x < 1 ? std::numeric_limits<T>::quiet_NaN() : std::acosh(x);
    if constexpr (op == Op::atanh) return std::atanh(x);
    if constexpr (op == Op::floor) return std::floor(x);
    if constexpr (op == Op::ceil) return std::ceil(x);
    if constexpr (op == Op::trunc) return std::trunc(x);
    if constexpr (op == Op::rint) return std::nearbyint(x);
    if constexpr (op == Op::round) return std::round(x);
    if constexpr (op == Op::erf) return std::erf(x);
    if constexpr (op == Op::erfc) return std::erfc(x);
    // Functions that the C library lacks, or that set a global variable there (lgamma), are
    // computed in double.
    const auto wide = static_cast<double>(x);
    if constexpr (op == Op::erfinv) return static_cast<T>(special::erfinv(wide));
    if constexpr (op == Op::erfcinv) return static_cast<T>(special::erfcinv(wide));
    if constexpr (op == Op::erfcx) return static_cast<T>(special::erfcx(wide));
    if constexpr (op == Op::lgamma) return static_cast<T>(special::lgamma(wide));
    if constexpr (op == Op::tgamma) return static_cast<T>(special::tgamma(wide));
    if constexpr (op == Op::digamma) return static_cast<T>(special::digamma(wide));
    if constexpr (op == Op::ndtr) return static_cast<T>(special::ndtr(wide));
    if constexpr (op == Op::ndtri) return static_cast<T>(special::ndtri(wide));
  }
}

// ---- one operand, bool
template <Op op, typename T>
bool test(T x) {
  if constexpr (kIsHalf<T> && op == Op::sign_bit) {
    return (x.bits & 0x8000) != 0;
  } else if constexpr (kIsHalf<T>) {
    return test<op>(static_cast<float>(x));
  } else if constexpr (kIsComplex<T>) {
    if constexpr (op == Op::is_finite) return test<op>(x.re) && test<op>(x.im);
    return test<op>(x.re) || test<op>(x.im);
  } else {
    if constexpr (op == Op::is_nan) return std::isnan(x);
    if constexpr (op == Op::is_inf) return std::isinf(x);
    if constexpr (op == Op::is_finite) return std::isfinite(x);
    if constexpr (op == Op::sign_bit) return std::signbit(x);
  }
}

// ---- two operands
template <Op op, typename T>
T binary(T a, T b) {
  if constexpr (kIsHalf<T>) {
    if constexpr (op == Op::nextafter) return next_half(a, b);
    return T{binary<op, float>(static_cast<float>(a), static_cast<float>(b))};
  } else if constexpr (kIsBool<T>) {
    if constexpr (op == Op::minimum || op == Op::fmin || op == Op::bit_and || op == Op::logical_and)
      return a && b;
    if constexpr (op == Op::maximum || op == Op::fmax || op == Op::bit_or || op == Op::logical_or)
      return a || b;
    if constexpr (op == Op::bit_xor || op == Op::logical_xor) return a != b;
  } else if constexpr (kIsInteger<T>) {
    using U = std::uint64_t;
    if constexpr (op == Op::add) return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    if constexpr (op == Op::subtract) return static_cast<T>(static_cast<U>(a) - static_cast<U>(b));
    if constexpr (op == Op::multiply) return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
    if constexpr (op == Op::divide) return integer_divide(a, b);
    if constexpr (op == Op::remainder) return integer_remainder(a, b);
    if constexpr (op == Op::floor_divide || op == Op::modulo) {
      const T rest = integer_remainder(a, b);
      const bool adjust = rest != 0 && ((rest < 0) != (b < 0));
      if constexpr (op == Op::modulo) return static_cast<T>(adjust ? rest + b : rest);
      const T quotient = integer_divide(a, b);
      return static_cast<T>(adjust ? quotient - 1 : quotient);
    }
    if constexpr (op == Op::power) return integer_power(a, b);
    if constexpr (op == Op::minimum || op == Op::fmin) return b < a ? b : a;
    if constexpr (op == Op::maximum || op == Op::fmax) return a < b ? b : a;
    if constexpr (op == Op::bit_and) return static_cast<T>(a & b);
    if constexpr (op == Op::bit_or) return static_cast<T>(a | b);
    if constexpr (op == Op::bit_xor) return static_cast<T>(a ^ b);
    if constexpr (op == Op::shift_left) return shift(a, b, true);
    if constexpr (op == Op::shift_right) return shift(a, b, false);
  } else if constexpr (kIsComplex<T>) {
    if constexpr (op == Op::add) return {a.re + b.re, a.im + b.im};
    if constexpr (op == Op::subtract) return {a.re - b.re, a.im - b.im};
    if constexpr (op == Op::multiply) return complex_multiply(a, b);
    if constexpr (op == Op::divide) return complex_divide(a, b);
    if constexpr (op == Op::power) return complex_power(a, b);
  } else {
    if constexpr (op == Op::add) return a + b;
    if constexpr (op == Op::subtract) return a - b;
    if constexpr (op == Op::multiply) return a * b;
    if constexpr (op == Op::divide) return a / b;
    if constexpr (op == Op::remainder) return std::fmod(a, b);
    if constexpr (op == Op::floor_divide || op == Op::modulo) {
      T quotient = 0;
      T rest = 0;
      float_divmod(a, b, quotient, rest);
      return op == Op::modulo ? rest : quotient;
    }
    if constexpr (op == Op::power) return std::pow(a, b);
    if constexpr (op == Op::atan2) return std::atan2(a, b);
    if constexpr (op == Op::hypot) return std::hypot(a, b);
    if constexpr (op == Op::copysign) return std::copysign(a, b);
    if constexpr (op == Op::nextafter) return std::nextafter(a, b);
    if constexpr (op == Op::minimum) return float_minimum(a, b);
    if constexpr (op == Op::maximum) return float_maximum(a, b);
    if constexpr (op == Op::fmin) return std::isnan(a) ? b : (std::isnan(b) ? a : (b < a ? b : a));
    if constexpr (op == Op::fmax) return std::isnan(a) ? b : (std::isnan(b) ? a : (a < b ? b : a));
  }
}

// ---- comparisons
template <Op op, typename T>
bool compare(T a, T b) {
  if constexpr (kIsHalf<T>) {
    return compare<op, float>(static_cast<float>(a), static_cast<float>(b));
  } else if constexpr (kIsComplex<T>) {
    const bool same = a.re == b.re && a.im == b.im;
    return op == Op::equal ? same : !same;
  } else {
    if constexpr (op == Op::equal) return a == b;
    if constexpr (op == Op::not_equal) return a != b;
    if constexpr (op == Op::less) return a < b;
    if constexpr (op == Op::less_equal) return a <= b;
    if constexpr (op == Op::greater) return a > b;
    if constexpr (op == Op::greater_equal) return a >= b;
  }
}

template <typename T>
T fused(T a, T b, T c) {
  if constexpr (kIsHalf<T>)
    return T{static_cast<float>(a) * static_cast<float>(b) + static_cast<float>(c)};
  else
    return std::fma(a, b, c);
}

template <typename T>
T load_exponent(T x, std::int32_t exponent) {
  if constexpr (kIsHalf<T>)
    return T{std::ldexp(static_cast<float>(x), exponent)};
  else
    return std::ldexp(x, exponent);
}

template <typename T>
std::int32_t leading_zeros(T x) {
  return std::countl_zero(static_cast<std::make_unsigned_t<T>>(x));
}

}  // namespace arraycore::ir
