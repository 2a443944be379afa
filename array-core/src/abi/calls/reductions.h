// The words of reductions and running totals. Touched by Python's thread only.
//
// AC_CALL_REDUCE: 0 and a reduction's number, or 1 and a ufunc's; the array's id; dtype + 1, or 0;
// 1 to keep the reduced axes; 0 for all axes, or 1 and which (a count, 64-bit integers); the id of
// `out`, or 0; the id of `where`, or 0; ddof (a double); 0 to begin
// with the identity, 1 and the number to begin with as a scalar of calls/ufuncs.h, or 2 to begin
// with the first element. Gives the result's id, or 0 where it went to `out`.
// AC_CALL_ACCUMULATE: a ufunc's number; 1 to take NaN for the identity; the array's id; the axis
// (a 64-bit integer); dtype + 1, or 0; the id of `out`, or 0. Gives as AC_CALL_REDUCE.
// AC_CALL_REDUCTION_NUMBER: a reduction's name, one character a word. Gives its number.
// AC_CALL_REDUCTION_TOLERANCE: a reduction's number; elements of a row (a 64-bit integer); 1
// for complex ones. Gives
// the bits of a float32: units in the last place (ops/reductions.h, Growth).
#pragma once
