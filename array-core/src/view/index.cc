#include "view/index.h"

#include <algorithm>
#include <limits>
#include <string>

#include "view/messages.h"

namespace arraycore {
namespace {

Error out_of_bounds(std::int64_t position, int axis, std::int64_t extent) {
  return index_error("index_out_of_bounds",
                     "index " + std::to_string(position) + " is out of bounds for axis " +
                         std::to_string(axis) + " with size " + std::to_string(extent));
}

// Returns how many axes an ellipsis stands for, and checks that the tuple fits the view.
Result<int> ellipsis_length(const View& view, std::span<const Index> indices) {
  std::int64_t used = 0;
  std::int64_t made = 0;
  int ellipses = 0;
  for (const Index& index : indices) {
    switch (index.kind) {
      case Index::Kind::integer:
        ++used;
        break;
      case Index::Kind::slice:
        ++used, ++made;
        break;
      case Index::Kind::newaxis:
        ++made;
        break;
      case Index::Kind::ellipsis:
        ++ellipses;
        break;
    }
  }
  if (ellipses > 1)
    return index_error("many_ellipses", "an index can only have a single ellipsis ('...')");
  const std::int64_t rest = view.ndim() - used;
  if (rest < 0)
    return index_error("too_many_indices", "too many indices for array: array is " +
                                               std::to_string(view.ndim()) + "-dimensional, but " +
                                               std::to_string(used) + " were indexed");
  if (made + rest > kMaxDims)
    return index_error("too_many_dimensions",
                       "number of dimensions must be within [0, " + std::to_string(kMaxDims) +
                           "], indexing result would have " + std::to_string(made + rest));
  return static_cast<int>(rest);
}

}  // namespace

SliceRange slice_range(std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                       std::optional<std::int64_t> step, std::int64_t extent) {
  // As in Python, a step is at least -(2^63 - 1), because -2^63 cannot be negated.
  const std::int64_t by = std::max(step.value_or(1), -std::numeric_limits<std::int64_t>::max());
  const std::int64_t lowest = by < 0 ? -1 : 0;
  const std::int64_t highest = by < 0 ? extent - 1 : extent;
  const auto bound = [&](std::int64_t position) {
    if (position < 0) position += extent;
    return std::clamp(position, lowest, highest);
  };
  const std::int64_t from = start ? bound(*start) : (by < 0 ? highest : lowest);
  const std::int64_t to = stop ? bound(*stop) : (by < 0 ? lowest : highest);
  std::int64_t count = 0;
  if (by < 0 && to < from) count = (from - to - 1) / -by + 1;
  if (by > 0 && from < to) count = (to - from - 1) / by + 1;
  if (count == 0)
    return {0, 1, 0};  // as in NumPy, where an empty view begins where its parent begins
  return {from, by, count};
}

Result<View> basic_index(const View& view, std::span<const Index> indices) {
  const auto rest = ellipsis_length(view, indices);
  if (!rest.ok()) return rest.error();
  View result{{}, {}, view.offset};
  int axis = 0;
  const auto keep = [&](int count) {
    for (; count > 0; --count, ++axis) {
      result.shape.push_back(view.shape[axis]);
      result.strides.push_back(view.strides[axis]);
    }
  };
  // If the view has no elements, an integer or slice must not move the offset out of the storage.
  const bool empty = view.count() == 0;
  for (const Index& index : indices) {
    switch (index.kind) {
      case Index::Kind::ellipsis:
        keep(*rest);
        break;
      case Index::Kind::newaxis:
        result.shape.push_back(1);
        result.strides.push_back(0);
        break;
      case Index::Kind::integer: {
        const std::int64_t extent = view.shape[axis];
        const std::int64_t given = index.start.value_or(0);
        if (given < -extent || given >= extent) return out_of_bounds(given, axis, extent);
        const std::int64_t position = given < 0 ? given + extent : given;
        if (position > 0 && !empty) result.offset += position * view.strides[axis];
        ++axis;
        break;
      }
      case Index::Kind::slice: {
        if (index.step == 0) return value_error("zero_step", "slice step cannot be zero");
        const SliceRange range = slice_range(index.start, index.stop, index.step, view.shape[axis]);
        if (range.start > 0 && !empty) result.offset += range.start * view.strides[axis];
        result.shape.push_back(range.count);
        // With at most one element the step may be any number, and its product with the stride
        // could overflow.
        result.strides.push_back(range.count > 1 && !empty ? view.strides[axis] * range.step
                                                           : view.strides[axis]);
        ++axis;
        break;
      }
    }
  }
  keep(view.ndim() - axis);
  return result;
}

}  // namespace arraycore
