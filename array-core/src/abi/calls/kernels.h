// The texts of users' kernels and the words of their calls. Touched by Python's thread only.
//
// ac_kernel's texts, in order:
//   AC_KERNEL_ELEMENTWISE: name, in_params, out_params, operation, preamble, loop_prep, after_loop
//   AC_KERNEL_REDUCTION: name, in_params, out_params, map_expr, reduce_expr, post_map_expr,
//     identity, reduce_type, preamble
//   AC_KERNEL_RAW: name (the entry point's), code
// The same texts give the same number.
//
// An argument is -1 and an array's id; -2 and the id of an array that is a copy of the caller's
// memory, so that a kernel must not write it; or a scalar's words (calls/ufuncs.h).
//
// AC_CALL_KERNEL: the kernel;
//   elementwise: 1 and the loop's size (two words), or 0;
//   reduction: keepdims (0 or 1); 1 and the axes (a count, two words each), or 0 for all;
//   then how many inputs, an argument each; how many outputs (all or 0), an id each.
// Gives the first new output's id, 0 where none was made.
//
// AC_CALL_KERNEL_RESULT: which (from 1 on). Gives the id of a further output of the last call that
// made several (AC_CALL_KERNEL, those of calls/normalization.h and calls/losses.h); those not asked
// for until the next one are freed then.
//
// AC_CALL_RAW_KERNEL: the kernel; workgroups along x, y, z; -1, or how many words the uniform block
//   has and the words; how many arguments, each. Arrays in the order of the text's bindings;
//   numbers in that of the uniform block. Gives 0.
#pragma once
