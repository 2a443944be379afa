// Losses as ac_call takes them. Python's thread only.
//
//   CROSS_ENTROPY           scores, labels (ids); the label that does not count (a 64-bit integer);
//                           normalize (0 or 1). Returns the loss's id; lse and coeff are further
//                           results (AC_CALL_KERNEL_RESULT).
//   CROSS_ENTROPY_GRADIENT  gloss, scores, labels, lse, coeff (ids); the label that does not count.
//                           Returns the gradient's id.
//
// Errors: those of operations/nn/losses.h.
#pragma once
