// Pooling of arrays over windows with one to three spatial axes, and its gradients, in one launch
// each. Used by Python's thread only.
//
// Data are (planes..., *space). The positions in a window are numbered in C order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/result.h"
#include "runtime/launcher.h"

namespace arraycore {

// The windows of pooling. Each Dims has one number for each spatial axis.
struct PoolGeometry {
  Dims window;
  Dims stride;
  Dims pad_before;
  Dims pad_after;  // only the extents of the result depend on it
};

struct Pooled {
  Array y;
  Array places;  // int32: the position, within the window, of the first largest element
};

class Pooling {
 public:
  explicit Pooling(Launcher& launcher) : launcher_(launcher) {}

  // Returns the largest element of each window. Errors of all functions: not_implemented,
  // "pool_dtype" (float16, float32 and float64 are computed; places are int32); value,
  // "pool_shapes", "pool_geometry".
  Result<Pooled> largest(const Array& x, const PoolGeometry& how);
  Result<Array> largest_gradient(const Array& gy, const Array& places, const Dims& space,
                                 const PoolGeometry& how);
  // Returns the sum of each window divided by its number of positions. Positions outside the data
  // count as 0.
  Result<Array> mean(const Array& x, const PoolGeometry& how);
  Result<Array> mean_gradient(const Array& gy, const Dims& space, const PoolGeometry& how);

 private:
  enum class Which : std::uint8_t { largest, largest_gradient, mean, mean_gradient };
  struct Sizes {
    Dims planes;
    Dims space;
    Dims places;  // the extents of the result
  };
  Result<KernelRef> kernel(Which which, DType dtype);
  Result<Sizes> sizes(const Array& array, const Dims& space, const PoolGeometry& how) const;
  Result<Sizes> sizes_of_data(const Array& x, const PoolGeometry& how) const;
  Result<Sizes> sizes_of_gradient(const Array& gy, const Dims& space,
                                  const PoolGeometry& how) const;
  Result<Array> summed(Which which, const Array& from, const Dims& shape, const Sizes& sizes,
                       const PoolGeometry& how);
  static std::vector<Operand> numbers(const Sizes& sizes, const PoolGeometry& how);
  static Operand share(DType dtype, const PoolGeometry& how);

  Launcher& launcher_;
  std::map<std::array<std::size_t, 2>, KernelRef> kernels_;  // by kind and dtype
};

}  // namespace arraycore
