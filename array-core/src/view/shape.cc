#include "view/shape.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "view/messages.h"

namespace arraycore {
namespace {

// A set of axes of one view.
class AxisSet {
 public:
  bool insert(int axis) { return !std::exchange(has_[static_cast<std::size_t>(axis)], true); }
  bool contains(int axis) const { return has_[static_cast<std::size_t>(axis)]; }

 private:
  std::array<bool, kMaxDims> has_{};
};

Result<AxisSet> axis_set(std::span<const std::int64_t> axes, int ndim, const char* repeated) {
  AxisSet set;
  for (const std::int64_t axis : axes) {
    const auto normal = normalize_axis(axis, ndim);
    if (!normal.ok()) return normal.error();
    if (!set.insert(*normal)) return value_error("repeated_axis", repeated);
  }
  return set;
}

Error does_not_broadcast(std::string text) {
  return value_error("shapes_do_not_broadcast", std::move(text));
}

void flip_axis(View& view, int axis) {
  const std::int64_t extent = view.shape[axis];
  if (extent < 2 || view.count() == 0) return;  // such axes may have any stride
  view.offset += (extent - 1) * view.strides[axis];
  view.strides[axis] = -view.strides[axis];
}

// Returns `view` with a shape to which it broadcasts. Axes along which it repeats get stride 0.
View broadcast_strides(const View& view, const Dims& shape) {
  View result{shape, Dims(), view.offset};
  result.strides.resize(shape.size());
  const int added = shape.size() - view.ndim();
  for (int axis = 0; axis < view.ndim(); ++axis)
    result.strides[axis + added] = view.shape[axis] == 1 ? 0 : view.strides[axis];
  return result;
}

bool broadcasts(const Dims& from, const Dims& to) {
  const int added = to.size() - from.size();
  if (added < 0) return false;
  for (int axis = 0; axis < from.size(); ++axis)
    if (from[axis] != 1 && from[axis] != to[axis + added]) return false;
  return true;
}

View permuted(const View& view, const std::array<int, kMaxDims>& order) {
  View result = view;
  for (int i = 0; i < view.ndim(); ++i) {
    result.shape[i] = view.shape[order[static_cast<std::size_t>(i)]];
    result.strides[i] = view.strides[order[static_cast<std::size_t>(i)]];
  }
  return result;
}

}  // namespace

Result<Dims> broadcast_shapes(std::span<const Dims> shapes) {
  int ndim = 0;
  for (const Dims& shape : shapes) ndim = std::max(ndim, shape.size());
  Dims result;
  result.resize(ndim, 1);
  for (const Dims& shape : shapes) {
    const int added = ndim - shape.size();
    for (int axis = 0; axis < shape.size(); ++axis) {
      std::int64_t& extent = result[axis + added];
      if (shape[axis] == 1 || shape[axis] == extent) continue;
      if (extent == 1) {
        extent = shape[axis];
        continue;
      }
      std::string text = "operands could not be broadcast together with shapes";
      for (const Dims& each : shapes) {
        text += ' ';
        text += shape_text(each);
      }
      return does_not_broadcast(std::move(text));
    }
  }
  const auto count = checked_count(result);
  if (!count.ok()) return count.error();
  return result;
}

Result<View> broadcast_to(const View& view, const Dims& shape) {
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t extent) { return extent < 0; }))
    return value_error("negative_dimension",
                       "all elements of broadcast shape must be non-negative");
  const auto count = checked_count(shape);
  if (!count.ok()) return count.error();
  if (broadcasts(view.shape, shape)) return broadcast_strides(view, shape);
  if (shape.empty()) return does_not_broadcast("cannot broadcast a non-scalar to a scalar array");
  if (view.ndim() > shape.size())
    return does_not_broadcast(
        "input operand has more dimensions than allowed by the axis remapping");
  return does_not_broadcast(
      "operands could not be broadcast together with remapped shapes [original->remapped]: " +
      shape_text(view.shape) + "  and requested shape " + shape_text(shape));
}

Result<View> broadcast_for_assignment(const View& source, const Dims& target) {
  View trimmed = source;
  int extra = 0;
  while (source.ndim() - extra > target.size() && source.shape[extra] == 1) ++extra;
  if (extra > 0) {
    trimmed.shape = Dims(std::span(source.shape.begin() + extra, source.shape.end()));
    trimmed.strides = Dims(std::span(source.strides.begin() + extra, source.strides.end()));
  }
  if (broadcasts(trimmed.shape, target)) return broadcast_strides(trimmed, target);
  return does_not_broadcast("could not broadcast input array from shape " +
                            shape_text(source.shape) + " into shape " + shape_text(target));
}

View transpose(const View& view) {
  View result = view;
  std::reverse(result.shape.begin(), result.shape.end());
  std::reverse(result.strides.begin(), result.strides.end());
  return result;
}

Result<View> transpose(const View& view, std::span<const std::int64_t> axes) {
  if (axes.size() != static_cast<std::size_t>(view.ndim()))
    return value_error("bad_axes", "axes don't match array");
  AxisSet seen;
  std::array<int, kMaxDims> order{};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = normalize_axis(axes[i], view.ndim());
    if (!axis.ok()) return axis.error();
    if (!seen.insert(*axis)) return value_error("repeated_axis", "repeated axis in transpose");
    order[i] = *axis;
  }
  return permuted(view, order);
}

Result<View> swap_axes(const View& view, std::int64_t axis1, std::int64_t axis2) {
  const auto first = normalize_axis(axis1, view.ndim(), "axis1: ");
  if (!first.ok()) return first.error();
  const auto second = normalize_axis(axis2, view.ndim(), "axis2: ");
  if (!second.ok()) return second.error();
  View result = view;
  std::swap(result.shape[*first], result.shape[*second]);
  std::swap(result.strides[*first], result.strides[*second]);
  return result;
}

Result<View> move_axes(const View& view, std::span<const std::int64_t> source,
                       std::span<const std::int64_t> destination) {
  // The source axis of each axis of the result; -1 while it is not known.
  std::array<int, kMaxDims> order{};
  order.fill(-1);
  std::array<int, kMaxDims> from{};
  AxisSet moved;
  AxisSet taken;
  // As NumPy does, this checks all sources first, then all destinations, and then that there are as
  // many of both.
  for (std::size_t i = 0; i < source.size(); ++i) {
    const auto axis = normalize_axis(source[i], view.ndim(), "source: ");
    if (!axis.ok()) return axis.error();
    if (!moved.insert(*axis))
      return value_error("repeated_axis", "repeated axis in `source` argument");
    from[i] = *axis;
  }
  for (std::size_t i = 0; i < destination.size(); ++i) {
    const auto axis = normalize_axis(destination[i], view.ndim(), "destination: ");
    if (!axis.ok()) return axis.error();
    if (!taken.insert(*axis))
      return value_error("repeated_axis", "repeated axis in `destination` argument");
    order[static_cast<std::size_t>(*axis)] = from[i];
  }
  if (source.size() != destination.size())
    return value_error(
        "bad_axes", "`source` and `destination` arguments must have the same number of elements");
  int next = 0;
  for (int i = 0; i < view.ndim(); ++i) {
    if (taken.contains(i)) continue;
    while (moved.contains(next)) ++next;
    order[static_cast<std::size_t>(i)] = next++;
  }
  return permuted(view, order);
}

View flip(const View& view) {
  View result = view;
  for (int axis = 0; axis < view.ndim(); ++axis) flip_axis(result, axis);
  return result;
}

Result<View> flip(const View& view, std::span<const std::int64_t> axes) {
  const auto chosen = axis_set(axes, view.ndim(), "repeated axis");
  if (!chosen.ok()) return chosen.error();
  View result = view;
  for (int axis = 0; axis < view.ndim(); ++axis)
    if (chosen->contains(axis)) flip_axis(result, axis);
  return result;
}

View squeeze(const View& view) {
  View result{{}, {}, view.offset};
  for (int axis = 0; axis < view.ndim(); ++axis) {
    if (view.shape[axis] == 1) continue;
    result.shape.push_back(view.shape[axis]);
    result.strides.push_back(view.strides[axis]);
  }
  return result;
}

Result<View> squeeze(const View& view, std::span<const std::int64_t> axes) {
  const auto chosen = axis_set(axes, view.ndim(), "duplicate value in 'axis'");
  if (!chosen.ok()) return chosen.error();
  View result{{}, {}, view.offset};
  for (int axis = 0; axis < view.ndim(); ++axis) {
    if (chosen->contains(axis)) {
      if (view.shape[axis] == 1) continue;
      return value_error("cannot_squeeze",
                         "cannot select an axis to squeeze out which has size not equal to one");
    }
    result.shape.push_back(view.shape[axis]);
    result.strides.push_back(view.strides[axis]);
  }
  return result;
}

Result<View> expand_dims(const View& view, std::span<const std::int64_t> axes) {
  if (axes.size() > static_cast<std::size_t>(kMaxDims - view.ndim()))
    return value_error("too_many_dimensions",
                       "maximum supported dimension for an ndarray is " + std::to_string(kMaxDims));
  const int ndim = view.ndim() + static_cast<int>(axes.size());
  const auto added = axis_set(axes, ndim, "repeated axis");
  if (!added.ok()) return added.error();
  View result{{}, {}, view.offset};
  int next = 0;
  for (int axis = 0; axis < ndim; ++axis) {
    const bool is_new = added->contains(axis);
    result.shape.push_back(is_new ? 1 : view.shape[next]);
    result.strides.push_back(is_new ? 0 : view.strides[next]);
    if (!is_new) ++next;
  }
  return result;
}

Result<View> diagonal(const View& view, std::int64_t offset, std::int64_t axis1,
                      std::int64_t axis2) {
  if (view.ndim() < 2)
    return value_error("bad_axes", "diag requires an array of at least two dimensions");
  const auto first = normalize_axis(axis1, view.ndim(), "axis1: ");
  if (!first.ok()) return first.error();
  const auto second = normalize_axis(axis2, view.ndim(), "axis2: ");
  if (!second.ok()) return second.error();
  if (*first == *second) return value_error("repeated_axis", "axis1 and axis2 cannot be the same");

  // The diagonal starts at element `skipped` of the axis `along` and at element 0 of `other`.
  const int along = offset >= 0 ? *second : *first;
  const int other = offset >= 0 ? *first : *second;
  const std::int64_t extent = view.shape[along];
  // The comparison does not negate `offset`, because the lowest offset has no negative.
  const bool inside = offset >= 0 ? offset < extent : offset > -extent;
  const std::int64_t skipped = inside ? (offset >= 0 ? offset : -offset) : 0;
  View result{{}, {}, view.offset};
  for (int axis = 0; axis < view.ndim(); ++axis) {
    if (axis == *first || axis == *second) continue;
    result.shape.push_back(view.shape[axis]);
    result.strides.push_back(view.strides[axis]);
  }
  const std::int64_t length = inside ? std::min(extent - skipped, view.shape[other]) : 0;
  // An axis with fewer than two elements may have any stride.
  const bool empty = view.count() == 0;
  if (skipped > 0 && !empty) result.offset += skipped * view.strides[along];
  result.shape.push_back(length);
  result.strides.push_back(length > 1 && !empty ? view.strides[*first] + view.strides[*second] : 0);
  return result;
}

}  // namespace arraycore
