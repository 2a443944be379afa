// Convolutions of arrays, forward and both gradients. Each is one product of matrices, or several,
// and reads one operand through a window (gemm/window.h). This class decides the products, and the
// back end computes them. Used by Python's thread only.
//
// Data are (images, in_channels, space...), weights (out_channels, in_channels of a group,
// window...), with one to three spatial axes. An output channel depends on the channels of its
// group only.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "runtime/launcher.h"
#include "runtime/stage_kernels.h"

namespace arraycore {

// The geometry of a convolution; each Dims has one number for each spatial axis. `pad_before` and
// `pad_after` count the zeros around the data.
struct ConvolutionGeometry {
  Dims stride;
  Dims pad_before;
  Dims pad_after;
  Dims dilation;
  std::int64_t groups = 1;
};

// Additional steps in the same launch: data * scale + shift before the sum; bias and activation
// after it. A null pointer leaves the step out.
struct ConvolutionExtras {
  const Array* scale = nullptr;  // for each input channel; set together with shift
  const Array* shift = nullptr;
  const Array* bias = nullptr;  // for each output channel
  Activation activation = Activation::none;

  bool any() const { return scale != nullptr || bias != nullptr || activation != Activation::none; }
};

class Convolutions {
 public:
  explicit Convolutions(Launcher& launcher) : launcher_(launcher), kernels_(launcher) {}

  // Returns the convolution. The arrays of `extras` have the operands' dtype. Errors:
  // not_implemented, "conv_dtype" for any dtype but float16, float32 and float64; value,
  // "conv_shapes", "conv_geometry".
  Result<Array> forward(const Array& data, const Array& weights, const ConvolutionGeometry& how,
                        const ConvolutionExtras& extras = {});
  // Returns activation(data x transposed weights + bias). `data` is a matrix (rows, terms),
  // `weights` a matrix (columns, terms), and the bias has one element for each column. Errors:
  // those of forward().
  Result<Array> dense(const Array& data, const Array& weights, const Array* bias,
                      Activation activation);
  // Returns the gradient of the data from that of the result. `space` has the extents of the data's
  // spatial axes. REQUIRES, for all these functions: all operands have one dtype.
  Result<Array> data_gradient(const Array& gradient, const Array& weights, const Dims& space,
                              const ConvolutionGeometry& how);
  // Returns the gradient of the weights. `window` has the extents of the weights' spatial axes.
  Result<Array> weight_gradient(const Array& data, const Array& gradient, const Dims& window,
                                const ConvolutionGeometry& how);

 private:
  // The sizes of data, weights and result, after they were checked.
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
  // Computes the elements of `out` (the data's gradient) of one phase: those whose positions have
  // the same remainder modulo the strides.
  Status run_phase(const Array& gradient, const Array& weights, const Array& out,
                   const Sizes& sizes, const ConvolutionGeometry& how, const Dims& phase);
  // Returns the array, or a copy if its elements along the spatial axes are not consecutive.
  Result<Array> in_a_row(const Array& array);
  Result<Array> widened(const Array& array);

  Launcher& launcher_;
  StageKernels kernels_;
};

}  // namespace arraycore
