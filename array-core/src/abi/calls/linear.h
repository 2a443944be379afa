// Products of matrices as ac_call takes them. Python's thread only.
//
//   MATMUL   array, array, out or 0, form (one word each): the product of matrices in the last two
//            axes. Form 0 has the dtypes and shapes of NumPy's matmul. Form 1 is NumPy's dot of
//            arrays of 1 or 2 dimensions: its errors have other words, and its `out` must have
//            exactly the result's dtype and shape. Returns the new array's id, or 0 where the
//            result went to `out`.
//   TUNE_MATMUL   a tile's number + 1 or 0, prefetch, wrong (one word each): which of the device's
//            kernels are used from now on (gemm::Tuning), for benchmarks and tests. Returns how
//            many kernels were found wrong so far and are no longer used.
//
// Errors: value, "matmul_shapes", "shapes_do_not_broadcast", "out_shape", "read_only"; type,
// "cannot_cast".
#pragma once
