// Sorting as ac_call takes it. Python's thread only.
//
// AC_CALL_SORT: array, axis (two words; negative ones count from the end), 0 for the elements or 1
// for the positions (int64) that they come from. Returns the new array's id.
//
// Errors: value, "axis_out_of_bounds", "loop_too_long".
#pragma once

#include "abi/calls/calls.h"
