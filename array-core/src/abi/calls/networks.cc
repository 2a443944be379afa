// Operations of neural networks: convolutions, dense layers, normalization, pooling. Python's
// thread only.
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "abi/calls/functions.h"
#include "dtype/promotion.h"

namespace arraycore::calls {

namespace {

// Converts all arrays to the common dtype of the first two. The first two pointers must not be
// null; the others may be.
template <std::size_t count>
class Converted {
 public:
  Status take(Context& context, const std::array<const Array*, count>& arrays) {
    const std::array<DType, 2> dtypes{arrays[0]->dtype, arrays[1]->dtype};
    const DType dtype = result_type(context.promotion, dtypes, {});
    for (std::size_t i = 0; i < count; ++i) {
      arrays_[i] = arrays[i];
      if (arrays[i] == nullptr || arrays[i]->dtype == dtype) continue;
      TRY(auto& cast, context.launcher().copy(*arrays[i], dtype));
      casts_[i] = std::move(cast);
      arrays_[i] = &casts_[i];
    }
    return Done{};
  }
  const Array* operator[](std::size_t i) const { return arrays_[i]; }

 private:
  std::array<const Array*, count> arrays_{};
  std::array<Array, count> casts_;
};

}  // namespace

ConvolutionWords read_convolution(Words& words) {
  ConvolutionWords read;
  read.how.stride = words.dims();
  read.how.pad_before = words.dims();
  read.how.pad_after = words.dims();
  read.how.dilation = words.dims();
  read.how.groups = words.integer();
  read.space = words.dims();
  return read;
}

PoolingWords read_pooling(Words& words) {
  PoolingWords read;
  read.how.window = words.dims();
  read.how.stride = words.dims();
  read.how.pad_before = words.dims();
  read.how.pad_after = words.dims();
  read.space = words.dims();
  return read;
}

Result<Array> conv(Context& context, ConvolutionForm form, const Array& a, const Array& b,
                   const Array* bias, const Array* scale, const Array* shift, Activation activation,
                   const ConvolutionWords& geometry) {
  if ((scale == nullptr) != (shift == nullptr)) return bad_call();
  Converted<5> operands;
  TRY_DONE(operands.take(context, {&a, &b, bias, scale, shift}));
  Convolutions& convolutions = context.convolutions();
  const Array& first = *operands[0];
  const Array& second = *operands[1];
  switch (form) {
    case ConvolutionForm::forward:
      return convolutions.forward(first, second, geometry.how,
                                  {operands[3], operands[4], operands[2], activation});
    case ConvolutionForm::data_gradient:
      return convolutions.data_gradient(first, second, geometry.space, geometry.how);
    case ConvolutionForm::weight_gradient:
      break;
  }
  return convolutions.weight_gradient(first, second, geometry.space, geometry.how);
}

Result<Array> dense(Context& context, const Array& x, const Array& weights, const Array* bias,
                    Activation activation) {
  Converted<3> operands;
  TRY_DONE(operands.take(context, {&x, &weights, bias}));
  return context.convolutions().dense(*operands[0], *operands[1], operands[2], activation);
}

Result<Normalized> batch_norm(Context& context, const Array& x, const Array& gamma,
                              const Array& beta, const Array* running_mean,
                              const Array* running_var, const Dims& axes, double eps,
                              double decay) {
  if ((running_mean == nullptr) != (running_var == nullptr)) return bad_call();
  std::optional<RunningStatistics> running;
  if (running_mean != nullptr) running = RunningStatistics{running_mean, running_var, decay};
  return context.normalizations().forward(x, gamma, beta, axes, eps, running);
}

Result<std::vector<Array>> pool(Context& context, PoolForm form, const Array& x,
                                const Array* places, const PoolingWords& geometry) {
  if ((places != nullptr) != (form == PoolForm::max_gradient)) return bad_call();
  Pooling& pooling = context.pooling();
  if (form == PoolForm::max) {
    TRY(auto& made, pooling.largest(x, geometry.how));
    return std::vector<Array>{std::move(made.y), std::move(made.places)};
  }
  TRY(auto& made, form == PoolForm::max_gradient
                      ? pooling.largest_gradient(x, *places, geometry.space, geometry.how)
                  : form == PoolForm::mean
                      ? pooling.mean(x, geometry.how)
                      : pooling.mean_gradient(x, geometry.space, geometry.how));
  return std::vector<Array>{std::move(made)};
}

}  // namespace arraycore::calls
