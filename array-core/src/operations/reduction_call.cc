#include "operations/reduction_call.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "ir/op_info.h"
#include "operations/reduced_axes.h"
#include "view/messages.h"
#include "view/shape.h"

namespace arraycore {

namespace {

using ops::Form;
using ops::ReductionSpec;

const ops::UFunc& ufunc_named(std::string_view name) {
  return ops::table()[static_cast<std::size_t>(*ops::find(name))];
}

bool empty(const Dims& shape) { return std::find(shape.begin(), shape.end(), 0) != shape.end(); }

// Returns the number of elements of one row, which the reduction combines.
std::int64_t length_of(const Dims& loop, std::uint32_t axes) {
  std::int64_t length = 1;
  for (int axis = 0; axis < loop.size(); ++axis)
    if ((axes >> axis & 1U) != 0) length *= loop[axis];
  return length;
}

std::uint64_t key_of(const ReductionSpec& spec, int way) {
  std::uint64_t key = static_cast<std::uint64_t>(way);
  const auto add = [&key](std::uint64_t value, int bits) { key = key << bits | value; };
  add(static_cast<std::uint64_t>(spec.form), 4);
  add(spec.ufunc == nullptr ? 0 : 1 + static_cast<std::uint64_t>(spec.ufunc - &ops::table()[0]), 8);
  for (const DType dtype : {spec.array, spec.loop, spec.out})
    add(static_cast<std::uint64_t>(dtype), 4);
  for (const bool flag : {spec.where, spec.initial, spec.skips_nan, spec.root, spec.carried})
    add(flag ? 1 : 0, 1);
  return key;
}

// Returns the view with the reduced axes last, so that in C order one row follows another.
View rows_of(const View& view, std::uint32_t bits) {
  View rows{{}, {}, view.offset};
  for (const bool reduced : {false, true})
    for (int axis = 0; axis < view.ndim(); ++axis) {
      if (((bits >> axis & 1U) != 0) != reduced) continue;
      rows.shape.push_back(view.shape[axis]);
      rows.strides.push_back(view.strides[axis]);
    }
  return rows;
}

// Returns a view of the elements [begin, end) along an axis.
View part_of(const View& view, int axis, std::int64_t begin, std::int64_t end) {
  View part{{}, {}, view.offset};
  for (int k = 0; k < view.ndim(); ++k) {
    if (k == axis) part.offset += begin * view.strides[k];
    part.shape.push_back(k == axis ? end - begin : view.shape[k]);
    part.strides.push_back(view.strides[k]);
  }
  return part;
}

// Returns how many positions on axis `first` one launch combines. In a row, these positions have at
// most `steps` elements, unless one position alone has more.
std::int64_t extent_of_a_launch(const View& rows, int first, std::int64_t steps) {
  std::int64_t inner = 1;
  for (int axis = first + 1; axis < rows.ndim(); ++axis) inner *= rows.shape[axis];
  return std::max<std::int64_t>(1, steps / std::max<std::int64_t>(1, inner));
}

// Returns the dtype of NumPy's mean and var for integers: float64, unless the caller asks for
// another.
DType averaging_dtype(DType array, std::optional<DType> dtype) {
  if (dtype) return *dtype;
  return is_floating(array) || is_complex(array) ? array : DType::float64;
}

Error without_identity(std::string_view name) {
  return value_error("empty_reduction", "zero-size array to reduction operation " +
                                            std::string(name) + " which has no identity");
}

}  // namespace

Result<KernelRef> ReductionCalls::kernel(const ReductionSpec& spec, Way way) {
  const std::uint64_t key = key_of(spec, static_cast<int>(way));
  if (const auto known = kernels_.find(key); known != kernels_.end()) return known->second;
  ir::Kernel made = way == Way::tree ? ops::make_reduction_kernel(spec)
                    : way == Way::scan
                        ? ops::make_scan_kernel(spec)
                        : ops::make_ordered_kernel(spec, way == Way::ordered_running);
  auto prepared = launcher_.prepare(std::move(made));
  if (prepared) kernels_.emplace(key, *prepared);
  return prepared;
}

Result<ReductionSpec> ReductionCalls::spec_of(const ReductionCall& call) const {
  ReductionSpec spec;
  spec.array = call.x->dtype;
  spec.where = call.where != nullptr;
  if (call.reduction) {
    const ops::Reduction& row = ops::reductions()[static_cast<std::size_t>(*call.reduction)];
    spec.form = row.form;
    spec.skips_nan = row.skips_nan;
    spec.root = row.root;
    if (!row.ufunc.empty()) spec.ufunc = &ufunc_named(row.ufunc);
  } else {
    spec.ufunc = &ops::table()[static_cast<std::size_t>(call.ufunc)];
  }
  std::optional<DType> out;
  if (call.out != nullptr) out = call.out->dtype;
  switch (spec.form) {
    case Form::fold: {
      TRY(const auto& loop, ops::fold_dtype(*spec.ufunc, spec.array, out, call.dtype));
      spec.loop = loop;
      spec.out = out.value_or(spec.loop);
      return spec;
    }
    case Form::count:
    case Form::place:
      spec.loop = spec.array;
      spec.out = out.value_or(DType::int64);
      return spec;
    case Form::range: {
      TRY(const auto& loop, ops::fold_dtype(ufunc_named("subtract"), spec.array, std::nullopt, {}));
      spec.loop = loop;
      spec.out = out.value_or(spec.loop);
      return spec;
    }
    case Form::mean:
      spec.loop = averaging_dtype(spec.array, call.dtype);
      spec.out = out.value_or(spec.loop);
      return spec;
    case Form::variance:
      spec.loop = averaging_dtype(spec.array, call.dtype);
      if (!is_floating(spec.loop) && !is_complex(spec.loop)) spec.loop = DType::float64;
      spec.out = out.value_or(is_complex(spec.loop) ? ir::real_of(spec.loop) : spec.loop);
      return spec;
  }
  return spec;
}

Result<Array> ReductionCalls::place(const Array* out, DType dtype, const Dims& shape) {
  if (out == nullptr) return launcher_.allocate(dtype, shape);
  TRY_DONE(Launcher::writable(*out));
  if (!(out->view.shape == shape))
    return value_error("out_shape", "The array passed as 'out' has shape " +
                                        shape_text(out->view.shape) + ", and the result " +
                                        shape_text(shape) + ".");
  return *out;
}

// Returns the value with which a total begins: the caller's number, or the identity if the kernel
// needs a value for elements that do not count. Otherwise nullopt.
Result<std::optional<ir::Scalar>> ReductionCalls::initial_of(const ReductionSpec& spec,
                                                             const ReductionCall& call) const {
  if (spec.form != Form::fold) return std::optional<ir::Scalar>();
  if (call.initial) {
    TRY(const auto& value, value_for(*call.initial, spec.loop));
    return std::optional(value);
  }
  std::optional<ir::Scalar> identity;
  if (call.has_identity) identity = ops::identity_of(*spec.ufunc, spec.loop);
  if (call.where != nullptr && !identity)
    return value_error("where_needs_initial",
                       "reduction operation '" + std::string(spec.ufunc->name) +
                           "' does not have an identity, so to use a where mask one has to "
                           "specify 'initial'");
  const bool ordered = !ops::reducible(*spec.ufunc).by_tree;
  return ordered && call.where != nullptr ? identity : std::optional<ir::Scalar>();
}

// Returns the result of a row without elements.
Result<ir::Scalar> ReductionCalls::of_nothing(const ReductionSpec& spec, const ReductionCall& call,
                                              std::optional<ir::Scalar> initial) const {
  switch (spec.form) {
    case Form::count:
      return ir::scalar_of(spec.out, 0.0);
    case Form::mean:
    case Form::variance:
      return ir::scalar_of(spec.out, std::numeric_limits<double>::quiet_NaN());
    case Form::range:
      return without_identity("maximum");
    case Form::place:
      return value_error(
          "empty_reduction",
          "attempt to get " +
              std::string(ops::reductions()[static_cast<std::size_t>(*call.reduction)].name) +
              " of an empty sequence");
    case Form::fold:
      break;
  }
  if (!initial && call.has_identity) initial = ops::identity_of(*spec.ufunc, spec.loop);
  if (!initial) return without_identity(spec.ufunc->name);
  return ir::visit(spec.loop, [&](auto zero) {
    return ir::scalar_of(spec.out, ir::get<decltype(zero)>(*initial));
  });
}

Result<std::optional<Array>> ReductionCalls::run(const ReductionCall& call) {
  const Dims& loop = call.x->view.shape;
  TRY(const auto& axes, axis_bits(call.axes, loop.size()));
  TRY(auto& spec, spec_of(call));
  const bool fold = spec.form == Form::fold;
  const bool ordered = fold && !ops::reducible(*spec.ufunc).by_tree;
  if (fold && !ops::reducible(*spec.ufunc).reorderable && (axes & (axes - 1)) != 0)
    return value_error("not_reorderable", "reduction operation '" + std::string(spec.ufunc->name) +
                                              "' is not reorderable, so at most one axis may be "
                                              "specified");
  TRY(const auto& initial, initial_of(spec, call));
  spec.initial = initial.has_value();

  Dims rows;
  Dims shown;
  for (int axis = 0; axis < loop.size(); ++axis) {
    const bool gone = (axes >> axis & 1U) != 0;
    if (!gone) rows.push_back(loop[axis]);
    if (!gone || call.keep_dims) shown.push_back(gone ? 1 : loop[axis]);
  }
  const bool nothing = !empty(rows) && length_of(loop, axes) == 0;
  ir::Scalar instead;
  if (nothing) {
    TRY(const auto& value, of_nothing(spec, call, initial));
    instead = value;
  }
  TRY(auto& result, place(call.out, spec.out, shown));
  Array target = result;
  if (call.keep_dims) target.view = without_axes(target.view, axes);
  Status done = Done{};
  if (nothing) {
    done = launcher_.fill(target, instead);
  } else if (!empty(rows)) {
    done = ordered ? reduce_in_order(spec, call, axes, initial, target)
                   : reduce(spec, call, axes, initial, target);
  }
  if (!done) return done.error();
  if (call.out != nullptr) return std::optional<Array>();
  return std::optional(std::move(result));
}

Status ReductionCalls::reduce(const ReductionSpec& spec, const ReductionCall& call,
                              std::uint32_t axes, std::optional<ir::Scalar> initial,
                              const Array& result) {
  const Dims& loop = call.x->view.shape;
  std::optional<Array> mean;
  if (spec.form == Form::variance) {
    // The mean has the type of the computation and keeps the reduced axes, so that it broadcasts to
    // every element.
    ReductionSpec first = spec;
    first.form = Form::mean;
    first.root = false;
    first.out = ops::computed_in(spec.loop);
    TRY(auto& made, launcher_.allocate(first.out, without_axes(call.x->view, axes).shape));
    TRY_DONE(reduce(first, call, axes, std::nullopt, made));
    made.view = with_axes(made.view, axes, loop.size());
    mean = std::move(made);
  }
  TRY(const auto& found, kernel(spec, Way::tree));
  std::vector<Operand> operands{{call.x, {}}};
  if (mean) operands.push_back({&*mean, {}});
  if (call.where != nullptr) operands.push_back({call.where, {}});
  if (initial) operands.push_back({nullptr, *initial});
  const ir::Kernel& made = launcher_.kernel(found);
  const auto number = [&](double value) {
    operands.push_back({nullptr, ir::scalar_of(made.params[operands.size()].dtype, value)});
  };
  if (spec.form == Form::mean || spec.form == Form::variance)
    number(static_cast<double>(length_of(loop, axes)));
  if (spec.form == Form::variance) number(call.less);
  operands.push_back({&result, {}});
  return launcher_.launch({found, loop, axes, operands});
}

Status ReductionCalls::reduce_in_order(ReductionSpec spec, const ReductionCall& call,
                                       std::uint32_t axes, std::optional<ir::Scalar> initial,
                                       const Array& result) {
  const View rows = rows_of(call.x->view, axes);
  View where;
  if (call.where != nullptr) {
    TRY(const auto& wide, broadcast_to(call.where->view, call.x->view.shape));
    where = rows_of(wide, axes);
  }
  const int first =
      result.view.ndim();  // the first reduced axis; without one, each row is one element
  const std::int64_t extent = first < rows.ndim() ? rows.shape[first] : 1;
  const std::int64_t most = extent_of_a_launch(rows, first, kSteps);
  const DType out = spec.out;
  std::optional<Array> so_far;
  for (std::int64_t begin = 0; begin < extent; begin += most) {
    const std::int64_t end = std::min(extent, begin + most);
    const auto part = [&](const View& view) { return part_of(view, first, begin, end); };
    spec.carried = so_far.has_value();
    spec.initial = initial.has_value() && !so_far;
    spec.out = end < extent ? spec.loop : out;
    TRY(const auto& found, kernel(spec, Way::ordered));
    Array target = result;
    if (end < extent) {
      TRY(auto& made, launcher_.allocate(spec.loop, result.view.shape));
      target = std::move(made);
    }
    const Array x{call.x->dtype, part(rows), call.x->storage};
    std::optional<Array> mask;
    std::vector<Operand> operands{{&x, {}}};
    if (call.where != nullptr) {
      mask = Array{DType::boolean, part(where), call.where->storage};
      operands.push_back({&*mask, {}});
    }
    if (so_far)
      operands.push_back({&*so_far, {}});
    else if (initial)
      operands.push_back({nullptr, *initial});
    const std::int64_t length = length_of(call.x->view.shape, axes) / extent * (end - begin);
    operands.push_back({nullptr, ir::scalar_of(DType::int32, length)});
    operands.push_back({&target, {}});
    TRY_DONE(launcher_.launch({found, result.view.shape, 0, operands}));
    so_far = std::move(target);
  }
  return Done{};
}

Status ReductionCalls::accumulate_in_order(ReductionSpec spec, const AccumulateCall& call,
                                           std::uint32_t axis, const Array& result) {
  const View rows = rows_of(call.x->view, axis);
  const int last = rows.ndim() - 1;
  const std::int64_t extent = rows.shape[last];
  // A long row needs separate memory for its totals in two cases. Either the result has another
  // type than the computation, whose type the totals must have. Or there is an `out`, which must
  // not be overwritten before all of the input was read.
  const bool apart = extent > kSteps && (call.out != nullptr || spec.out != spec.loop);
  Array totals = result;
  if (apart) {
    TRY(auto& made, launcher_.allocate(spec.loop, call.x->view.shape));
    totals = std::move(made);
    spec.out = spec.loop;
  }
  const View written = rows_of(totals.view, axis);
  Dims each;
  for (int k = 0; k < last; ++k) each.push_back(rows.shape[k]);
  for (std::int64_t begin = 0; begin < extent; begin += kSteps) {
    const std::int64_t end = std::min(extent, begin + kSteps);
    spec.carried = begin > 0;
    TRY(const auto& found, kernel(spec, Way::ordered_running));
    const Array x{spec.array, part_of(rows, last, begin, end), call.x->storage};
    const Array y{totals.dtype, part_of(written, last, begin, end), totals.storage};
    Array so_far{totals.dtype, written, totals.storage};
    std::vector<Operand> operands{{&x, {}}};
    if (spec.carried) {
      // The rows' totals after the previous launch, from which this launch continues.
      so_far.view = part_of(written, last, begin - 1, begin);
      so_far.view.shape.resize(last);
      so_far.view.strides.resize(last);
      operands.push_back({&so_far, {}});
    }
    operands.push_back({nullptr, ir::scalar_of(DType::int32, end - begin)});
    operands.push_back({&y, {}});
    TRY_DONE(launcher_.launch({found, each, 0, operands}));
  }
  return apart ? launcher_.assign(result, totals) : Status(Done{});
}

Result<std::optional<Array>> ReductionCalls::run(const AccumulateCall& call) {
  const View& view = call.x->view;
  TRY(const auto& axes, axis_bits(Dims{call.axis}, view.ndim()));
  ReductionSpec spec;
  spec.ufunc = &ops::table()[static_cast<std::size_t>(call.ufunc)];
  spec.array = call.x->dtype;
  spec.skips_nan = call.skips_nan;
  std::optional<DType> out;
  if (call.out != nullptr) out = call.out->dtype;
  TRY(const auto& loop, ops::fold_dtype(*spec.ufunc, spec.array, out, call.dtype));
  spec.loop = loop;
  spec.out = out.value_or(spec.loop);
  TRY(auto& result, place(call.out, spec.out, view.shape));
  const bool ordered = !ops::reducible(*spec.ufunc).by_tree;
  if (!empty(view.shape)) {
    Status done = Done{};
    if (ordered) {
      done = accumulate_in_order(spec, call, axes, result);
    } else {
      TRY(const auto& found, kernel(spec, Way::scan));
      const std::array<Operand, 2> operands{Operand{call.x, {}}, Operand{&result, {}}};
      done = launcher_.launch({found, view.shape, axes, operands});
    }
    if (!done) return done.error();
  }
  if (call.out != nullptr) return std::optional<Array>();
  return std::optional(std::move(result));
}

}  // namespace arraycore
