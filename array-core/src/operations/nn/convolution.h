// Convolutions of arrays, forward and both gradients: each is one product of matrices, or several,
// of which one operand is read through a window (gemm/window.h). Decides the products; the back end
// computes them. Touched by Python's thread only.
//
// Data are (images, channels, space...), weights (results, channels of a group, window...), with
// one to three axes of space. A result's channel sees the channels of its group alone.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "runtime/launcher.h"
#include "runtime/stage_kernels.h"

namespace arraycore {

// Of each axis of space. `pad_before` and `pad_after` count the zeros around the data.
struct ConvolutionGeometry {
  Dims stride;
  Dims pad_before;
  Dims pad_after;
  Dims dilation;
  std::int64_t groups = 1;
};

// What is done on the way, in the same launch. Null: nothing.
struct ConvolutionExtras {
  const Array* scale = nullptr;  // of each of the data's channels; both or none
  const Array* shift = nullptr;
  const Array* bias = nullptr;  // of each of the result's
  Activation activation = Activation::none;

  bool any() const { return scale != nullptr || bias != nullptr || activation != Activation::none; }
};

class Convolutions {
 public:
  explicit Convolutions(Launcher& launcher) : launcher_(launcher), kernels_(launcher) {}

  // Error: not_implemented, "conv_dtype" (float16, float32 and float64 are computed); value,
  // "conv_shapes", "conv_geometry".
  // Extras have the operands' dtype.
  Result<Array> forward(const Array& data, const Array& weights, const ConvolutionGeometry& how,
                        const ConvolutionExtras& extras = {});
  // activation(data weights' + bias) of matrices (rows, terms) and (columns, terms); the bias has
  // one element a column. Error: as forward.
  Result<Array> dense(const Array& data, const Array& weights, const Array* bias,
                      Activation activation);
  // The sum over the result's gradient that each element of the data is to get; `space` is the
  // data's. REQUIRES of all three: one dtype in all operands.
  Result<Array> data_gradient(const Array& gradient, const Array& weights, const Dims& space,
                              const ConvolutionGeometry& how);
  // The same of the weights; `window` is theirs.
  Result<Array> weight_gradient(const Array& data, const Array& gradient, const Dims& window,
                                const ConvolutionGeometry& how);

 private:
  // Sizes that fit each other.
  struct Sizes {
    std::int64_t images = 0;
    std::int64_t in_channels = 0;   // of a group
    std::int64_t out_channels = 0;  // of a group
    Dims space;                     // the extents of the data
    Dims window;                    // the extents of the weights
    Dims out_space;                 // the extents of the result

    int axes() const { return space.size(); }
    bool is_pointwise(const ConvolutionGeometry& how) const;
    Dims out_shape(const ConvolutionGeometry& how) const;
  };
  Result<Sizes> sizes(const Dims& data, const Dims& weights, const ConvolutionGeometry& how) const;
  Status run_forward(const Array& data, const Array& weights, const Array& out, const Sizes& sizes,
                     const ConvolutionGeometry& how, const ConvolutionExtras& extras);
  Result<ProductStages> stages_of(DType dtype, const ConvolutionExtras& extras);
  Status fill_with_epilogue(const Array& out, const ConvolutionExtras& extras);
  Status run_data(const Array& gradient, const Array& weights, const Array& out, const Sizes& sizes,
                  const ConvolutionGeometry& how);
  Status run_weights(const Array& data, const Array& gradient, const Array& out, const Sizes& sizes,
                     const ConvolutionGeometry& how);
  // The data's elements of one phase: those whose places leave the same rest by the strides.
  Status run_phase(const Array& gradient, const Array& weights, const Array& out,
                   const Sizes& sizes, const ConvolutionGeometry& how, const Dims& phase);
  // An operand whose elements of space follow each other.
  Result<Array> in_a_row(const Array& array);
  Result<Array> widened(const Array& array);

  Launcher& launcher_;
  StageKernels kernels_;
};

}  // namespace arraycore
