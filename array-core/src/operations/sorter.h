// Sorts along an axis where the array is: on a device with the kernels of ops/sorting.h, on the CPU
// with the standard library. Python's thread only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "runtime/array_table.h"
#include "runtime/launcher.h"

namespace arraycore {

enum class SortResult : std::uint8_t { elements = 0, places = 1 };

class Sorter {
 public:
  Sorter(Launcher& launcher, Counters& counters) : launcher_(launcher), counters_(counters) {}

  // Returns a new array of the same shape: the elements in ascending order along `axis`, or their
  // old positions (int64). The order is stable; NaN is last. Errors: those of allocate; value,
  // "axis_out_of_bounds", "loop_too_long".
  Result<Array> sorted(const Array& array, std::int64_t axis, SortResult result);

 private:
  Result<Array> on_device(const Array& rows, SortResult result);
  Result<Array> on_cpu(const Array& rows, SortResult result);
  Status exchange(const Array& keys, const Array& places);
  using Kernels = std::array<std::optional<KernelRef>, kDTypes>;
  Result<KernelRef> kernel(Kernels& kernels, DType dtype, ir::Kernel (*make)(DType));

  Launcher& launcher_;
  Counters& counters_;
  Kernels encode_;
  Kernels exchange_;
  Kernels gather_;
};

}  // namespace arraycore
