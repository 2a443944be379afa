// The kernels of pooling over windows of one to three axes of space, and of its gradients, as
// gathers: each element looks for what it is made of. Pure; any thread.
//
// Data are (planes..., depth, height, width) in C order; axes that are missing have one element. A
// window's places are numbered in C order, and those beyond the edge do not count. Each kernel's
// first parameters are raw arrays; then come, for each of the three axes, kPoolNumbers int32
// scalars: the data's extent, the result's, the window's, its stride and the padding before.
#pragma once

#include "dtype/dtype.h"
#include "ir/ir.h"

namespace arraycore::ops {

inline constexpr int kPoolAxes = 3;
inline constexpr int kPoolNumbers = 5;

// Sums of float16 are of float32.
DType pooled_in(DType dtype);

// Parameters: x (raw), numbers, y = the largest, places (int32) = the first that holds it. NaN
// where one is NaN; -infinity where a window lies beyond the edge.
ir::Kernel make_max_pool_kernel(DType dtype);
// Parameters: gy, places (raw), numbers, gx = the sum of gy where the element was the largest.
ir::Kernel make_max_pool_gradient_kernel(DType dtype);
// Parameters: x (raw), numbers, share (a scalar of pooled_in()), y = the sum times share.
ir::Kernel make_mean_pool_kernel(DType dtype);
// Parameters: gy (raw), numbers, share, gx = the sum of gy whose window has the element, times
// share.
ir::Kernel make_mean_pool_gradient_kernel(DType dtype);

}  // namespace arraycore::ops
