// New arrays as ac_call makes them: unset, or of random numbers. Python's thread only.
//
// AC_CALL_EMPTY: dtype, then the shape, a count and 64-bit integers. Gives the id of a new array
// whose elements are undefined. Errors: those of ac_create.
//
// AC_CALL_RANDOM: the distribution (ops/random.h's number), dtype, the key's two words, the
// counter's four, a and b (two words each: a double of a floating distribution, else 64 bits), the
// id of the array that is taken, or 0, and the shape. Gives the new array's id.
//
// Errors: value, "loop_too_long", "shapes_do_not_broadcast".
#pragma once

#include "abi/calls/calls.h"
