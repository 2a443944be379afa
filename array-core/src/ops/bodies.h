// Builds the IR of one element for the table's ufuncs. Each function is a Body of ufunc.h.
#pragma once

#include "ops/ufunc.h"

namespace arraycore::ops {

// Applies one operation of the IR to the operands.
template <ir::Op op>
Values direct(ir::Builder& builder, const Values& x) {
  return {builder.apply(op, x)};
}

// Applies `op` to floating and complex types. For integers, which are whole and finite already, it
// applies the template's `Otherwise` instead, which by default returns the value itself.
template <ir::Op op, Body Otherwise>
Values float_or(ir::Builder& builder, const Values& x) {
  if (is_floating(x[0].type) || is_complex(x[0].type)) return direct<op>(builder, x);
  return Otherwise(builder, x);
}

Values same(ir::Builder& builder, const Values& x);
Values bool_false(ir::Builder& builder, const Values& x);
Values bool_true(ir::Builder& builder, const Values& x);

Values add(ir::Builder& builder, const Values& x);
Values multiply(ir::Builder& builder, const Values& x);
Values divide(ir::Builder& builder, const Values& x);
Values power(ir::Builder& builder, const Values& x);
Values absolute(ir::Builder& builder, const Values& x);
Values sign(ir::Builder& builder, const Values& x);
Values square(ir::Builder& builder, const Values& x);
Values reciprocal(ir::Builder& builder, const Values& x);
Values rint(ir::Builder& builder, const Values& x);
Values degrees(ir::Builder& builder, const Values& x);
Values radians(ir::Builder& builder, const Values& x);
Values logaddexp(ir::Builder& builder, const Values& x);
Values logaddexp2(ir::Builder& builder, const Values& x);
Values heaviside(ir::Builder& builder, const Values& x);
Values spacing(ir::Builder& builder, const Values& x);
Values gcd(ir::Builder& builder, const Values& x);
Values lcm(ir::Builder& builder, const Values& x);
Values ldexp(ir::Builder& builder, const Values& x);
Values modf(ir::Builder& builder, const Values& x);
Values divmod(ir::Builder& builder, const Values& x);
Values bitwise_count(ir::Builder& builder, const Values& x);
Values logical_not(ir::Builder& builder, const Values& x);

// The next functions are in complex_bodies.cc.
Values sqrt(ir::Builder& builder, const Values& x);
Values exp(ir::Builder& builder, const Values& x);
Values exp2(ir::Builder& builder, const Values& x);
Values expm1(ir::Builder& builder, const Values& x);
Values log1p(ir::Builder& builder, const Values& x);
Values log(ir::Builder& builder, const Values& x);
Values log2(ir::Builder& builder, const Values& x);
Values log10(ir::Builder& builder, const Values& x);
Values sin(ir::Builder& builder, const Values& x);
Values cos(ir::Builder& builder, const Values& x);
Values tan(ir::Builder& builder, const Values& x);
Values sinh(ir::Builder& builder, const Values& x);
Values cosh(ir::Builder& builder, const Values& x);
Values tanh(ir::Builder& builder, const Values& x);
Values arcsin(ir::Builder& builder, const Values& x);
Values arccos(ir::Builder& builder, const Values& x);
Values arctan(ir::Builder& builder, const Values& x);
Values arcsinh(ir::Builder& builder, const Values& x);
Values arccosh(ir::Builder& builder, const Values& x);
Values arctanh(ir::Builder& builder, const Values& x);

// Converts the operands to bools and applies `op`.
template <ir::Op op>
Values logical(ir::Builder& builder, const Values& x) {
  Values bools;
  for (const ir::Value& value : x) bools.push_back(builder.convert(DType::boolean, value));
  return {builder.apply(op, bools)};
}

// Compares int64 with uint64 by their values.
Values compare_mixed(ir::Builder& builder, ir::Op op, const Values& x);

// Compares complex numbers in NumPy's order: by the real part, then by the imaginary one.
template <ir::Op op>
Values compare(ir::Builder& builder, const Values& x) {
  if (x[0].type != x[1].type) return compare_mixed(builder, op, x);
  if (op == ir::Op::equal || op == ir::Op::not_equal) return direct<op>(builder, x);
  if (!is_complex(x[0].type)) return {builder.apply(op, x)};
  const ir::Value ar = builder.apply(ir::Op::real, {x[0]});
  const ir::Value br = builder.apply(ir::Op::real, {x[1]});
  const ir::Value ai = builder.apply(ir::Op::imag, {x[0]});
  const ir::Value bi = builder.apply(ir::Op::imag, {x[1]});
  constexpr bool kLess = op == ir::Op::less || op == ir::Op::less_equal;
  // A NaN in an imaginary part makes every comparison false.
  const ir::Value ordered = builder.apply(
      ir::Op::logical_and,
      {builder.apply(ir::Op::equal, {ai, ai}), builder.apply(ir::Op::equal, {bi, bi})});
  const ir::Value by_real =
      builder.apply(ir::Op::logical_and,
                    {builder.apply(kLess ? ir::Op::less : ir::Op::greater, {ar, br}), ordered});
  const ir::Value by_imag = builder.apply(
      ir::Op::logical_and, {builder.apply(ir::Op::equal, {ar, br}), builder.apply(op, {ai, bi})});
  return {builder.apply(ir::Op::logical_or, {by_real, by_imag})};
}

// Computes minimum and maximum (the first NaN is the result), fmin and fmax (NaN is skipped) of
// complex numbers.
template <ir::Op op>
Values extreme(ir::Builder& builder, const Values& x) {
  if (!is_complex(x[0].type)) return {builder.apply(op, x)};
  constexpr bool kMaximum = op == ir::Op::maximum || op == ir::Op::fmax;
  constexpr bool kSkipsNan = op == ir::Op::fmin || op == ir::Op::fmax;
  const ir::Value first = kMaximum ? compare<ir::Op::greater_equal>(builder, x)[0]
                                   : compare<ir::Op::less_equal>(builder, x)[0];
  const ir::Value nan = builder.apply(ir::Op::is_nan, {x[kSkipsNan ? 1 : 0]});
  return {builder.select(builder.apply(ir::Op::logical_or, {first, nan}), x[0], x[1])};
}

}  // namespace arraycore::ops
