// Batch normalization of arrays, forward and its gradient, in two launches each. The second launch
// is fused with the operations that read its result. Python's thread only.
//
// `axes` are the axes over which a channel's statistics are computed. Statistics and parameters
// have the shape of the other axes, the channels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "base/result.h"
#include "ops/normalization.h"
#include "runtime/launcher.h"

namespace arraycore {

struct RunningStatistics {
  const Array* mean = nullptr;
  const Array* variance = nullptr;
  // The new running value is old * decay + new * (1 - decay). The new variance is the unbiased one.
  double decay = 0;
};

struct Normalized {
  Array y;
  Array mean;
  Array inv_std;
};

struct NormalizationGradients {
  Array gx;
  Array ggamma;
  Array gbeta;
};

class Normalizations {
 public:
  explicit Normalizations(Launcher& launcher) : launcher_(launcher) {}

  // Returns the normalized data and the statistics. y has the data's dtype; mean and inv_std have
  // the common dtype of data and parameters. Errors of both functions: not_implemented,
  // "norm_dtype" (float16, float32 and float64 are computed); value, "norm_shapes",
  // "axis_out_of_bounds", "repeated_axis", "read_only".
  Result<Normalized> forward(const Array& x, const Array& gamma, const Array& beta,
                             const Dims& axes, double eps,
                             const std::optional<RunningStatistics>& running);
  // Returns the gradients of the data and of both parameters.
  Result<NormalizationGradients> gradient(const Array& gy, const Array& x, const Array& gamma,
                                          const Array& mean, const Array& inv_std,
                                          const Dims& axes);

 private:
  enum class Which : std::uint8_t { moments, normalize, sums, gradient };
  // The kind of kernel, the types, and the dtype of the running statistics (kDTypes without running
  // statistics).
  using Key = std::array<std::size_t, 5>;
  Result<KernelRef> kernel(Which which, const ops::NormalizationTypes& types,
                           std::optional<DType> running = std::nullopt);

  Launcher& launcher_;
  std::map<Key, KernelRef> kernels_;
};

}  // namespace arraycore
