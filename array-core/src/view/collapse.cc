#include "view/collapse.h"

#include <utility>

namespace arraycore {
namespace {

void drop_axes_of_extent_one(std::span<View> views) {
  const Dims shape = views[0].shape;
  for (View& view : views) {
    int kept = 0;
    for (int axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] == 1) continue;
      view.shape[kept] = shape[axis];
      view.strides[kept] = view.strides[axis];
      ++kept;
    }
    view.shape.resize(kept);
    view.strides.resize(kept);
  }
}

void turn_backward_axes(std::span<View> views) {
  for (int axis = 0; axis < views[0].ndim(); ++axis) {
    bool forward = false;
    for (const View& view : views) forward = forward || view.strides[axis] > 0;
    if (forward) continue;
    for (View& view : views) {
      view.offset += (view.shape[axis] - 1) * view.strides[axis];
      view.strides[axis] = -view.strides[axis];
    }
  }
}

// Returns whether the loop over `axis` belongs outside the loop over `other`.
bool is_outer(std::span<const View> views, int axis, int other) {
  const auto size = [](std::int64_t stride) { return stride < 0 ? -stride : stride; };
  for (const View& view : views) {
    const std::int64_t a = size(view.strides[axis]);
    const std::int64_t b = size(view.strides[other]);
    if (a != b) return a > b;
  }
  return false;
}

void sort_axes(std::span<View> views) {
  for (int end = 1; end < views[0].ndim(); ++end) {
    for (int axis = end; axis > 0 && is_outer(views, axis, axis - 1); --axis) {
      for (View& view : views) {
        std::swap(view.shape[axis], view.shape[axis - 1]);
        std::swap(view.strides[axis], view.strides[axis - 1]);
      }
    }
  }
}

void merge_neighbours(std::span<View> views) {
  int kept = 0;
  for (int axis = 1; axis < views[0].ndim(); ++axis) {
    const std::int64_t extent = views[0].shape[axis];
    bool merges = true;
    for (const View& view : views)
      merges = merges && view.strides[kept] == extent * view.strides[axis];
    if (!merges) ++kept;
    for (View& view : views) {
      view.shape[kept] = merges ? view.shape[kept] * extent : extent;
      view.strides[kept] = view.strides[axis];
    }
  }
  for (View& view : views) {
    if (view.ndim() == 0) continue;
    view.shape.resize(kept + 1);
    view.strides.resize(kept + 1);
  }
}

}  // namespace

void collapse(std::span<View> views, AxisOrder order) {
  if (views.empty()) return;
  if (views[0].count() == 0) {
    for (View& view : views) view = {{0}, {0}, view.offset};
    return;
  }
  drop_axes_of_extent_one(views);
  if (order == AxisOrder::any) {
    turn_backward_axes(views);
    sort_axes(views);
  }
  merge_neighbours(views);
}

}  // namespace arraycore
