// The kernels of pooling over windows with one to three spatial axes, and of its gradients. They
// only gather: each element reads the elements from which it is computed. Pure; any thread.
//
// Data are (planes..., depth, height, width) in C order; missing axes have one element. A window's
// positions are numbered in C order, and those outside the data do not count. Each kernel's first
// parameters are raw arrays. Then come, for each of the three axes, kPoolNumbers int32 scalars: the
// extents of the data, the result and the window, the window's stride, and the padding in front.
#pragma once

#include "dtype/dtype.h"
#include "ir/ir.h"

namespace arraycore::ops {

inline constexpr int kPoolAxes = 3;
inline constexpr int kPoolNumbers = 5;

// Returns the dtype of sums: float32 for float16.
DType pooled_in(DType dtype);

// Makes the kernel of the largest elements. Parameters: x (raw), numbers, y = the largest, places
// (int32) = the first position that holds it. y is NaN if an element is NaN, and -infinity if a
// window has no element of the data.
ir::Kernel make_max_pool_kernel(DType dtype);
// Makes a kernel. Parameters: gy, places (raw), numbers, gx = the sum of gy over the windows in
// which the element was the largest.
ir::Kernel make_max_pool_gradient_kernel(DType dtype);
// Makes a kernel. Parameters: x (raw), numbers, share (of the dtype pooled_in()), y = the sum of
// the window's elements times share.
ir::Kernel make_mean_pool_kernel(DType dtype);
// Makes a kernel. Parameters: gy (raw), numbers, share, gx = share times the sum of gy over the
// windows that contain the element.
ir::Kernel make_mean_pool_gradient_kernel(DType dtype);

}  // namespace arraycore::ops
