// Batch normalization as ac_call takes it. Python's thread only.
//
//   BATCH_NORM           x, gamma, beta (ids); running mean and variance (ids, or 0 and 0); axes (a
//                        count, then 64-bit integers); eps, decay (doubles). Returns y's id; mean
//                        and inv_std are further results (AC_CALL_KERNEL_RESULT).
//   BATCH_NORM_GRADIENT  gy, x, gamma, mean, inv_std (ids); axes. Returns gx's id; ggamma and gbeta
//                        are further results.
//
// Errors: those of operations/nn/normalization.h.
#pragma once
