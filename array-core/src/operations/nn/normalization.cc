#include "operations/nn/normalization.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "dtype/promotion.h"
#include "operations/reduced_axes.h"
#include "view/messages.h"

namespace arraycore {

namespace {

bool is_computed(DType dtype) {
  return dtype == DType::float16 || dtype == DType::float32 || dtype == DType::float64;
}

// Describes the reduction over the data: the axes of a row as bits, the shape of the other axes,
// and the number of elements of a row.
struct Channels {
  std::uint32_t reduced = 0;
  Dims shape;
  std::int64_t elements = 1;
};

Result<Channels> channels_of(const Array& x, const Dims& axes) {
  const int ndim = x.view.ndim();
  TRY(const auto& reduced, axis_bits(axes, ndim));
  Channels channels{reduced, {}, 1};
  for (int axis = 0; axis < ndim; ++axis) {
    if ((reduced >> axis & 1U) != 0)
      channels.elements *= x.view.shape[axis];
    else
      channels.shape.push_back(x.view.shape[axis]);
  }
  if (channels.elements == 0)
    return Error{ErrorKind::value, "norm_shapes",
                 "Data of shape " + shape_text(x.view.shape) +
                     " have no elements to take a channel's statistics of."};
  return channels;
}

Status check(const Dims& shape, std::initializer_list<const Array*> arrays) {
  for (const Array* array : arrays) {
    if (!is_computed(array->dtype))
      return Error{ErrorKind::not_implemented, "norm_dtype",
                   "Batch normalization is computed in float16, float32 and float64, not in " +
                       std::string(name_of(array->dtype)) + ": use astype() first."};
    if (array->view.shape != shape)
      return Error{ErrorKind::value, "norm_shapes",
                   "Statistics and parameters of the channels have the shape " + shape_text(shape) +
                       ", not " + shape_text(array->view.shape) + "."};
  }
  return Done{};
}

// Returns an array of the channels' shape with the data's number of axes, so that it broadcasts to
// the data.
Array along_data(const Array& array, const Channels& channels, int ndim) {
  return {array.dtype, with_axes(array.view, channels.reduced, ndim), array.storage};
}

}  // namespace

Result<KernelRef> Normalizations::kernel(Which which, const ops::NormalizationTypes& types,
                                         std::optional<DType> running) {
  const auto number = [](auto value) { return static_cast<std::size_t>(value); };
  const Key key{number(which), number(types.data), number(types.parameter),
                number(types.statistics), running ? number(*running) : kDTypes};
  if (const auto known = kernels_.find(key); known != kernels_.end()) return known->second;
  auto made = launcher_.prepare(which == Which::moments ? ops::make_moments_kernel(types, running)
                                : which == Which::normalize ? ops::make_normalize_kernel(types)
                                : which == Which::sums      ? ops::make_norm_sums_kernel(types)
                                                       : ops::make_norm_gradient_kernel(types));
  if (made) kernels_.emplace(key, *made);
  return made;
}

Result<Normalized> Normalizations::forward(const Array& x, const Array& gamma, const Array& beta,
                                           const Dims& axes, double eps,
                                           const std::optional<RunningStatistics>& running) {
  TRY(const auto& channels, channels_of(x, axes));
  TRY_DONE(check(x.view.shape, {&x}));
  TRY_DONE(check(channels.shape, {&gamma, &beta}));
  if (gamma.dtype != beta.dtype)
    return Error{ErrorKind::not_implemented, "norm_dtype", "Gamma and beta have one dtype."};
  std::optional<DType> kept;
  if (running) {
    const Array& mean = *running->mean;
    const Array& variance = *running->variance;
    TRY_DONE(check(channels.shape, {&mean, &variance}));
    for (const Array* array : {&mean, &variance}) TRY_DONE(Launcher::writable(*array));
    if (mean.dtype != variance.dtype)
      return Error{ErrorKind::not_implemented, "norm_dtype",
                   "A running mean and its variance have one dtype."};
    kept = mean.dtype;
  }
  const ops::NormalizationTypes types{x.dtype, gamma.dtype, promote(x.dtype, gamma.dtype)};
  TRY(const auto& moments, kernel(Which::moments, types, kept));
  TRY(const auto& normalize, kernel(Which::normalize, types));
  TRY(auto& mean, launcher_.allocate(types.statistics, channels.shape));
  TRY(auto& inv_std, launcher_.allocate(types.statistics, channels.shape));
  TRY(auto& y, launcher_.allocate(x.dtype, x.view.shape));
  if (y.view.count() == 0) return Normalized{std::move(y), std::move(mean), std::move(inv_std)};

  const auto number = [&](double value) {
    return Operand{nullptr, ir::scalar_of(ops::computed_in(types), value)};
  };
  std::vector<Operand> operands{{&x, {}}, number(eps)};
  if (running) {
    const auto count = static_cast<double>(channels.elements);
    const double fresh = 1 - running->decay;
    operands.push_back(number(running->decay));
    operands.push_back(number(fresh));
    operands.push_back(number(fresh * (count / std::max(count - 1, 1.0))));
  }
  operands.push_back({&mean, {}});
  operands.push_back({&inv_std, {}});
  if (running) {
    operands.push_back({running->mean, {}});
    operands.push_back({running->variance, {}});
  }
  const Dims& loop = x.view.shape;
  TRY_DONE(launcher_.launch({moments, loop, channels.reduced, operands}));
  const int ndim = x.view.ndim();
  const Array wide_mean = along_data(mean, channels, ndim);
  const Array wide_inv_std = along_data(inv_std, channels, ndim);
  const Array wide_gamma = along_data(gamma, channels, ndim);
  const Array wide_beta = along_data(beta, channels, ndim);
  const std::vector<Operand> apply{{&x, {}},          {&wide_mean, {}}, {&wide_inv_std, {}},
                                   {&wide_gamma, {}}, {&wide_beta, {}}, {&y, {}}};
  TRY_DONE(launcher_.launch({normalize, loop, 0, apply}));
  return Normalized{std::move(y), std::move(mean), std::move(inv_std)};
}

Result<NormalizationGradients> Normalizations::gradient(const Array& gy, const Array& x,
                                                        const Array& gamma, const Array& mean,
                                                        const Array& inv_std, const Dims& axes) {
  TRY(const auto& channels, channels_of(x, axes));
  TRY_DONE(check(x.view.shape, {&x, &gy}));
  TRY_DONE(check(channels.shape, {&gamma, &mean, &inv_std}));
  if (gy.dtype != x.dtype || mean.dtype != inv_std.dtype)
    return Error{ErrorKind::not_implemented, "norm_dtype",
                 "Data and gradient have one dtype, and so have mean and inv_std."};
  const ops::NormalizationTypes types{x.dtype, gamma.dtype, mean.dtype};
  TRY(const auto& sums, kernel(Which::sums, types));
  TRY(const auto& by_data, kernel(Which::gradient, types));
  TRY(auto& gbeta, launcher_.allocate(gamma.dtype, channels.shape));
  TRY(auto& ggamma, launcher_.allocate(gamma.dtype, channels.shape));
  TRY(auto& gx, launcher_.allocate(x.dtype, x.view.shape));
  if (gx.view.count() == 0)
    return NormalizationGradients{std::move(gx), std::move(ggamma), std::move(gbeta)};

  const int ndim = x.view.ndim();
  const Dims& loop = x.view.shape;
  const Array wide_mean = along_data(mean, channels, ndim);
  const Array wide_inv_std = along_data(inv_std, channels, ndim);
  const std::vector<Operand> summed{{&gy, {}},           {&x, {}},     {&wide_mean, {}},
                                    {&wide_inv_std, {}}, {&gbeta, {}}, {&ggamma, {}}};
  TRY_DONE(launcher_.launch({sums, loop, channels.reduced, summed}));
  const Array wide_gamma = along_data(gamma, channels, ndim);
  const Array wide_ggamma = along_data(ggamma, channels, ndim);
  const Array wide_gbeta = along_data(gbeta, channels, ndim);
  const ir::Scalar share =
      ir::scalar_of(ops::computed_in(types), 1 / static_cast<double>(channels.elements));
  const std::vector<Operand> spread{{&gy, {}},           {&x, {}},          {&wide_mean, {}},
                                    {&wide_inv_std, {}}, {&wide_gamma, {}}, {&wide_ggamma, {}},
                                    {&wide_gbeta, {}},   {nullptr, share},  {&gx, {}}};
  TRY_DONE(launcher_.launch({by_data, loop, 0, spread}));
  return NormalizationGradients{std::move(gx), std::move(ggamma), std::move(gbeta)};
}

}  // namespace arraycore
