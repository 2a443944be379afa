#include "ops/gradients.h"

#include <numbers>

namespace arraycore::ops::gradient {
namespace {

using ir::Op;

constexpr double kPi = std::numbers::pi;
constexpr double kLn2 = std::numbers::ln2;
constexpr double kLn10 = std::numbers::ln10;
constexpr double kTwoOverSqrtPi = 2 * std::numbers::inv_sqrtpi;
constexpr double kSqrtTwoPi = 2.50662827463100050242;

Value squared(Value x) { return x * x; }
Value one(Builder& b, Value like) { return b.constant(like.type, 1); }
Value exp_of(Builder& b, Value x) { return b.apply(Op::exp, {x}); }

}  // namespace

// Every gradient has the same parameters; few use them all.
#define AC_GRADIENT(name)                                                   \
  Value name([[maybe_unused]] Builder& b, [[maybe_unused]] const Values& x, \
             [[maybe_unused]] Value y, [[maybe_unused]] Value g, [[maybe_unused]] int which)

AC_GRADIENT(add) { return g; }
AC_GRADIENT(subtract) { return which == 0 ? g : -g; }
AC_GRADIENT(multiply) { return g * x[static_cast<std::size_t>(1 - which)]; }
AC_GRADIENT(divide) { return which == 0 ? g / x[1] : -g * y / x[1]; }
AC_GRADIENT(power) {
  if (which == 0) return g * x[1] * b.apply(Op::power, {x[0], x[1] - 1.0});
  // log of a base of 0 would make 0 * -inf.
  const Value zero = b.constant(x[0].type, 0);
  return b.select(x[0] == zero, zero, g * y * b.apply(Op::log, {x[0]}));
}
AC_GRADIENT(negative) { return -g; }
AC_GRADIENT(positive) { return g; }
AC_GRADIENT(absolute) { return g * b.apply(Op::sign, {x[0]}); }
AC_GRADIENT(square) { return g * x[0] * 2.0; }
AC_GRADIENT(sqrt) { return g / (y * 2.0); }
AC_GRADIENT(cbrt) { return g / (squared(y) * 3.0); }
AC_GRADIENT(reciprocal) { return -g * squared(y); }
AC_GRADIENT(exp) { return g * y; }
AC_GRADIENT(exp2) { return g * y * kLn2; }
AC_GRADIENT(expm1) { return g * (y + 1.0); }
AC_GRADIENT(log) { return g / x[0]; }
AC_GRADIENT(log2) { return g / (x[0] * kLn2); }
AC_GRADIENT(log10) { return g / (x[0] * kLn10); }
AC_GRADIENT(log1p) { return g / (x[0] + 1.0); }
AC_GRADIENT(sin) { return g * b.apply(Op::cos, {x[0]}); }
AC_GRADIENT(cos) { return -g * b.apply(Op::sin, {x[0]}); }
AC_GRADIENT(tan) { return g * (squared(y) + 1.0); }
AC_GRADIENT(arcsin) { return g / b.apply(Op::sqrt, {one(b, g) - squared(x[0])}); }
AC_GRADIENT(arccos) { return -g / b.apply(Op::sqrt, {one(b, g) - squared(x[0])}); }
AC_GRADIENT(arctan) { return g / (squared(x[0]) + 1.0); }
AC_GRADIENT(sinh) { return g * b.apply(Op::cosh, {x[0]}); }
AC_GRADIENT(cosh) { return g * b.apply(Op::sinh, {x[0]}); }
AC_GRADIENT(tanh) { return g * (one(b, g) - squared(y)); }
AC_GRADIENT(arcsinh) { return g / b.apply(Op::sqrt, {squared(x[0]) + 1.0}); }
AC_GRADIENT(arccosh) { return g / b.apply(Op::sqrt, {squared(x[0]) - 1.0}); }
AC_GRADIENT(arctanh) { return g / (one(b, g) - squared(x[0])); }
AC_GRADIENT(arctan2) {
  const Value length = squared(x[0]) + squared(x[1]);
  return which == 0 ? g * x[1] / length : -g * x[0] / length;
}
AC_GRADIENT(hypot) { return g * x[static_cast<std::size_t>(which)] / y; }
AC_GRADIENT(maximum) {
  const Value first = b.apply(Op::greater_equal, {x[0], x[1]});
  const Value zero = b.constant(g.type, 0);
  return which == 0 ? b.select(first, g, zero) : b.select(first, zero, g);
}
AC_GRADIENT(minimum) {
  const Value first = b.apply(Op::less_equal, {x[0], x[1]});
  const Value zero = b.constant(g.type, 0);
  return which == 0 ? b.select(first, g, zero) : b.select(first, zero, g);
}
AC_GRADIENT(degrees) { return g * (180.0 / kPi); }
AC_GRADIENT(radians) { return g * (kPi / 180.0); }
AC_GRADIENT(logaddexp) { return g * exp_of(b, x[static_cast<std::size_t>(which)] - y); }
AC_GRADIENT(logaddexp2) { return g * b.apply(Op::exp2, {x[static_cast<std::size_t>(which)] - y}); }
AC_GRADIENT(erf) { return g * exp_of(b, -squared(x[0])) * kTwoOverSqrtPi; }
AC_GRADIENT(erfc) { return -g * exp_of(b, -squared(x[0])) * kTwoOverSqrtPi; }
AC_GRADIENT(erfinv) { return g * exp_of(b, squared(y)) * (1.0 / kTwoOverSqrtPi); }
AC_GRADIENT(erfcinv) { return -g * exp_of(b, squared(y)) * (1.0 / kTwoOverSqrtPi); }
AC_GRADIENT(erfcx) { return g * (x[0] * y * 2.0 - b.constant(g.type, kTwoOverSqrtPi)); }
AC_GRADIENT(ndtr) { return g * exp_of(b, squared(x[0]) * -0.5) * (1.0 / kSqrtTwoPi); }
AC_GRADIENT(ndtri) { return g * exp_of(b, squared(y) * 0.5) * kSqrtTwoPi; }
AC_GRADIENT(gammaln) { return g * b.apply(Op::digamma, {x[0]}); }
AC_GRADIENT(gamma) { return g * y * b.apply(Op::digamma, {x[0]}); }
AC_GRADIENT(flat) { return b.constant(g.type, 0); }

#undef AC_GRADIENT

}  // namespace arraycore::ops::gradient
