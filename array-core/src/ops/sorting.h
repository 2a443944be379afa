// Kernels that sort rows on a device. Each element becomes an integer key with NumPy's order (NaN
// last, both zeros equal). Batcher's merge exchange sorts the keys together with the positions that
// they came from, and the elements are gathered by these positions. Equal keys keep their order, so
// the sort is stable. Pure; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "dtype/dtype.h"
#include "ir/ir.h"

namespace arraycore::ops {

// Returns the dtype of keys: int32, or int64 for 64-bit elements. REQUIRES: on_gpu(dtype).
DType sort_key(DType dtype);

// Makes the kernel that computes keys. Parameters: source (in), keys (out), places (out; int32
// positions along axis 1). REQUIRES: on_gpu(dtype).
ir::Kernel encode_kernel(DType dtype);

// Makes the kernel of one step of the sort, over a loop of rows x (length - distance). Parameters:
// keys and places (raw, changed in place), then bit, wanted, distance and the rows' length as int32
// scalars. `key` is int32 or int64.
ir::Kernel exchange_kernel(DType key);

// Makes a kernel. Parameters: source (raw, two axes), places (in), target (out), which becomes
// target[r, i] = source[r, places[r, i]].
ir::Kernel gather_kernel(DType dtype);

// A step compares element i with element i + distance where (i & bit) == wanted.
struct ExchangeStep {
  std::int32_t bit = 0;
  std::int32_t wanted = 0;
  std::int32_t distance = 0;
};

// Returns the steps of algorithm M in Knuth, "The Art of Computer Programming" 3, 5.2.2 (Batcher
// 1968). It sorts rows of any length in t (t + 1) / 2 steps, where 2^t is the smallest power of two
// that is not less than the length.
std::vector<ExchangeStep> exchange_steps(std::int32_t length);

}  // namespace arraycore::ops
