#include "operations/nn/convolution.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "view/messages.h"
#include "view/shape.h"

namespace arraycore {

namespace {

using gemm::kWindowAxes;
using gemm::Problem;
using gemm::Window;
using gemm::WindowAxis;

Error conv_shapes_error(std::string message) {
  return {ErrorKind::value, "conv_shapes", std::move(message)};
}
Error geometry_error(std::string message) {
  return {ErrorKind::value, "conv_geometry", std::move(message)};
}

// An array's strides and offset in elements.
struct ElementLayout {
  explicit ElementLayout(const Array& array) {
    const auto item = static_cast<std::int64_t>(size_of(array.dtype));
    offset = array.view.offset / item;
    for (const std::int64_t stride : array.view.strides) strides.push_back(stride / item);
  }
  std::int64_t space(int axis) const { return strides[2 + axis]; }
  std::int64_t offset = 0;
  Dims strides;
};

Problem problem_for(const Array& out, std::int64_t rows, std::int64_t groups) {
  Problem problem;
  problem.dtype = out.dtype;
  problem.m = rows;
  if (groups > 1) problem.batch = {groups};
  return problem;
}

Dims step(const Problem& problem, std::int64_t stride) {
  return problem.batch.empty() ? Dims{} : Dims{stride};
}

WindowAxis& axis_of(Window& window, int axes, int axis) {
  window.used = axes;
  return window.axes[static_cast<std::size_t>(kWindowAxes - axes + axis)];
}

// Returns whether the axes from `first` on are C-contiguous.
bool follow_each_other(const View& view, int first, std::int64_t item) {
  for (int axis = view.ndim() - 1; axis >= first; --axis) {
    if (view.shape[axis] != 1 && view.strides[axis] != item) return false;
    item *= view.shape[axis];
  }
  return true;
}

bool all(const Dims& dims, std::int64_t value) {
  return std::all_of(dims.begin(), dims.end(), [&](std::int64_t each) { return each == value; });
}

std::int64_t product(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

// With at least this many positions, each image is a product of its own. With fewer, all images are
// one product, because small images fill the kernels' blocks badly.
constexpr std::int64_t kWorthAProduct = 32;

// Turns the product over all images into one product for each image, by an additional batch axis.
// REQUIRES: the window has one element; in `b`, the elements along the spatial axes are
// consecutive; `out` is C-ordered.
Problem by_image(Problem problem, std::int64_t images, std::int64_t terms, std::int64_t places) {
  problem.n = places;
  problem.k = terms;
  const auto before = [](Dims& dims, std::int64_t value) {
    Dims longer{value};
    for (const std::int64_t each : dims) longer.push_back(each);
    dims = longer;
  };
  before(problem.batch, images);
  before(problem.a.batch, 0);
  before(problem.b.batch, problem.b.column_stride);
  before(problem.out.batch, problem.out.column_stride);
  problem.b.column_stride = 1;
  problem.out.column_stride = 1;
  return problem;
}

// Returns a result, converted to the original dtype of its operands.
Result<Array> narrowed(Launcher& launcher, const Array& made, DType dtype) {
  return made.dtype == dtype ? Result<Array>(made) : launcher.copy(made, dtype);
}

Error extra_error(const Array& extra, std::int64_t count) {
  return conv_shapes_error("A bias, scale or shift has one element for each of " +
                           std::to_string(count) + " channels, not the shape " +
                           shape_text(extra.view.shape) + ".");
}

Status check_result(const Dims& has, const Dims& wants) {
  if (has == wants) return Done{};
  return conv_shapes_error("The gradient has the shape " + shape_text(has) +
                           ", the result of the convolution " + shape_text(wants) + ".");
}

}  // namespace

// Returns whether the window has one element and reads each element of the data once. Then the data
// are multiplied without a window.
bool Convolutions::Sizes::is_pointwise(const ConvolutionGeometry& how) const {
  return all(window, 1) && all(how.stride, 1) && all(how.pad_before, 0) && all(how.pad_after, 0) &&
         (images == 1 || product(out_space) >= kWorthAProduct);
}

Dims Convolutions::Sizes::out_shape(const ConvolutionGeometry& how) const {
  Dims shape{images, out_channels * how.groups};
  for (const std::int64_t extent : out_space) shape.push_back(extent);
  return shape;
}

Result<Convolutions::Sizes> Convolutions::sizes(const Dims& data, const Dims& weights,
                                                const ConvolutionGeometry& how) const {
  const int axes = data.size() - 2;
  if (axes < 1 || axes > kWindowAxes || weights.size() != data.size())
    return conv_shapes_error(
        "A convolution takes data and weights of 3, 4 or 5 dimensions, as many of "
        "both; these have the shapes " +
        shape_text(data) + " and " + shape_text(weights) + ".");
  for (const Dims* dims : {&how.stride, &how.pad_before, &how.pad_after, &how.dilation})
    if (dims->size() != axes)
      return geometry_error("A stride, dilation and padding are needed for each of the " +
                            std::to_string(axes) + " axes of space.");
  const auto below = [](const Dims& dims, std::int64_t least) {
    return std::any_of(dims.begin(), dims.end(), [&](std::int64_t each) { return each < least; });
  };
  if (below(how.stride, 1) || below(how.dilation, 1) || below(how.pad_before, 0) ||
      below(how.pad_after, 0) || how.groups < 1)
    return geometry_error(
        "Strides, dilations and groups are at least 1, and padding is at least 0.");
  if (weights[0] % how.groups != 0)
    return conv_shapes_error("Weights for " + std::to_string(weights[0]) +
                             " channels of the result do not make " + std::to_string(how.groups) +
                             " groups.");
  if (data[1] != weights[1] * how.groups)
    return conv_shapes_error("Data of " + std::to_string(data[1]) + " channels in " +
                             std::to_string(how.groups) + " groups do not fit weights of " +
                             std::to_string(weights[1]) + " channels a group.");
  Sizes sizes;
  sizes.images = data[0];
  sizes.in_channels = weights[1];
  sizes.out_channels = weights[0] / how.groups;
  for (int axis = 0; axis < axes; ++axis) {
    const std::int64_t extent = data[2 + axis] + how.pad_before[axis] + how.pad_after[axis];
    const std::int64_t window = weights[2 + axis];
    const std::int64_t effective = window < 1 ? 0 : (window - 1) * how.dilation[axis] + 1;
    if (window < 1 || effective > extent)
      return conv_shapes_error("A window of " + std::to_string(window) + " that reaches over " +
                               std::to_string(effective) + " elements does not lie in " +
                               std::to_string(extent) + " along axis " + std::to_string(2 + axis) +
                               ", padding counted.");
    sizes.space.push_back(data[2 + axis]);
    sizes.window.push_back(window);
    sizes.out_space.push_back((extent - effective) / how.stride[axis] + 1);
  }
  return sizes;
}

Result<Array> Convolutions::in_a_row(const Array& array) {
  std::int64_t stride = static_cast<std::int64_t>(size_of(array.dtype));
  for (int axis = array.view.ndim() - 1; axis >= 2; --axis) {
    if (array.view.shape[axis] > 1 && array.view.strides[axis] != stride)
      return launcher_.copy(array, array.dtype);
    stride *= array.view.shape[axis];
  }
  return array;
}

// Returns a float16 array as float32, because sums are kept in float32 and rounded once. A view
// whose offset or strides are not whole elements is copied.
Result<Array> Convolutions::widened(const Array& array) {
  if (array.dtype != DType::float16 && array.dtype != DType::float32 &&
      array.dtype != DType::float64)
    return Error{ErrorKind::not_implemented, "conv_dtype",
                 "Convolutions are computed in float16, float32 and float64, not in " +
                     std::string(name_of(array.dtype)) + ": use astype() first."};
  if (array.dtype == DType::float16) return launcher_.copy(array, DType::float32);
  return on_whole_elements(array) ? Result<Array>(array) : launcher_.copy(array, array.dtype);
}

// ---- forward

Result<Array> Convolutions::forward(const Array& data, const Array& weights,
                                    const ConvolutionGeometry& how,
                                    const ConvolutionExtras& extras) {
  TRY(const auto& fit, sizes(data.view.shape, weights.view.shape, how));
  const Dims& of_data = data.view.shape;
  const Dims& of_weights = weights.view.shape;
  for (const auto& [extra, count] :
       {std::pair{extras.scale, of_data[1]}, std::pair{extras.shift, of_data[1]},
        std::pair{extras.bias, of_weights[0]}})
    if (extra != nullptr && extra->view.shape != Dims{count}) return extra_error(*extra, count);
  TRY(const auto& wide_data, widened(data));
  TRY(const auto& wide_weights, widened(weights));
  std::array<Array, 3> wide_extras;
  ConvolutionExtras taken = extras;
  for (std::size_t i = 0; const Array** extra : {&taken.scale, &taken.shift, &taken.bias}) {
    Array& wide = wide_extras[i++];
    if (*extra == nullptr) continue;
    TRY(auto& made, widened(**extra));
    wide = std::move(made);
    *extra = &wide;
  }
  TRY(auto& out, launcher_.allocate(wide_data.dtype, fit.out_shape(how)));
  TRY_DONE(run_forward(wide_data, wide_weights, out, fit, how, taken));
  return narrowed(launcher_, out, data.dtype);
}

// Returns the prologue and the epilogue for these extras. The epilogue's operands are indexed by
// the result's rows, the prologue's by the data's terms.
Result<ProductStages> Convolutions::stages_of(DType dtype, const ConvolutionExtras& extras) {
  ProductStages stages;
  if (extras.scale != nullptr) {
    TRY(const auto& kernel, kernels_.prologue(dtype));
    stages.prologue.kernel = kernel;
    stages.prologue.operands = {extras.scale, extras.shift};
    for (std::size_t i = 0; i < 2; ++i) {
      const ElementLayout layout(*stages.prologue.operands[i]);
      stages.prologue.layouts[i] = {layout.offset, layout.strides[0], 0, 0};
    }
  }
  if (extras.bias != nullptr || extras.activation != Activation::none) {
    TRY(const auto& kernel, kernels_.epilogue(dtype, extras.bias != nullptr, extras.activation));
    stages.epilogue.kernel = kernel;
    if (extras.bias != nullptr) {
      const ElementLayout layout(*extras.bias);
      stages.epilogue.operands[0] = extras.bias;
      stages.epilogue.layouts[0] = {layout.offset, layout.strides[0], 0, 0};
    }
  }
  return stages;
}

// Computes a result without input channels: the sum is 0, so only the epilogue remains. The
// channels are axis 1.
Status Convolutions::fill_with_epilogue(const Array& out, const ConvolutionExtras& extras) {
  const Status filled = launcher_.fill(out, ir::scalar_of(out.dtype, 0));
  if (!filled || (extras.bias == nullptr && extras.activation == Activation::none)) return filled;
  TRY(const auto& kernel, kernels_.epilogue(out.dtype, extras.bias != nullptr, extras.activation));
  std::vector<Operand> operands{{&out, {}}};
  Array bias;
  if (extras.bias != nullptr) {
    bias = *extras.bias;
    const std::int64_t stride = bias.view.strides[0];
    bias.view.shape = out.view.shape;
    bias.view.strides.clear();
    bias.view.strides.resize(out.view.ndim());
    bias.view.strides[1] = stride;
    operands.push_back({&bias, {}});
  }
  operands.push_back({&out, {}});
  return launcher_.launch({kernel, out.view.shape, 0, operands});
}

// Computes out[image, o, position], the sum of weights[o, i, p] data[image, i, position + p] over
// the input channels i and the window's elements p.
Status Convolutions::run_forward(const Array& data, const Array& weights, const Array& out,
                                 const Sizes& sizes, const ConvolutionGeometry& how,
                                 const ConvolutionExtras& extras) {
  if (out.view.count() == 0) return Done{};
  if (sizes.in_channels == 0) return fill_with_epilogue(out, extras);
  // A pointwise convolution with groups has a batch of two axes, image and group. An operand of the
  // prologue or epilogue has only one batch stride, which cannot select the group.
  const bool pointwise = sizes.is_pointwise(how) && (how.groups == 1 || !extras.any());
  TRY(auto& stages, stages_of(out.dtype, extras));
  for (std::size_t i = 0; i < 2; ++i) {
    stages.prologue.layouts[i].batch_stride =
        how.groups == 1 ? 0 : sizes.in_channels * stages.prologue.layouts[i].row_stride;
    stages.epilogue.layouts[i].batch_stride =
        how.groups == 1 ? 0 : sizes.out_channels * stages.epilogue.layouts[i].row_stride;
  }
  TRY(const auto& kernel, in_a_row(weights));
  TRY(const auto& source, pointwise ? in_a_row(data) : Result<Array>(data));
  const ElementLayout a(kernel);
  const ElementLayout b(source);
  const ElementLayout c(out);
  Problem problem = problem_for(out, sizes.out_channels, how.groups);
  problem.a = {a.offset, a.strides[0], a.strides[1],
               step(problem, sizes.out_channels * a.strides[0])};
  problem.b = {b.offset, b.strides[1], b.strides[0],
               step(problem, sizes.in_channels * b.strides[1])};
  problem.out = {c.offset, c.strides[1], c.strides[0],
                 step(problem, sizes.out_channels * c.strides[1])};
  if (pointwise)
    return launcher_.multiply(
        by_image(problem, sizes.images, sizes.in_channels, product(sizes.out_space)), kernel,
        source, out, stages);
  Window window;
  for (int axis = 0; axis < sizes.axes(); ++axis) {
    WindowAxis& each = axis_of(window, sizes.axes(), axis);
    each.columns = sizes.out_space[axis];
    each.terms = sizes.window[axis];
    each.column_step = how.stride[axis];
    each.term_step = how.dilation[axis];
    each.origin = -how.pad_before[axis];
    each.extent = sizes.space[axis];
    each.b_stride = b.space(axis);
    each.out_stride = c.space(axis);
  }
  problem.n = sizes.images * window.columns();
  problem.k = sizes.in_channels * window.terms();
  problem.window = window;
  return launcher_.multiply(problem, kernel, source, out, stages);
}

Result<Array> Convolutions::dense(const Array& data, const Array& weights, const Array* bias,
                                  Activation activation) {
  const Dims& rows = data.view.shape;
  const Dims& columns = weights.view.shape;
  if (rows.size() != 2 || columns.size() != 2 || rows[1] != columns[1])
    return conv_shapes_error(
        "A dense layer takes matrices of as many terms, (rows, terms) and "
        "(columns, terms); these have the shapes " +
        shape_text(rows) + " and " + shape_text(columns) + ".");
  if (bias != nullptr && bias->view.shape != Dims{columns[0]})
    return extra_error(*bias, columns[0]);
  TRY(const auto& wide_data, widened(data));
  TRY(const auto& wide_weights, widened(weights));
  TRY(const auto& wide_bias, bias == nullptr ? Result<Array>(Array{}) : widened(*bias));
  ConvolutionExtras extras;
  extras.bias = bias == nullptr ? nullptr : &wide_bias;
  extras.activation = activation;
  TRY(auto& out, launcher_.allocate(wide_data.dtype, {rows[0], columns[0]}));
  Status done = Done{};
  if (out.view.count() > 0 && rows[1] == 0) {
    done = fill_with_epilogue(out, extras);
  } else if (out.view.count() > 0) {
    TRY(auto& stages, stages_of(out.dtype, extras));
    // For dense(), the bias has an element for each column and not for each row.
    for (gemm::OperandLayout& layout : stages.epilogue.layouts)
      std::swap(layout.row_stride, layout.column_stride);
    View turned = wide_weights.view;
    std::swap(turned.shape[0], turned.shape[1]);
    std::swap(turned.strides[0], turned.strides[1]);
    done = launcher_.multiply(gemm::problem_of(out.dtype, wide_data.view, turned, out.view),
                              wide_data, wide_weights, out, stages);
  }
  if (!done) return done.error();
  return narrowed(launcher_, out, data.dtype);
}

// ---- the data's gradient

Result<Array> Convolutions::data_gradient(const Array& gradient, const Array& weights,
                                          const Dims& space, const ConvolutionGeometry& how) {
  const Dims& windows = weights.view.shape;
  Dims shape{gradient.view.ndim() < 1 ? 0 : gradient.view.shape[0],
             windows.size() < 2 ? 0 : windows[1] * how.groups};
  for (const std::int64_t extent : space) shape.push_back(extent);
  TRY(const auto& fit, sizes(shape, windows, how));
  TRY_DONE(check_result(gradient.view.shape, fit.out_shape(how)));
  TRY(const auto& wide_gradient, widened(gradient));
  TRY(const auto& wide_weights, widened(weights));
  TRY(auto& out, launcher_.allocate(wide_gradient.dtype, shape));
  TRY_DONE(run_data(wide_gradient, wide_weights, out, fit, how));
  return narrowed(launcher_, out, gradient.dtype);
}

Status Convolutions::run_data(const Array& gradient, const Array& weights, const Array& out,
                              const Sizes& sizes, const ConvolutionGeometry& how) {
  if (out.view.count() == 0) return Done{};
  if (sizes.out_channels == 0) return launcher_.fill(out, ir::scalar_of(out.dtype, 0));
  if (sizes.is_pointwise(how)) {
    TRY(const auto& source, in_a_row(gradient));
    const ElementLayout a(weights);
    const ElementLayout b(source);
    const ElementLayout c(out);
    Problem problem = problem_for(out, sizes.in_channels, how.groups);
    problem.a = {a.offset, a.strides[1], a.strides[0],
                 step(problem, sizes.out_channels * a.strides[0])};
    problem.b = {b.offset, b.strides[1], b.strides[0],
                 step(problem, sizes.out_channels * b.strides[1])};
    problem.out = {c.offset, c.strides[1], c.strides[0],
                   step(problem, sizes.in_channels * c.strides[1])};
    return launcher_.multiply(
        by_image(problem, sizes.images, sizes.out_channels, product(sizes.out_space)), weights,
        source, out);
  }
  // A phase (run_phase) may use no weight, for example if a stride is larger than the window. The
  // elements of such a phase stay 0.
  bool misses = false;
  for (int axis = 0; axis < sizes.axes(); ++axis) {
    const std::int64_t step = how.stride[axis] / std::gcd(how.stride[axis], how.dilation[axis]);
    misses = misses || std::min(step, sizes.window[axis]) < how.stride[axis];
  }
  if (misses) {
    TRY_DONE(launcher_.fill(out, ir::scalar_of(out.dtype, 0)));
  }
  Dims phase;
  phase.resize(sizes.axes());
  while (true) {
    TRY_DONE(run_phase(gradient, weights, out, sizes, how, phase));
    int axis = sizes.axes() - 1;
    while (axis >= 0 && ++phase[axis] == std::min(how.stride[axis], sizes.space[axis]))
      phase[axis--] = 0;
    if (axis < 0) return Done{};
  }
}

// Computes the elements i = phase + stride * j. Element i meets weight p at position q if q *
// stride + p * dilation = i + pad_before. In a phase only every n-th p has such a position, and q -
// j is then the same for all j. So a phase is a convolution with a window of those p.
Status Convolutions::run_phase(const Array& gradient, const Array& weights, const Array& out,
                               const Sizes& sizes, const ConvolutionGeometry& how,
                               const Dims& phase) {
  View kernel = weights.view;
  const View& all = weights.view;
  kernel.shape = {how.groups, sizes.in_channels, sizes.out_channels};
  kernel.strides = {sizes.out_channels * all.strides[0], all.strides[1], all.strides[0]};
  const ElementLayout b(gradient);
  const ElementLayout c(out);
  Window window;
  bool meets = true;
  std::int64_t first_out = c.offset;
  for (int axis = 0; axis < sizes.axes(); ++axis) {
    const std::int64_t stride = how.stride[axis];
    const std::int64_t dilation = how.dilation[axis];
    const std::int64_t from = phase[axis] + how.pad_before[axis];
    std::int64_t first = 0;
    while (first < sizes.window[axis] && (from - first * dilation) % stride != 0) ++first;
    const std::int64_t each_nth = stride / std::gcd(stride, dilation);
    WindowAxis& each = axis_of(window, sizes.axes(), axis);
    each.columns = (sizes.space[axis] - phase[axis] + stride - 1) / stride;
    each.terms = (sizes.window[axis] - first + each_nth - 1) / each_nth;
    each.column_step = 1;
    each.term_step = -(each_nth * dilation / stride);
    each.origin = (from - first * dilation) / stride;
    each.extent = sizes.out_space[axis];
    each.b_stride = b.space(axis);
    each.out_stride = stride * c.space(axis);
    meets = meets && each.terms > 0;
    first_out += phase[axis] * c.space(axis);
    kernel.shape.push_back(each.terms);
    kernel.strides.push_back(each_nth * all.strides[2 + axis]);
    kernel.offset += first * all.strides[2 + axis];
  }
  if (!meets) return Done{};  // `out` was filled with 0 before
  const std::int64_t terms = window.terms();
  Problem problem = problem_for(out, sizes.in_channels, how.groups);
  Array rows = weights;
  const ElementLayout a(weights);
  const auto item = static_cast<std::int64_t>(size_of(weights.dtype));
  // For a window of one element, the weights are used in place if their channels are consecutive.
  // For a larger one they are used in place only on a device, if the window's elements are
  // consecutive.
  const bool in_place = follow_each_other(kernel, 3, item) &&
                        (terms == 1 ? a.strides[1] == 1 : out.storage->backend().is_device());
  if (in_place) {
    problem.a = {kernel.offset / item, a.strides[1], a.strides[0],
                 step(problem, sizes.out_channels * a.strides[0])};
  } else {  // the weights are small and read many times, so they are copied to rows of channels
    TRY(auto& copied, launcher_.copy({weights.dtype, kernel, weights.storage}, weights.dtype));
    rows = std::move(copied);
    problem.a = {0, sizes.out_channels * terms, terms,
                 step(problem, sizes.in_channels * sizes.out_channels * terms)};
  }
  problem.b = {b.offset, b.strides[1], b.strides[0],
               step(problem, sizes.out_channels * b.strides[1])};
  problem.out = {first_out, c.strides[1], c.strides[0],
                 step(problem, sizes.in_channels * c.strides[1])};
  problem.n = sizes.images * window.columns();
  problem.k = sizes.out_channels * terms;
  problem.window = window;
  return launcher_.multiply(problem, rows, gradient, out);
}

// ---- the weights' gradient

Result<Array> Convolutions::weight_gradient(const Array& data, const Array& gradient,
                                            const Dims& window, const ConvolutionGeometry& how) {
  const Dims& of_data = data.view.shape;
  const std::int64_t channels = of_data.size() < 2 ? 0 : of_data[1];
  if (how.groups >= 1 && channels % how.groups != 0)
    return conv_shapes_error("Data of " + std::to_string(channels) + " channels do not make " +
                             std::to_string(how.groups) + " groups.");
  Dims shape{gradient.view.ndim() < 2 ? 0 : gradient.view.shape[1],
             channels / std::max<std::int64_t>(how.groups, 1)};
  for (const std::int64_t extent : window) shape.push_back(extent);
  TRY(const auto& fit, sizes(of_data, shape, how));
  TRY_DONE(check_result(gradient.view.shape, fit.out_shape(how)));
  TRY(const auto& wide_data, widened(data));
  TRY(const auto& wide_gradient, widened(gradient));
  TRY(auto& out, launcher_.allocate(wide_data.dtype, shape));
  TRY_DONE(run_weights(wide_data, wide_gradient, out, fit, how));
  return narrowed(launcher_, out, data.dtype);
}

// Computes out[o, i, p], the sum of gradient[image, o, position] data[image, i, position + p] over
// images and positions. It uses the forward window with columns and terms exchanged.
Status Convolutions::run_weights(const Array& data, const Array& gradient, const Array& out,
                                 const Sizes& sizes, const ConvolutionGeometry& how) {
  if (out.view.count() == 0) return Done{};
  if (sizes.images == 0) return launcher_.fill(out, ir::scalar_of(out.dtype, 0));
  TRY(const auto& rows, in_a_row(gradient));
  const ElementLayout a(rows);
  const ElementLayout b(data);
  const ElementLayout c(out);
  Problem problem = problem_for(out, sizes.out_channels, how.groups);
  problem.a = {a.offset, a.strides[1], a.strides[0],
               step(problem, sizes.out_channels * a.strides[1])};
  problem.b = {b.offset, b.strides[0], b.strides[1],
               step(problem, sizes.in_channels * b.strides[1])};
  problem.out = {c.offset, c.strides[0], c.strides[1],
                 step(problem, sizes.out_channels * c.strides[0])};
  Window window;
  for (int axis = 0; axis < sizes.axes(); ++axis) {
    WindowAxis& each = axis_of(window, sizes.axes(), axis);
    each.columns = sizes.window[axis];
    each.terms = sizes.out_space[axis];
    each.column_step = how.dilation[axis];
    each.term_step = how.stride[axis];
    each.origin = -how.pad_before[axis];
    each.extent = sizes.space[axis];
    each.b_stride = b.space(axis);
    each.out_stride = c.space(axis);
  }
  problem.n = sizes.in_channels * window.columns();
  problem.k = sizes.images * window.terms();
  problem.window = window;
  return launcher_.multiply(problem, rows, data, out);
}

}  // namespace arraycore
