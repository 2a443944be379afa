// Kernels that sort rows on a device: each element becomes an integer key that orders as NumPy
// orders the elements (NaN last, both zeros alike), the keys are sorted together with the places
// that they came from by Batcher's merge exchange, and the elements are gathered by these places.
// Equal keys keep their order, so the sort is stable. Pure; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "dtype/dtype.h"
#include "ir/ir.h"

namespace arraycore::ops {

// int32, or int64 of 64-bit elements. REQUIRES: on_gpu(dtype).
DType sort_key(DType dtype);

// source (in), keys and places (out; int32, counted along axis 1). REQUIRES: on_gpu(dtype).
ir::Kernel encode_kernel(DType dtype);

// One step over a loop of rows x (length - distance): keys and places (raw, in place), then the
// step's numbers and the rows' length as int32 scalars. `key`: int32 or int64.
ir::Kernel exchange_kernel(DType key);

// source (raw, two axes), places (in), target (out): target[r, i] = source[r, places[r, i]].
ir::Kernel gather_kernel(DType dtype);

// Element i meets element i + distance where (i & bit) == wanted.
struct ExchangeStep {
  std::int32_t bit = 0;
  std::int32_t wanted = 0;
  std::int32_t distance = 0;
};

// Algorithm M of Knuth, "The Art of Computer Programming" 3, 5.2.2 (Batcher 1968): for any length,
// t (t + 1) / 2 steps for the t that 2^t reaches it by.
std::vector<ExchangeStep> exchange_steps(std::int32_t length);

}  // namespace arraycore::ops
