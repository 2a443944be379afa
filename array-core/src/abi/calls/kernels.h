// The texts of users' kernels and the words of their calls. Touched by Python's thread only.
//
// ac_kernel's texts, in order:
//   AC_KERNEL_ELEMENTWISE: name, in_params, out_params, operation, preamble, loop_prep, after_loop
//   AC_KERNEL_REDUCTION: name, in_params, out_params, map_expr, reduce_expr, post_map_expr,
//     identity, reduce_type, preamble
//   AC_KERNEL_RAW: name (of the entry point), code
// The same texts return the same number.
//
// An argument is -1 and an array's id; or -2 and the id of an array that is a copy of the caller's
// memory, so that a kernel must not write it; or a scalar's words (ufuncs.h).
//
// AC_CALL_KERNEL: the kernel; then
//   for an elementwise one: 1 and the loop's size (two words), or 0;
//   for a reduction: keepdims (0 or 1); 1 and the axes (a count, two words each), or 0 for all;
//   then the number of inputs, and an argument for each; the number of outputs (all or 0), and an
//   id for each.
// Returns the first new output's id, or 0 where none was made.
//
// AC_CALL_KERNEL_RESULT: a number from 1 on. Returns the id of a further output of the last call
// with several outputs (AC_CALL_KERNEL, and those of normalization.h and losses.h). Outputs that
// are not fetched before the next such call are freed.
//
// AC_CALL_RAW_KERNEL: the kernel; workgroups along x, y, z; -1, or the number of words of the
// uniform block and the words; the number of arguments, and each argument. Arrays are in the order
// of the text's bindings, numbers in the order of the uniform block. Returns 0.
#pragma once
