// The kernels of the softmax cross entropy: each row's logarithm of the sum of exponentials in one
// pass, the loss over all rows, and its gradient. Pure; any thread.
//
// Scores are (images, classes, space...), labels (images, space...). Everything is computed in
// float32, in float64 where the scores are. Parts of a row are combined as (largest, sum of
// exponentials less the largest): M. Milakov, N. Gimelshein, "Online normalizer calculation for
// softmax" (2018), so that no exponential overflows.
#pragma once

#include "dtype/dtype.h"
#include "ir/ir.h"

namespace arraycore::ops {

// What the values are computed in; lse and coeff have this dtype.
DType loss_dtype(DType scores);

// A reduction over the classes. Parameters: x, lse.
ir::Kernel make_log_sum_exp_kernel(DType scores);

// A reduction over all labels. Parameters: t, lse, x (raw), classes and inner (int32: how many
// elements a class has), ignore (a label that does not count), fixed (the coefficient, or a
// negative number: 1 over how many labels count), loss = coeff * sum of (lse - x[t]), coeff.
ir::Kernel make_cross_entropy_kernel(DType scores, DType labels);

// Parameters: x, lse, t, gloss, coeff, ignore, gx = (exp(x - lse) - (class is t)) * gloss * coeff;
// the loop's axis 1 is the classes.
ir::Kernel make_cross_entropy_gradient_kernel(DType scores, DType labels);

}  // namespace arraycore::ops
