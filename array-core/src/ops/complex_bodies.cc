// The complex versions of functions whose real version is an operation of the IR. The formulas are
// NumPy's own for exp2, expm1 and log1p; those of FreeBSD's msun for tanh; and those of Kahan's
// "Branch Cuts for Complex Elementary Functions" for the inverse functions, which keep the sign of
// a zero imaginary part.
#include <numbers>

#include "ops/bodies.h"

namespace arraycore::ops {
namespace {

using ir::Builder;
using ir::Op;
using ir::Value;

struct Parts {
  Value re;
  Value im;
};

Parts parts_of(Builder& b, Value z) { return {b.apply(Op::real, {z}), b.apply(Op::imag, {z})}; }
Value complex_of(Builder& b, Parts z) { return b.make_complex(z.re, z.im); }
Value real_number(Builder& b, Value like, double value) { return b.constant(like.type, value); }

// Returns the square root of a complex number, as its two parts.
Parts root(Builder& b, Value re, Value im) {
  return parts_of(b, b.apply(Op::sqrt, {b.make_complex(re, im)}));
}

Parts arcsine(Builder& b, Parts z) {
  const Value one = real_number(b, z.re, 1);
  const Parts minus = root(b, one - z.re, -z.im);
  const Parts plus = root(b, one + z.re, z.im);
  return {b.apply(Op::atan2, {z.re, minus.re * plus.re - minus.im * plus.im}),
          b.apply(Op::asinh, {minus.re * plus.im - minus.im * plus.re})};
}

Parts artanh(Builder& b, Parts z) {
  const Value one = real_number(b, z.re, 1);
  const Value size = b.apply(Op::absolute, {z.re});
  const Value near = one - size;
  const Value ratio = real_number(b, z.re, 4) * size / (near * near + z.im * z.im);
  const Value re = real_number(b, z.re, 0.25) * b.apply(Op::log1p, {ratio});
  const Value im = b.apply(Op::atan2, {z.im + z.im, near * (one + size) - z.im * z.im});
  return {b.apply(Op::copysign, {re, z.re}), real_number(b, z.re, 0.5) * im};
}

// Returns f(i z) / i. So arcsinh is computed with arcsin, and arctan with arctanh.
template <Parts (*function)(Builder&, Parts)>
Value turned(Builder& b, Value z) {
  const Parts given = parts_of(b, z);
  const Parts found = function(b, {-given.im, given.re});
  return b.make_complex(found.im, -found.re);
}

}  // namespace

Values exp2(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::exp2, x)};
  const Parts z = parts_of(b, x[0]);
  const Value size = b.apply(Op::exp2, {z.re});
  const Value angle = z.im * real_number(b, z.im, std::numbers::ln2);
  return {b.make_complex(size * b.apply(Op::cos, {angle}), size * b.apply(Op::sin, {angle}))};
}

Values expm1(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::expm1, x)};
  const Parts z = parts_of(b, x[0]);
  const Value half = b.apply(Op::sin, {z.im * real_number(b, z.im, 0.5)});
  const Value re = b.apply(Op::expm1, {z.re}) * b.apply(Op::cos, {z.im}) -
                   real_number(b, z.re, 2) * (half * half);
  return {b.make_complex(re, b.apply(Op::exp, {z.re}) * b.apply(Op::sin, {z.im}))};
}

Values log1p(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::log1p, x)};
  const Parts z = parts_of(b, x[0]);
  const Value one = real_number(b, z.re, 1);
  const Value half = real_number(b, z.re, 0.5);
  const Value small = b.apply(Op::absolute, {z.re}) + b.apply(Op::absolute, {z.im}) < half;
  const Value square = z.re * (z.re + real_number(b, z.re, 2)) + z.im * z.im;
  const Value far = b.apply(Op::log, {b.apply(Op::hypot, {z.re + one, z.im})});
  const Value near = half * b.apply(Op::log1p, {square});
  return {b.make_complex(b.select(small, near, far), b.apply(Op::atan2, {z.im, z.re + one}))};
}

Values tanh(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::tanh, x)};
  const Parts z = parts_of(b, x[0]);
  const Value one = real_number(b, z.re, 1);
  const Value size = b.apply(Op::absolute, {z.re});
  const Value tangent = b.apply(Op::tan, {z.im});
  const Value sine = b.apply(Op::sinh, {z.re});
  const Value beta = one + tangent * tangent;
  const Value rho = b.apply(Op::sqrt, {one + sine * sine});
  const Value below = one + beta * sine * sine;
  // For large arguments the real part is 1, and the squares would overflow.
  const Value far = size > real_number(b, z.re, z.re.type == DType::float32 ? 11 : 22);
  const Value tail = real_number(b, z.re, 4) * b.apply(Op::sin, {z.im}) * b.apply(Op::cos, {z.im}) *
                     b.apply(Op::exp, {real_number(b, z.re, -2) * size});
  return {
      b.make_complex(b.select(far, b.apply(Op::copysign, {one, z.re}), beta * rho * sine / below),
                     b.select(far, tail, tangent / below))};
}

Values arcsin(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::asin, x)};
  return {complex_of(b, arcsine(b, parts_of(b, x[0])))};
}

Values arccos(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::acos, x)};
  const Parts z = parts_of(b, x[0]);
  const Value one = real_number(b, z.re, 1);
  const Parts minus = root(b, one - z.re, -z.im);
  const Parts plus = root(b, one + z.re, z.im);
  const Value angle = b.apply(Op::atan2, {minus.re, plus.re});
  const Value im = b.apply(Op::asinh, {plus.re * minus.im - plus.im * minus.re});
  return {b.make_complex(angle + angle, im)};
}

Values arccosh(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::acosh, x)};
  const Parts z = parts_of(b, x[0]);
  const Value one = real_number(b, z.re, 1);
  const Parts minus = root(b, z.re - one, z.im);
  const Parts plus = root(b, z.re + one, z.im);
  const Value angle = b.apply(Op::atan2, {minus.im, plus.re});
  const Value re = b.apply(Op::asinh, {minus.re * plus.re + minus.im * plus.im});
  return {b.make_complex(re, angle + angle)};
}

Values arctanh(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::atanh, x)};
  return {complex_of(b, artanh(b, parts_of(b, x[0])))};
}

Values arcsinh(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::asinh, x)};
  return {turned<arcsine>(b, x[0])};
}

Values arctan(Builder& b, const Values& x) {
  if (!is_complex(x[0].type)) return {b.apply(Op::atan, x)};
  return {turned<artanh>(b, x[0])};
}

}  // namespace arraycore::ops
