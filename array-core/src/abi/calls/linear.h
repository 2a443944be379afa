// Products of matrices as ac_call takes them. Python's thread only.
//
//   MATMUL   array, array, out or 0, form (one word each): the product of matrices in the last two
//            axes, dtypes and shapes as NumPy's matmul (form 0), or as NumPy's dot of arrays of 1
//            or 2 dimensions (form 1), which differs in the errors' words and takes an `out` of the
//            result's very dtype and shape only. Gives the new array's id, 0 where it went to
//            `out`.
//   TUNE_MATMUL   a tile's number + 1 or 0, prefetch, wrong (one word each): which of the device's
//            kernels are taken from now on (gemm::Tuning), for benchmarks and tests. Gives how many
//            were found wrong so far and are taken no more.
//
// Errors: value, "matmul_shapes", "shapes_do_not_broadcast", "out_shape", "read_only"; type,
// "cannot_cast".
#pragma once
