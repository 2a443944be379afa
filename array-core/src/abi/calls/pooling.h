// Pooling as ac_call takes it. Python's thread only.
//
//   POOL  operation (0 max, 1 its gradient, 2 mean, 3 its gradient), x or gy (id), places
//         (id, or 0); the window, its stride, the padding before and after, and for a gradient the
//         data's extents of space (each a count, then 64-bit integers). Returns the result's id.
//         For max, places is a further result (AC_CALL_KERNEL_RESULT).
//
// Errors: those of operations/nn/pooling.h.
#pragma once
