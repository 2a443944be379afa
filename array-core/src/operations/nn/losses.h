// Computes the softmax cross entropy of arrays in two launches, and its gradient in one. Python's
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
  Array lse;    // one for each label: the logarithm of the sum of exp(score) over the classes
  Array coeff;  // no dimensions: the factor by which the summed losses are multiplied
};

class Losses {
 public:
  explicit Losses(Launcher& launcher) : launcher_(launcher) {}

  // Returns the loss. `x` has the scores (images, classes, space...), `t` the labels (images,
  // space...). Labels equal to `ignore` do not count. With `normalize` the loss is the mean over
  // the labels that count, otherwise the sum divided by the number of images. Errors of both
  // functions: value, "loss_shapes"; not_implemented, "loss_dtype" (scores are float16, float32 or
  // float64, labels signed integers).
  Result<CrossEntropy> cross_entropy(const Array& x, const Array& t, std::int64_t ignore,
                                     bool normalize);
  // Returns the gradient of the scores. `gloss` is the gradient of the loss.
  Result<Array> gradient(const Array& gloss, const Array& x, const Array& t, const Array& lse,
                         const Array& coeff, std::int64_t ignore);

 private:
  enum class Which : std::uint8_t { log_sum_exp, cross_entropy, gradient };
  Result<KernelRef> kernel(Which which, DType scores, DType labels);

  Launcher& launcher_;
  std::map<std::array<std::size_t, 3>, KernelRef> kernels_;
};

}  // namespace arraycore
