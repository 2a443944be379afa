// Convolutions and dense layers as ac_call takes them. Python's thread only.
//
//   CONV   what (0 forward, 1 the data's gradient, 2 the weights'), array, array, bias or 0, scale
//          and shift or 0 and 0, activation (one word each: Activation of runtime/stage_kernels.h);
//          stride, padding before, padding after, dilation (each a count, then 64-bit integers);
//          groups (a 64-bit integer); for a gradient the extents of space that it is to have
//          (a count, then 64-bit integers), else a count of 0. The arrays are data and weights, the
//          result's gradient and weights, or data and the result's gradient; the dtype is the one
//          that they meet in as those of a ufunc. Bias, scale, shift and activation are of the
//          forward form alone, the others ignore them. Gives the new array's id.
//   DENSE  array, array, bias or 0, activation (one word each): activation(data weights' + bias) of
//          matrices. Gives the new array's id.
//
// Errors: not_implemented, "conv_dtype"; value, "conv_shapes", "conv_geometry".
#pragma once
