// The kernels of the softmax cross entropy: each row's logarithm of the sum of exponentials in one
// pass, the loss over all rows, and its gradient. Pure; any thread.
//
// Scores are (images, classes, space...), labels (images, space...). Everything is computed in
// float32, or in float64 where the scores are float64. Parts of a row are combined as pairs
// (largest, sum of exp(x - largest)), so that no exponential overflows: M. Milakov, N. Gimelshein,
// "Online normalizer calculation for softmax" (2018).
#pragma once

#include "dtype/dtype.h"
#include "ir/ir.h"

namespace arraycore::ops {

// Returns the dtype in which values are computed; lse and coeff have it too.
DType loss_dtype(DType scores);

// Makes a reduction over the classes. Parameters: x (scores), lse (the result).
ir::Kernel make_log_sum_exp_kernel(DType scores);

// Makes a reduction over all labels. Parameters: t, lse, x (raw), classes and inner (int32; `inner`
// is the number of elements of a class), ignore (a label that does not count), fixed (the
// coefficient; if it is negative, 1 / the number of labels that count), loss = coeff * sum of (lse
// - x[t]), coeff.
ir::Kernel make_cross_entropy_kernel(DType scores, DType labels);

// Makes the gradient's kernel. Parameters: x, lse, t, gloss, coeff, ignore, gx = (exp(x - lse) -
// (class is t)) * gloss * coeff. Axis 1 of the loop is the classes.
ir::Kernel make_cross_entropy_gradient_kernel(DType scores, DType labels);

}  // namespace arraycore::ops
