// Convolutions and dense layers as ac_call takes them. Python's thread only.
//
//   CONV   operation (0 forward, 1 the data's gradient, 2 the weights'), array, array, bias or 0,
//          scale and shift or 0 and 0, activation (one word each; the activation is one of
//          runtime/stage_kernels.h); stride, padding before, padding after, dilation (each a count,
//          then 64-bit integers); groups (a 64-bit integer); for a gradient the extents of space of
//          the result (a count, then 64-bit integers), otherwise a count of 0. The arrays are data
//          and weights; or the result's gradient and weights; or data and the result's gradient.
//          The dtype is their common one, as for a ufunc. Bias, scale, shift and activation belong
//          to the forward operation; the others ignore them. Returns the new array's id.
//   DENSE  array, array, bias or 0, activation (one word each): activation(data weights' + bias) of
//          matrices. Returns the new array's id.
//
// Errors: not_implemented, "conv_dtype"; value, "conv_shapes", "conv_geometry".
#pragma once
