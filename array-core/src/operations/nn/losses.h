// The softmax cross entropy of arrays in two launches, and its gradient in one. Touched by Python's
// thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

#include "base/result.h"
#include "runtime/launcher.h"

namespace arraycore {

struct CrossEntropy {
  Array loss;   // no dimensions, the scores' dtype
  Array lse;    // the labels' shape: for each, the logarithm of the sum of the exponentials of its
                // scores
  Array coeff;  // no dimensions: the factor of the sum
};

class Losses {
 public:
  explicit Losses(Launcher& launcher) : launcher_(launcher) {}

  // `x` are scores (images, classes, space...), `t` labels (images, space...); labels equal to
  // `ignore` do not count. The loss is the mean over those that count (`normalize`), or the sum
  // divided by the number of images. Errors of both: value, "loss_shapes"; not_implemented,
  // "loss_dtype" (scores of float16, float32 and float64, labels of signed integers).
  Result<CrossEntropy> cross_entropy(const Array& x, const Array& t, std::int64_t ignore,
                                     bool normalize);
  // Returns the gradient of the scores; `gloss` is that of the loss.
  Result<Array> gradient(const Array& gloss, const Array& x, const Array& t, const Array& lse,
                         const Array& coeff, std::int64_t ignore);

 private:
  enum class Which : std::uint8_t { log_sum_exp, cross_entropy, gradient };
  Result<KernelRef> kernel(Which which, DType scores, DType labels);

  Launcher& launcher_;
  std::map<std::array<std::size_t, 3>, KernelRef> kernels_;
};

}  // namespace arraycore
