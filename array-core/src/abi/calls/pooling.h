// Pooling as ac_call takes it. Python's thread only.
//
//   POOL  what (0 max, 1 its gradient, 2 mean, 3 its gradient), x or gy (id), places (id; 0 where
//         there are none); the window, its stride, the padding before and after, and of a gradient
//         the data's extents of space (each a count, then 64-bit integers). Gives the result's id;
//         of max the places are a further result (AC_CALL_KERNEL_RESULT).
//
// Errors: those of operations/nn/pooling.h.
#pragma once
