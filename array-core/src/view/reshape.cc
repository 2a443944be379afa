#include "view/reshape.h"

#include <string>

#include "view/messages.h"
#include "view/shape.h"

namespace arraycore {
namespace {

Error mismatch(const View& view, std::span<const std::int64_t> shape) {
  return value_error("cannot_reshape", "cannot reshape array of size " +
                                           std::to_string(view.count()) + " into shape " +
                                           shape_text(Dims(shape)));
}

// Returns the strides of `shape` over the elements of `view` in C order, if strides can express it.
// The axes of both are cut into the shortest groups with equal products, and the view must step
// evenly within each group. REQUIRES: the same number of elements, at least one.
std::optional<Dims> strides_without_copy(const View& view, const Dims& shape,
                                         std::size_t item_size) {
  const View old = squeeze(view);  // axes of extent 1 do not matter
  Dims strides;
  strides.resize(shape.size());
  int old_begin = 0;
  int new_begin = 0;
  while (new_begin < shape.size() && old_begin < old.ndim()) {
    int old_end = old_begin + 1;
    int new_end = new_begin + 1;
    std::int64_t old_product = old.shape[old_begin];
    std::int64_t new_product = shape[new_begin];
    while (old_product != new_product) {
      if (new_product < old_product)
        new_product *= shape[new_end++];
      else
        old_product *= old.shape[old_end++];
    }
    for (int axis = old_begin; axis + 1 < old_end; ++axis)
      if (old.strides[axis] != old.shape[axis + 1] * old.strides[axis + 1]) return std::nullopt;
    strides[new_end - 1] = old.strides[old_end - 1];
    for (int axis = new_end - 1; axis > new_begin; --axis)
      strides[axis - 1] = strides[axis] * shape[axis];
    old_begin = old_end;
    new_begin = new_end;
  }
  const std::int64_t last =
      new_begin > 0 ? strides[new_begin - 1] : static_cast<std::int64_t>(item_size);
  for (int axis = new_begin; axis < shape.size(); ++axis) strides[axis] = last;
  return strides;
}

View contiguous_at(const Dims& shape, std::size_t item_size, std::int64_t offset) {
  View view = contiguous(shape, item_size);
  view.offset = offset;
  return view;
}

}  // namespace

Result<Reshaped> reshape(const View& view, std::span<const std::int64_t> shape,
                         std::size_t item_size) {
  if (shape.size() > static_cast<std::size_t>(kMaxDims))
    return value_error("too_many_dimensions", "maximum supported dimension for an ndarray is " +
                                                  std::to_string(kMaxDims) + ", found " +
                                                  std::to_string(shape.size()));
  const std::int64_t count = view.count();
  std::int64_t known = 1;
  int unknown = -1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0) {
      if (unknown >= 0)
        return value_error("many_unknown_extents", "can only specify one unknown dimension");
      unknown = static_cast<int>(i);
    } else if (__builtin_mul_overflow(known, shape[i], &known)) {
      return mismatch(view, shape);
    }
  }
  Dims result(shape);
  if (unknown >= 0) {
    if (known == 0 || count % known != 0) return mismatch(view, shape);
    result[unknown] = count / known;
  } else if (known != count) {
    return mismatch(view, shape);
  }
  // An extent of 0 may hide that the product of the other extents overflows.
  if (const auto checked = checked_count(result); !checked.ok()) return checked.error();

  if (result == view.shape) return Reshaped{result, view};
  if (is_c_contiguous(view, item_size))
    return Reshaped{result, contiguous_at(result, item_size, view.offset)};
  const auto strides = strides_without_copy(view, result, item_size);
  if (!strides) return Reshaped{result, std::nullopt};
  return Reshaped{result, View{result, *strides, view.offset}};
}

Reshaped ravel(const View& view, std::size_t item_size) {
  const Dims shape{view.count()};
  if (!is_c_contiguous(view, item_size)) return {shape, std::nullopt};
  return {shape, contiguous_at(shape, item_size, view.offset)};
}

}  // namespace arraycore
