// Indexing by arrays and masks as ac_call takes it: AC_CALL_KEY_READ to AC_CALL_WRITE_WHERE.
// Python's thread only.
//
// Words of each call, in order; `key` is the remaining words.
//
//   KEY_READ     array (one word), key: returns the id of `array[key]`, a copy
//   KEY_WRITE    target, source (one word each), key: `target[key] = source`. Returns 0
//   KEY_FILL     target (one word), scalar, key: `target[key] = scalar`. Returns 0
//   KEY_UPDATE   target, ufunc, cast (one word each), value, key: `ufunc.at(target, key, value)`;
//                cast 1: the value takes the target's dtype. Returns 0
//   NONZERO      array (one word): returns the id of the coordinates of the elements that
//                are not 0, int64, a row for each axis
//   SELECT       condition (one word), value, value: returns the id of `where(condition, x, y)`
//   WRITE_WHERE  target, mask (one word each), value: `target[mask] = value[mask]`, both broadcast
//                to the target. Returns 0
//
// A value is -1 and an array's id, or a scalar as in ufuncs.h; or -2 for a ufunc that takes none.
//
// An item of a key is an item of views.h, or one of these:
//
//   32, an array's id: integers, which the back end checks or wraps
//   33, an array's id: integers that the host has checked, none of them negative
//   34, an array's id: a mask
//   35, an array's id, the number of axes, their extents (an int64 of two words each): the int32
//       C-order numbers of a mask's true elements
//   36 or 37, an array's id, a number of axes: as 32 or 33, where each index is the C-order
//       number of an element of so many axes
//   38, an array's id, an index (an int64 of two words): as 33, except for that index, which is
//       out of bounds
//
// Errors: those of IndexCalls; for KEY_FILL and WRITE_WHERE also those of FILL (copies.h); for
// KEY_UPDATE type, "no_loop"; for keys index, "index_dtype".
#pragma once
