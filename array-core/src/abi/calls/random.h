// New arrays as ac_call makes them: unset, or of random numbers. Python's thread only.
//
// AC_CALL_EMPTY: the dtype, then the shape, a count and 64-bit integers. Returns the id of a new
// array with undefined elements. Errors: those of ac_create.
//
// AC_CALL_RANDOM: the distribution (a number of ops/random.h), the dtype, the key's two words, the
// counter's four, a and b (two words each: a double for a floating distribution, otherwise 64
// bits), the id of the array parameter or 0, and the shape. Returns the new array's id.
//
// Errors: value, "loop_too_long", "shapes_do_not_broadcast".
#pragma once

#include "abi/calls/calls.h"
