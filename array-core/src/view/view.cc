#include "view/view.h"

#include <string>

#include "view/messages.h"

namespace arraycore {
namespace {

// Returns whether the elements have no gaps between them: the stride of each axis is the item size
// times the extents of all faster axes. Axes of extent 1 do not matter.
bool is_contiguous(const View& view, std::size_t item_size, bool c_order) {
  auto expected = static_cast<std::int64_t>(item_size);
  bool dense = true;
  for (int i = 0; i < view.ndim(); ++i) {
    const int axis = c_order ? view.ndim() - 1 - i : i;
    const std::int64_t extent = view.shape[axis];
    if (extent == 0) return true;
    if (extent == 1) continue;
    // The loop continues after a mismatch, because an extent of 0 may follow, which makes the view
    // contiguous.
    if (view.strides[axis] != expected) dense = false;
    expected *= extent;
  }
  return dense;
}

}  // namespace

View contiguous(const Dims& shape, std::size_t item_size) {
  View view{shape, shape, 0};
  auto stride = static_cast<std::int64_t>(item_size);
  for (int axis = shape.size() - 1; axis >= 0; --axis) {
    view.strides[axis] = stride;
    if (shape[axis] != 0) stride *= shape[axis];
  }
  return view;
}

bool is_c_contiguous(const View& view, std::size_t item_size) {
  return is_contiguous(view, item_size, true);
}

bool is_f_contiguous(const View& view, std::size_t item_size) {
  return is_contiguous(view, item_size, false);
}

Result<std::int64_t> checked_count(const Dims& shape) {
  std::int64_t count = 1;
  bool empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) return value_error("negative_dimension", "negative dimensions are not allowed");
    if (extent == 0) {
      empty = true;
    } else if (extent > kMaxCount / count) {
      return value_error("array_too_big",
                         "array is too big; `arr.size * arr.dtype.itemsize` is larger than the "
                         "maximum possible size.");
    } else {
      count *= extent;
    }
  }
  return empty ? 0 : count;
}

Result<std::int64_t> checked_bytes(const Dims& shape, std::size_t item_size) {
  auto count = checked_count(shape);
  if (count.ok()) *count *= static_cast<std::int64_t>(item_size);
  return count;
}

ByteExtent byte_extent(const View& view, std::size_t item_size) {
  if (view.count() == 0) return {view.offset, view.offset};
  std::int64_t begin = view.offset;
  std::int64_t end = view.offset + static_cast<std::int64_t>(item_size);
  for (int axis = 0; axis < view.ndim(); ++axis) {
    if (view.shape[axis] == 1) continue;
    const std::int64_t reach = (view.shape[axis] - 1) * view.strides[axis];
    (reach < 0 ? begin : end) += reach;
  }
  return {begin, end};
}

Status check_view(const View& view, std::size_t item_size, std::int64_t storage_bytes) {
  const auto bad = [](const char* why) { return value_error("bad_view", why); };
  if (view.strides.size() != view.shape.size()) return bad("a view needs one stride for each axis");
  const auto count = checked_count(view.shape);
  if (!count.ok()) return count.error();
  if (storage_bytes < 0 || storage_bytes > kMaxBytes) return bad("a storage of such a size");
  if (view.offset < 0 || view.offset > storage_bytes)
    return bad("a view starts outside of its storage");
  if (*count == 0) return Done{};
  std::int64_t begin = view.offset;
  std::int64_t end = 0;
  bool fits = !__builtin_add_overflow(view.offset, static_cast<std::int64_t>(item_size), &end);
  for (int axis = 0; axis < view.ndim() && fits; ++axis) {
    if (view.shape[axis] == 1) continue;
    std::int64_t reach = 0;
    fits = !__builtin_mul_overflow(view.shape[axis] - 1, view.strides[axis], &reach);
    if (!fits) break;
    std::int64_t& side = reach < 0 ? begin : end;
    fits = !__builtin_add_overflow(side, reach, &side);
  }
  if (!fits || begin < 0 || end > storage_bytes)
    return bad("a view reaches outside of its storage");
  return Done{};
}

}  // namespace arraycore
