// The complex versions of functions whose real version is an operation of the IR. The formulas are
// NumPy's own for expm1 and log1p; those of FreeBSD's msun for tanh; and those of Kahan's "Branch
// Cuts for Complex Elementary Functions" for the inverse functions, which keep the sign of a zero
// imaginary part. Infinities, NaN and signed zeros give what annex G of the C standard lists.
#include <limits>
#include <numbers>

#include "ops/bodies.h"

namespace arraycore::ops {
namespace {

using ir::Builder;
using ir::Op;
using ir::Value;

constexpr double kRightAngle = std::numbers::pi / 2;
constexpr double kLogOf2 = std::numbers::ln2;

struct Parts {
  Value re;
  Value im;
};

Parts parts_of(Builder& b, Value z) { return {b.apply(Op::real, {z}), b.apply(Op::imag, {z})}; }
Values complex_of(Builder& b, Parts z) { return {b.make_complex(z.re, z.im)}; }
Value real_number(Builder& b, Value like, double value) { return b.constant(like.type, value); }
Value nan_like(Builder& b, Value like) {
  return b.constant(like.type, std::numeric_limits<double>::quiet_NaN());
}
Value infinity_like(Builder& b, Value like) {
  return b.constant(like.type, std::numeric_limits<double>::infinity());
}
Value is_zero(Builder& b, Value x) { return x == real_number(b, x, 0); }
Value is_finite(Builder& b, Value x) { return b.apply(Op::is_finite, {x}); }
Value is_infinite(Builder& b, Value x) { return b.apply(Op::is_inf, {x}); }
Value all_of(Builder& b, Value x, Value y) { return b.apply(Op::logical_and, {x, y}); }
Value any_of(Builder& b, Value x, Value y) { return b.apply(Op::logical_or, {x, y}); }
Value size_of(Builder& b, Value x) { return b.apply(Op::absolute, {x}); }
Value with_sign(Builder& b, Value size, Value sign) { return b.apply(Op::copysign, {size, sign}); }

// Returns f(i z) / i: sin from sinh, tan from tanh, arcsinh from arcsin, arctan from arctanh.
template <Parts (*function)(Builder&, Parts)>
Values turned(Builder& b, Parts z) {
  const Parts found = function(b, {-z.im, z.re});
  return {b.make_complex(found.im, -found.re)};
}

// Returns e to the power of a number so large that it overflows, times a factor of at most 1.
struct Growing {
  Value size;  // the exponent's absolute value
  Value root;  // the root of the power
  Value far;   // whether the power needs to be multiplied in two steps
  Value times(Builder& b, Value plain, Value factor, double scale) const {
    return b.select(far, root * (real_number(b, size, scale) * factor) * root, plain);
  }
};
Growing growing(Builder& b, Value x) {
  const Value size = size_of(b, x);
  const Value limit = real_number(b, x, x.type == DType::float32 ? 85 : 705);
  return {size, b.apply(Op::exp, {real_number(b, x, 0.5) * size}),
          all_of(b, size > limit, is_finite(b, size))};
}

// Returns size * (cos(angle) + i sin(angle)) for the power `size` of a real number whose sign is
// that of `x`.
Parts exponential(Builder& b, Value x, Value size, Value angle) {
  const Value finite = is_finite(b, angle);
  const Growing large = growing(b, x);
  // Small powers are products of one step: they may only underflow.
  const Value positive = x > real_number(b, x, 0);
  const auto part = [&](Op op) {
    const Value factor = b.apply(op, {angle});
    return b.select(positive, large.times(b, size * factor, factor, 1), size * factor);
  };
  // The direction of a non-finite angle is unknown, but 0 in every direction is 0.
  const Value none = all_of(b, is_infinite(b, x), !positive);
  const Value re = b.select(
      finite, part(Op::cos),
      b.select(none, real_number(b, x, 0), b.select(is_infinite(b, x), x, nan_like(b, x))));
  const Value im =
      b.select(finite, part(Op::sin),
               b.select(none, with_sign(b, real_number(b, x, 0), angle), nan_like(b, x)));
  const Value real = is_zero(b, angle);
  return {b.select(real, size, re), b.select(real, angle, im)};
}

Parts sinh_of(Builder& b, Parts z) {
  const Value finite = is_finite(b, z.im);
  const Growing large = growing(b, z.re);
  const Value cosine = b.apply(Op::cos, {z.im});
  const Value sine = b.apply(Op::sin, {z.im});
  const Value signed_cosine = with_sign(b, real_number(b, z.re, 1), z.re) * cosine;
  const Value re = large.times(b, b.apply(Op::sinh, {z.re}) * cosine, signed_cosine, 0.5);
  const Value im = large.times(b, b.apply(Op::cosh, {z.re}) * sine, sine, 0.5);
  const Value re_else = b.select(
      is_zero(b, z.re), z.re, b.select(is_infinite(b, z.re), size_of(b, z.re), nan_like(b, z.re)));
  const Value real = is_zero(b, z.im);
  return {b.select(finite, re, re_else),
          b.select(real, z.im, b.select(finite, im, nan_like(b, z.im)))};
}

Parts cosh_of(Builder& b, Parts z) {
  const Value finite = is_finite(b, z.im);
  const Growing large = growing(b, z.re);
  const Value cosine = b.apply(Op::cos, {z.im});
  const Value sine = b.apply(Op::sin, {z.im});
  const Value one = with_sign(b, real_number(b, z.re, 1), z.re);
  const Value re = large.times(b, b.apply(Op::cosh, {z.re}) * cosine, cosine, 0.5);
  const Value im = large.times(b, b.apply(Op::sinh, {z.re}) * sine, one * sine, 0.5);
  const Value re_else = b.select(is_infinite(b, z.re), size_of(b, z.re), nan_like(b, z.re));
  const Value im_else = b.select(is_zero(b, z.re), real_number(b, z.re, 0), nan_like(b, z.re));
  const Value real = is_zero(b, z.im);
  return {b.select(finite, re, re_else), b.select(real, one * z.im, b.select(finite, im, im_else))};
}

Parts tanh_of(Builder& b, Parts z) {
  const Value one = real_number(b, z.re, 1);
  const Value size = size_of(b, z.re);
  const Value tangent = b.apply(Op::tan, {z.im});
  const Value sine = b.apply(Op::sinh, {z.re});
  const Value beta = one + tangent * tangent;
  const Value rho = b.apply(Op::sqrt, {one + sine * sine});
  const Value below = one + beta * sine * sine;
  // For large arguments the real part is 1, and the squares would overflow.
  const Value far = size > real_number(b, z.re, z.re.type == DType::float32 ? 11 : 22);
  const Value tail = real_number(b, z.re, 4) * b.apply(Op::sin, {z.im}) * b.apply(Op::cos, {z.im}) *
                     b.apply(Op::exp, {real_number(b, z.re, -2) * size});
  const Value re = b.select(far, with_sign(b, one, z.re), beta * rho * sine / below);
  const Value im = b.select(far, tail, tangent / below);
  const Value finite = is_finite(b, z.im);
  const Value infinite = is_infinite(b, z.re);
  const Value re_else = b.select(is_zero(b, z.re), z.re,
                                 b.select(infinite, with_sign(b, one, z.re), nan_like(b, z.re)));
  const Value im_else =
      b.select(infinite, with_sign(b, real_number(b, z.im, 0), z.im), nan_like(b, z.im));
  return {b.select(finite, re, re_else),
          b.select(is_zero(b, z.im), z.im, b.select(finite, im, im_else))};
}

// Returns the square root of a complex number.
Parts root(Builder& b, Parts z) {
  // Halves of the largest numbers have a modulus that does not overflow.
  const Value largest = b.apply(Op::maximum, {size_of(b, z.re), size_of(b, z.im)});
  const Value far = largest > real_number(b, z.re, z.re.type == DType::float32 ? 1e38 : 1e307);
  const Value scale = b.select(far, real_number(b, z.re, 0.0625), real_number(b, z.re, 1));
  const Value back = b.select(far, real_number(b, z.re, 4), real_number(b, z.re, 1));
  const Value x = z.re * scale;
  const Value y = z.im * scale;
  const Value half =
      b.apply(Op::sqrt, {(b.apply(Op::hypot, {x, y}) + size_of(b, x)) * real_number(b, x, 0.5)});
  const Value other = y / (half + half);
  const Value right = z.re >= real_number(b, z.re, 0);
  Value re = back * b.select(right, half, size_of(b, other));
  Value im = back * b.select(right, other, with_sign(b, half, z.im));
  const Value zero = real_number(b, z.re, 0);
  const Value infinity = infinity_like(b, z.re);
  const Value finite = is_finite(b, z.im);
  const Value none = all_of(b, is_zero(b, z.re), is_zero(b, z.im));
  const Value wide = is_infinite(b, z.re);
  const Value left_or_right_re = b.select(right, infinity, b.select(finite, zero, nan_like(b, x)));
  const Value flat = b.select(finite, with_sign(b, zero, z.im), nan_like(b, x));
  const Value left_or_right_im = b.select(right, flat, with_sign(b, infinity, z.im));
  re = b.select(wide, left_or_right_re, b.select(none, zero, re));
  im = b.select(wide, left_or_right_im, b.select(none, z.im, im));
  const Value tall = is_infinite(b, z.im);
  return {b.select(tall, infinity, re), b.select(tall, z.im, im)};
}

// ---- logarithms

// Returns x * x + y * y - 1 without the rounding errors of the squares, for 0.5 <= x < 2, y <= x.
Value square_beyond_one(Builder& b, Value x, Value y) {
  const Value one = real_number(b, x, 1);
  // Dekker's product: what is lost when the square of a number is rounded.
  const Value split = real_number(b, x, x.type == DType::float32 ? 4097 : 134217729);
  const auto lost = [&](Value of, Value square) {
    const Value grown = split * of;
    const Value high = grown - (grown - of);
    const Value low = of - high;
    return ((high * high - square) + real_number(b, x, 2) * high * low) + low * low;
  };
  // Knuth's sum: what is lost when a sum is rounded.
  const auto lost_of_sum = [&](Value p, Value q, Value sum) {
    const Value second = sum - p;
    return (p - (sum - second)) + (q - second);
  };
  const Value less = x - one;  // exact
  const Value twice = less + less;
  const Value less_square = less * less;
  const Value y_square = y * y;
  const Value first = twice + y_square;
  const Value second = first + less_square;
  const Value rest =
      (lost_of_sum(twice, y_square, first) + lost_of_sum(first, less_square, second)) +
      (lost(y, y_square) + lost(less, less_square));
  return second + rest;
}

// Returns the logarithm of a number's modulus.
Value log_modulus(Builder& b, Parts z) {
  const Value x = size_of(b, z.re);
  const Value y = size_of(b, z.im);
  const Value half = real_number(b, x, 0.5);
  const Value large = b.select(x > y, x, y);
  const Value small = b.select(x > y, y, x);
  // Next to a modulus of 1 the logarithm would lose its digits. Squares beyond 2 are far from 1.
  const Value square = large * large + small * small;
  const Value near = all_of(b, square > half, square < real_number(b, x, 2));
  const Value one = real_number(b, x, 1);
  const Value beyond =
      square_beyond_one(b, b.select(near, large, one), b.select(near, small, real_number(b, x, 0)));
  // The modulus of a half does not overflow; a subnormal number's half may lose its last digit.
  const Value far = large > real_number(b, x, x.type == DType::float32 ? 1e38 : 1e307);
  const Value scale = b.select(far, half, one);
  const Value plain = b.apply(Op::log, {b.apply(Op::hypot, {scale * x, scale * y})}) +
                      b.select(far, real_number(b, x, kLogOf2), real_number(b, x, 0));
  return b.select(near, half * b.apply(Op::log1p, {beyond}), plain);
}

Parts logarithm(Builder& b, Parts z) {
  return {log_modulus(b, z), b.apply(Op::atan2, {z.im, z.re})};
}

// ---- inverse functions

// A number whose inverse functions are, to the last digit, those of its logarithm or reciprocal: it
// is large, infinite, or NaN.
struct Far {
  Value yes;
  Value log_twice;  // log(2 |z|)
};
Far far_from_zero(Builder& b, Parts z) {
  const Value limit = real_number(b, z.re, z.re.type == DType::float32 ? 1e5 : 1e9);
  const Value inside = all_of(b, size_of(b, z.re) < limit, size_of(b, z.im) < limit);
  const Value half = real_number(b, z.re, 0.5);
  const Value quarter = b.apply(Op::hypot, {half * z.re, half * z.im});
  return {!inside, b.apply(Op::log, {quarter}) + real_number(b, z.re, 2 * kLogOf2)};
}
// Returns the number, or 0 where it is far from zero, so that formulas for the others are finite.
Parts near_zero(Builder& b, Parts z, Value far) {
  const Value zero = real_number(b, z.re, 0);
  return {b.select(far, zero, z.re), b.select(far, zero, z.im)};
}
Value not_a_number(Builder& b, Value x) { return b.apply(Op::is_nan, {x}); }

Parts arcsine(Builder& b, Parts given) {
  const Far far = far_from_zero(b, given);
  const Parts z = near_zero(b, given, far.yes);
  const Value one = real_number(b, z.re, 1);
  const Parts minus = root(b, {one - z.re, -z.im});
  const Parts plus = root(b, {one + z.re, z.im});
  const Value re = b.apply(Op::atan2, {z.re, minus.re * plus.re - minus.im * plus.im});
  const Value im = b.apply(Op::asinh, {minus.re * plus.im - minus.im * plus.re});
  const Value far_re = b.select(all_of(b, is_zero(b, given.re), not_a_number(b, given.im)),
                                given.re, b.apply(Op::atan2, {given.re, size_of(b, given.im)}));
  return {b.select(far.yes, far_re, re),
          b.select(far.yes, with_sign(b, far.log_twice, given.im), im)};
}

Parts arccosine(Builder& b, Parts given) {
  const Far far = far_from_zero(b, given);
  const Parts z = near_zero(b, given, far.yes);
  const Value one = real_number(b, z.re, 1);
  const Parts minus = root(b, {one - z.re, -z.im});
  const Parts plus = root(b, {one + z.re, z.im});
  const Value angle = b.apply(Op::atan2, {minus.re, plus.re});
  const Value im = b.apply(Op::asinh, {plus.re * minus.im - plus.im * minus.re});
  const Value far_re = b.select(all_of(b, is_zero(b, given.re), not_a_number(b, given.im)),
                                real_number(b, z.re, kRightAngle),
                                b.apply(Op::atan2, {size_of(b, given.im), given.re}));
  return {b.select(far.yes, far_re, angle + angle),
          b.select(far.yes, -with_sign(b, far.log_twice, given.im), im)};
}

Parts arcosh(Builder& b, Parts given) {
  const Far far = far_from_zero(b, given);
  const Parts z = near_zero(b, given, far.yes);
  const Value one = real_number(b, z.re, 1);
  const Parts minus = root(b, {z.re - one, z.im});
  const Parts plus = root(b, {z.re + one, z.im});
  const Value angle = b.apply(Op::atan2, {minus.im, plus.re});
  const Value re = b.apply(Op::asinh, {minus.re * plus.re + minus.im * plus.im});
  const Value far_im =
      b.select(all_of(b, is_zero(b, given.re), not_a_number(b, given.im)),
               real_number(b, z.re, kRightAngle), b.apply(Op::atan2, {given.im, given.re}));
  return {b.select(far.yes, far.log_twice, re), b.select(far.yes, far_im, angle + angle)};
}

Parts artanh(Builder& b, Parts given) {
  const Far far = far_from_zero(b, given);
  const Parts z = near_zero(b, given, far.yes);
  const Value one = real_number(b, z.re, 1);
  const Value size = size_of(b, z.re);
  const Value near = one - size;
  const Value ratio = real_number(b, z.re, 4) * size / (near * near + z.im * z.im);
  const Value re = real_number(b, z.re, 0.25) * b.apply(Op::log1p, {ratio});
  const Value im = b.apply(Op::atan2, {z.im + z.im, near * (one + size) - z.im * z.im});
  // Far from zero it is 1 / z + i pi / 2.
  const Value modulus = b.apply(Op::hypot, {given.re, given.im});
  const Value infinite = any_of(b, is_infinite(b, given.re), is_infinite(b, given.im));
  const Value unknown = all_of(b, is_zero(b, given.re), not_a_number(b, given.im));
  const Value far_re =
      b.select(any_of(b, infinite, unknown), with_sign(b, real_number(b, z.re, 0), given.re),
               given.re / modulus / modulus);
  const Value right_angle = with_sign(b, real_number(b, z.re, kRightAngle), given.im);
  const Value far_im =
      b.select(infinite, b.select(not_a_number(b, given.im), given.im, right_angle),
               right_angle - given.im / modulus / modulus);
  return {b.select(far.yes, far_re, with_sign(b, re, z.re)),
          b.select(far.yes, far_im, real_number(b, z.re, 0.5) * im)};
}

}  // namespace

Values exp(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::exp, x)};
  const Parts z = parts_of(b, x[0]);
  return complex_of(b, exponential(b, z.re, b.apply(Op::exp, {z.re}), z.im));
}

Values exp2(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::exp2, x)};
  const Parts z = parts_of(b, x[0]);
  const Value ln2 = real_number(b, z.im, kLogOf2);
  return complex_of(b, exponential(b, z.re * ln2, b.apply(Op::exp2, {z.re}), z.im * ln2));
}

Values expm1(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::expm1, x)};
  const Parts z = parts_of(b, x[0]);
  const Value half = b.apply(Op::sin, {z.im * real_number(b, z.im, 0.5)});
  const Value re = b.apply(Op::expm1, {z.re}) * b.apply(Op::cos, {z.im}) -
                   real_number(b, z.re, 2) * (half * half);
  return {b.make_complex(re, b.apply(Op::exp, {z.re}) * b.apply(Op::sin, {z.im}))};
}

Values log(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::log, x)};
  return complex_of(b, logarithm(b, parts_of(b, x[0])));
}

Values log2(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::log2, x)};
  const Parts made = logarithm(b, parts_of(b, x[0]));
  const Value by = real_number(b, made.re, kLogOf2);
  return complex_of(b, {made.re / by, made.im / by});
}

Values log10(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::log10, x)};
  const Parts made = logarithm(b, parts_of(b, x[0]));
  const Value by = real_number(b, made.re, std::numbers::ln10);
  return complex_of(b, {made.re / by, made.im / by});
}

Values log1p(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::log1p, x)};
  const Parts z = parts_of(b, x[0]);
  const Value one = real_number(b, z.re, 1);
  const Value half = real_number(b, z.re, 0.5);
  const Value small = size_of(b, z.re) + size_of(b, z.im) < half;
  const Value square = z.re * (z.re + real_number(b, z.re, 2)) + z.im * z.im;
  const Value far = log_modulus(b, {z.re + one, z.im});
  const Value near = half * b.apply(Op::log1p, {square});
  return {b.make_complex(b.select(small, near, far), b.apply(Op::atan2, {z.im, z.re + one}))};
}

Values sqrt(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::sqrt, x)};
  return complex_of(b, root(b, parts_of(b, x[0])));
}

Values sinh(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::sinh, x)};
  return complex_of(b, sinh_of(b, parts_of(b, x[0])));
}

Values cosh(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::cosh, x)};
  return complex_of(b, cosh_of(b, parts_of(b, x[0])));
}

Values tanh(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::tanh, x)};
  return complex_of(b, tanh_of(b, parts_of(b, x[0])));
}

Values sin(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::sin, x)};
  return turned<sinh_of>(b, parts_of(b, x[0]));
}

Values cos(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::cos, x)};
  const Parts z = parts_of(b, x[0]);
  return complex_of(b, cosh_of(b, {-z.im, z.re}));
}

Values tan(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::tan, x)};
  return turned<tanh_of>(b, parts_of(b, x[0]));
}

Values arcsin(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::asin, x)};
  return complex_of(b, arcsine(b, parts_of(b, x[0])));
}

Values arccos(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::acos, x)};
  return complex_of(b, arccosine(b, parts_of(b, x[0])));
}

Values arccosh(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::acosh, x)};
  return complex_of(b, arcosh(b, parts_of(b, x[0])));
}

Values arctanh(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::atanh, x)};
  return complex_of(b, artanh(b, parts_of(b, x[0])));
}

Values arcsinh(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::asinh, x)};
  return turned<arcsine>(b, parts_of(b, x[0]));
}

Values arctan(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::atan, x)};
  return turned<artanh>(b, parts_of(b, x[0]));
}

}  // namespace arraycore::ops
