// Copies elements one after the other, and converts each with the IR's own conversion. The probe
// uses these functions where the library would launch a kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "ir/value.h"
#include "view/view.h"

namespace arraycore::probe {

inline void cast_element(DType from, const std::byte* src, DType to, std::byte* dst) {
  if (from == to) return static_cast<void>(std::memmove(dst, src, size_of(to)));
  ir::Scalar scalar;
  std::memcpy(&scalar, src, size_of(from));
  scalar = ir::visit(from,
                     [&](auto zero) { return ir::scalar_of(to, ir::get<decltype(zero)>(scalar)); });
  std::memcpy(dst, &scalar, size_of(to));
}

// Returns the byte offsets of a view's elements in C order.
inline std::vector<std::int64_t> offsets_of(const View& view) {
  std::vector<std::int64_t> offsets;
  if (view.count() > 0) offsets.push_back(view.offset);
  for (int axis = 0; axis < view.ndim() && !offsets.empty(); ++axis) {
    std::vector<std::int64_t> longer;
    for (const std::int64_t offset : offsets)
      for (std::int64_t i = 0; i < view.shape[axis]; ++i)
        longer.push_back(offset + i * view.strides[axis]);
    offsets = std::move(longer);
  }
  return offsets;
}

// Assigns `src` to `dst[...]`, as if the source were copied first. REQUIRES: equal shapes.
inline void cast_view(std::byte* dst, const View& dst_view, DType to, const std::byte* src,
                      const View& src_view, DType from) {
  std::vector<std::byte> cast(static_cast<std::size_t>(src_view.count()) * size_of(to));
  std::byte* next = cast.data();
  for (const std::int64_t offset : offsets_of(src_view)) {
    cast_element(from, src + offset, to, next);
    next += size_of(to);
  }
  const std::byte* taken = cast.data();
  for (const std::int64_t offset : offsets_of(dst_view)) {
    std::memcpy(dst + offset, taken, size_of(to));
    taken += size_of(to);
  }
}

}  // namespace arraycore::probe
