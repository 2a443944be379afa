// The words of reductions and running totals. Touched by Python's thread only.
//
// AC_CALL_REDUCE: 0 and a reduction's number, or 1 and a ufunc's; the array's id; dtype + 1, or 0;
// 1 to keep the reduced axes; 0 for all axes, or 1 and the axes (a count, 64-bit integers); the id
// of `out`, or 0; the id of `where`, or 0; ddof (a double); then the initial value: 0 for the
// identity, 1 and a scalar as in ufuncs.h, or 2 for the first element. Returns the result's id, or
// 0 where it went to `out`.
//
// AC_CALL_ACCUMULATE: a ufunc's number; 1 to treat NaN as the identity; the array's id; the axis (a
// 64-bit integer); dtype + 1, or 0; the id of `out`, or 0. Returns the same as AC_CALL_REDUCE.
//
// AC_CALL_REDUCTION_NUMBER: a reduction's name, one character in each word. Returns its number.
//
// AC_CALL_REDUCTION_TOLERANCE: a reduction's number; the elements of a row (a 64-bit integer); 1
// for complex elements. Returns the bits of a float32: units in the last place (ops/reductions.h,
// Growth).
#pragma once
