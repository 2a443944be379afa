// Indexing by arrays and masks as ac_call takes it: AC_CALL_KEY_READ to AC_CALL_WRITE_WHERE.
// Python's thread only.
//
// Words of each call, in order; `key` goes to the end of the words.
//
//   KEY_READ     array (one word), key: gives the id of `array[key]`, a copy
//   KEY_WRITE    target, source (one word each), key: `target[key] = source`. Gives 0
//   KEY_FILL     target (one word), scalar, key: `target[key] = scalar`. Gives 0
//   KEY_UPDATE   target, ufunc, cast (one word each), value, key: `ufunc.at(target, key, value)`;
//                cast 1: the value takes the target's dtype. Gives 0
//   NONZERO      array (one word): gives the id of the coordinates of the elements that are not 0,
//                int64, a row each
//   SELECT       condition (one word), value, value: gives the id of `where(condition, x, y)`
//   WRITE_WHERE  target, mask (one word each), value: `target[mask] = value[mask]`, both broadcast
//                to the target. Gives 0
//
// A value is -1 and an array's id, or a scalar as in ufuncs.h; -2 where a ufunc takes none.
//
// An item of a key is an item of views.h, or
//   32, an array's id: integers, which the back end checks or wraps
//   (operations/indexing/index_call.h) 33, an array's id: integers that the host has checked, none
//   of them negative 34, an array's id: a mask 35, an array's id, the number of axes, their extents
//   (an int64 of two words each): the int32
//     C-order numbers of a mask's true elements
//   36, 37, an array's id, a number of axes: as 32 and 33, each index the C-order number of an
//     element of so many axes
//   38, an array's id, an index (an int64 of two words): as 33, but for that one, which is out of
//     bounds
//
// Errors: those of IndexCalls; of KEY_FILL and WRITE_WHERE also those of FILL (copies.h); of
// KEY_UPDATE type, "no_loop"; of keys index, "index_dtype".
#pragma once
