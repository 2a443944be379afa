// Special functions that the C library lacks or computes with global state, in double precision.
// Pure; any thread. The relative error is below 1e-14 unless a comment says otherwise.
#pragma once

namespace arraycore::ir::special {

double erfinv(double y);   // erf(erfinv(y)) = y; +-1 gives +-infinity, and a y outside [-1, 1] NaN
double erfcinv(double y);  // erfc(erfcinv(y)) = y; 0 gives infinity, 2 gives -infinity, and a y
                           // outside [0, 2] NaN
double erfcx(double x);    // exp(x * x) * erfc(x)
double lgamma(double x);   // log |gamma(x)|; infinity at 0 and negative integers
double tgamma(double x);   // C's: +-infinity at +-0, NaN at negative integers
double digamma(double x);  // missing in C++ libraries; NaN at negative integers, -+infinity at +-0
double ndtr(double x);     // the normal distribution function
double ndtri(double y);    // its inverse

}  // namespace arraycore::ir::special
