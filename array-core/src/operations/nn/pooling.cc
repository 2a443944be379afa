#include "operations/nn/pooling.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "ops/pooling.h"
#include "view/messages.h"

namespace arraycore {

namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();

Error pool_shapes_error(std::string message) {
  return {ErrorKind::value, "pool_shapes", std::move(message)};
}

Status check_dtype(const Array& array) {
  if (array.dtype == DType::float16 || array.dtype == DType::float32 ||
      array.dtype == DType::float64)
    return Done{};
  return Error{ErrorKind::not_implemented, "pool_dtype",
               "Pooling is computed in float16, float32 and float64, not in " +
                   std::string(name_of(array.dtype)) + ": use astype() first."};
}

Dims joined(const Dims& first, const Dims& second) {
  Dims both = first;
  for (const std::int64_t extent : second) both.push_back(extent);
  return both;
}

}  // namespace

Result<KernelRef> Pooling::kernel(Which which, DType dtype) {
  const std::array key{static_cast<std::size_t>(which), static_cast<std::size_t>(dtype)};
  if (const auto known = kernels_.find(key); known != kernels_.end()) return known->second;
  const auto make = [&] {
    switch (which) {
      case Which::largest:
        return ops::make_max_pool_kernel(dtype);
      case Which::largest_gradient:
        return ops::make_max_pool_gradient_kernel(dtype);
      case Which::mean:
        return ops::make_mean_pool_kernel(dtype);
      default:
        return ops::make_mean_pool_gradient_kernel(dtype);
    }
  };
  auto made = launcher_.prepare(make());
  if (made) kernels_.emplace(key, *made);
  return made;
}

// Checks sizes. `array` is the data, or an array with the same axes before the spatial axes.
Result<Pooling::Sizes> Pooling::sizes(const Array& array, const Dims& space,
                                      const PoolGeometry& how) const {
  const int axes = how.window.size();
  const bool counted = axes >= 1 && axes <= ops::kPoolAxes && how.stride.size() == axes &&
                       how.pad_before.size() == axes && how.pad_after.size() == axes;
  const auto below = [](const Dims& dims, std::int64_t least) {
    return std::any_of(dims.begin(), dims.end(),
                       [&](std::int64_t each) { return each < least || each > kLargest; });
  };
  if (!counted || below(how.window, 1) || below(how.stride, 1) || below(how.pad_before, 0) ||
      below(how.pad_after, 0))
    return Error{ErrorKind::value, "pool_geometry",
                 "A window of one to three axes has an extent and a stride of at least 1 and "
                 "padding of at least 0 for each."};
  if (array.view.ndim() < axes || space.size() != axes)
    return pool_shapes_error("A window of " + std::to_string(axes) +
                             " axes does not lie in data of shape " + shape_text(array.view.shape) +
                             ".");
  Sizes sizes;
  for (int axis = 0; axis < array.view.ndim() - axes; ++axis)
    sizes.planes.push_back(array.view.shape[axis]);
  for (int axis = 0; axis < axes; ++axis) {
    const std::int64_t extent = space[axis] + how.pad_before[axis] + how.pad_after[axis];
    if (space[axis] < 1 || how.window[axis] > extent)
      return pool_shapes_error("A window of " + std::to_string(how.window[axis]) +
                               " does not lie in " + std::to_string(extent) +
                               " elements, padding counted, or there are none.");
    sizes.space.push_back(space[axis]);
    sizes.places.push_back((extent - how.window[axis]) / how.stride[axis] + 1);
  }
  return sizes;
}

Result<Pooling::Sizes> Pooling::sizes_of_data(const Array& x, const PoolGeometry& how) const {
  TRY_DONE(check_dtype(x));
  Dims space;
  const int axes = std::min(how.window.size(), x.view.ndim());
  for (int axis = x.view.ndim() - axes; axis < x.view.ndim(); ++axis)
    space.push_back(x.view.shape[axis]);
  return sizes(x, space, how);
}

Result<Pooling::Sizes> Pooling::sizes_of_gradient(const Array& gy, const Dims& space,
                                                  const PoolGeometry& how) const {
  TRY_DONE(check_dtype(gy));
  TRY(auto& fit, sizes(gy, space, how));
  if (const Dims wants = joined(fit.planes, fit.places); gy.view.shape != wants)
    return pool_shapes_error("The gradient has the shape " + shape_text(gy.view.shape) +
                             ", the result of the pooling " + shape_text(wants) + ".");
  return std::move(fit);
}

std::vector<Operand> Pooling::numbers(const Sizes& sizes, const PoolGeometry& how) {
  std::vector<Operand> operands;
  const auto add = [&](std::int64_t number) {
    operands.push_back({nullptr, ir::scalar_of(DType::int32, number)});
  };
  const int missing = ops::kPoolAxes - how.window.size();
  for (int axis = -missing; axis < how.window.size(); ++axis) {
    add(axis < 0 ? 1 : sizes.space[axis]);
    add(axis < 0 ? 1 : sizes.places[axis]);
    add(axis < 0 ? 1 : how.window[axis]);
    add(axis < 0 ? 1 : how.stride[axis]);
    add(axis < 0 ? 0 : how.pad_before[axis]);
  }
  return operands;
}

Operand Pooling::share(DType dtype, const PoolGeometry& how) {
  double places = 1;
  for (const std::int64_t extent : how.window) places *= static_cast<double>(extent);
  return {nullptr, ir::scalar_of(ops::pooled_in(dtype), 1 / places)};
}

Result<Pooled> Pooling::largest(const Array& x, const PoolGeometry& how) {
  TRY(const auto& fit, sizes_of_data(x, how));
  TRY(const auto& pool, kernel(Which::largest, x.dtype));
  const Dims shape = joined(fit.planes, fit.places);
  TRY(auto& y, launcher_.allocate(x.dtype, shape));
  TRY(auto& places, launcher_.allocate(DType::int32, shape));
  std::vector<Operand> operands{{&x, {}}};
  for (const Operand& number : numbers(fit, how)) operands.push_back(number);
  operands.push_back({&y, {}});
  operands.push_back({&places, {}});
  TRY_DONE(launcher_.launch({pool, shape, 0, operands}));
  return Pooled{std::move(y), std::move(places)};
}

Result<Array> Pooling::largest_gradient(const Array& gy, const Array& places, const Dims& space,
                                        const PoolGeometry& how) {
  TRY(const auto& fit, sizes_of_gradient(gy, space, how));
  if (places.dtype != DType::int32)
    return Error{ErrorKind::not_implemented, "pool_dtype",
                 "The places of the largest elements are int32, not " +
                     std::string(name_of(places.dtype)) + "."};
  if (places.view.shape != gy.view.shape)
    return pool_shapes_error("The gradient has the shape " + shape_text(gy.view.shape) +
                             ", the places of the largest elements " +
                             shape_text(places.view.shape) + ".");
  TRY(const auto& pool, kernel(Which::largest_gradient, gy.dtype));
  auto gx = launcher_.allocate(gy.dtype, joined(fit.planes, fit.space));
  if (!gx) return gx;
  std::vector<Operand> operands{{&gy, {}}, {&places, {}}};
  for (const Operand& number : numbers(fit, how)) operands.push_back(number);
  operands.push_back({&*gx, {}});
  const Status done = launcher_.launch({pool, gx->view.shape, 0, operands});
  return done ? gx : done.error();
}

Result<Array> Pooling::mean(const Array& x, const PoolGeometry& how) {
  TRY(const auto& fit, sizes_of_data(x, how));
  return summed(Which::mean, x, joined(fit.planes, fit.places), fit, how);
}

Result<Array> Pooling::mean_gradient(const Array& gy, const Dims& space, const PoolGeometry& how) {
  TRY(const auto& fit, sizes_of_gradient(gy, space, how));
  return summed(Which::mean_gradient, gy, joined(fit.planes, fit.space), fit, how);
}

Result<Array> Pooling::summed(Which which, const Array& from, const Dims& shape, const Sizes& sizes,
                              const PoolGeometry& how) {
  TRY(const auto& pool, kernel(which, from.dtype));
  auto made = launcher_.allocate(from.dtype, shape);
  if (!made) return made;
  std::vector<Operand> operands{{&from, {}}};
  for (const Operand& number : numbers(sizes, how)) operands.push_back(number);
  operands.push_back(share(from.dtype, how));
  operands.push_back({&*made, {}});
  const Status done = launcher_.launch({pool, shape, 0, operands});
  return done ? made : done.error();
}

}  // namespace arraycore
