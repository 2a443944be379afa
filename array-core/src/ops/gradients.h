// The derivatives of the table's ufuncs: Gradients of ufunc.h, on real floating types. Where a
// function has a corner (absolute, maximum) the gradient is Chainer's choice: 0 at absolute's, the
// first operand's at a tie.
#pragma once

#include "ops/ufunc.h"

namespace arraycore::ops::gradient {

using ir::Builder;
using ir::Value;

#define AC_GRADIENT(name) Value name(Builder& b, const Values& x, Value y, Value g, int which)
AC_GRADIENT(add);
AC_GRADIENT(subtract);
AC_GRADIENT(multiply);
AC_GRADIENT(divide);
AC_GRADIENT(power);
AC_GRADIENT(negative);
AC_GRADIENT(positive);
AC_GRADIENT(absolute);
AC_GRADIENT(square);
AC_GRADIENT(sqrt);
AC_GRADIENT(cbrt);
AC_GRADIENT(reciprocal);
AC_GRADIENT(exp);
AC_GRADIENT(exp2);
AC_GRADIENT(expm1);
AC_GRADIENT(log);
AC_GRADIENT(log2);
AC_GRADIENT(log10);
AC_GRADIENT(log1p);
AC_GRADIENT(sin);
AC_GRADIENT(cos);
AC_GRADIENT(tan);
AC_GRADIENT(arcsin);
AC_GRADIENT(arccos);
AC_GRADIENT(arctan);
AC_GRADIENT(sinh);
AC_GRADIENT(cosh);
AC_GRADIENT(tanh);
AC_GRADIENT(arcsinh);
AC_GRADIENT(arccosh);
AC_GRADIENT(arctanh);
AC_GRADIENT(arctan2);
AC_GRADIENT(hypot);
AC_GRADIENT(maximum);
AC_GRADIENT(minimum);
AC_GRADIENT(degrees);
AC_GRADIENT(radians);
AC_GRADIENT(logaddexp);
AC_GRADIENT(logaddexp2);
AC_GRADIENT(erf);
AC_GRADIENT(erfc);
AC_GRADIENT(erfinv);
AC_GRADIENT(erfcinv);
AC_GRADIENT(erfcx);
AC_GRADIENT(ndtr);
AC_GRADIENT(ndtri);
AC_GRADIENT(gammaln);
AC_GRADIENT(gamma);
// floor, ceil, sign and their like: 0 almost everywhere.
AC_GRADIENT(flat);
#undef AC_GRADIENT

}  // namespace arraycore::ops::gradient
