#include "view/copy.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <string>

#include "dtype/cast.h"
#include "view/collapse.h"
#include "view/overlap.h"

namespace arraycore {
namespace {

struct Bytes16 {
  std::uint64_t low, high;
};

// A plane of rows x columns elements. Either side may stride through memory, so the copy goes by
// square tiles that stay in the first cache.
struct Plane {
  std::int64_t rows, columns;
  std::int64_t dst_row, dst_column;  // strides
  std::int64_t src_row, src_column;
};

template <typename Item>
void copy_plane_items(std::byte* dst, const std::byte* src, const Plane& plane) {
  constexpr std::int64_t kSide = sizeof(Item) > 4 ? 16 : 32;
  for (std::int64_t row = 0; row < plane.rows; row += kSide) {
    const std::int64_t row_end = std::min(row + kSide, plane.rows);
    for (std::int64_t column = 0; column < plane.columns; column += kSide) {
      const std::int64_t column_end = std::min(column + kSide, plane.columns);
      for (std::int64_t i = row; i < row_end; ++i) {
        for (std::int64_t j = column; j < column_end; ++j) {
          Item item;
          std::memcpy(&item, src + i * plane.src_row + j * plane.src_column, sizeof(Item));
          std::memcpy(dst + i * plane.dst_row + j * plane.dst_column, &item, sizeof(Item));
        }
      }
    }
  }
}

void copy_plane(std::byte* dst, const std::byte* src, const Plane& plane, std::size_t item_size) {
  switch (item_size) {
    case 1:
      return copy_plane_items<std::uint8_t>(dst, src, plane);
    case 2:
      return copy_plane_items<std::uint16_t>(dst, src, plane);
    case 4:
      return copy_plane_items<std::uint32_t>(dst, src, plane);
    case 8:
      return copy_plane_items<std::uint64_t>(dst, src, plane);
    default:
      return copy_plane_items<Bytes16>(dst, src, plane);
  }
}

std::int64_t magnitude(std::int64_t stride) { return stride < 0 ? -stride : stride; }

// Two collapsed views that are walked together.
struct Pair {
  View dst;
  View src;

  int ndim() const { return dst.ndim(); }
  std::int64_t extent(int axis) const { return dst.shape[axis]; }
};

// Returns the axis to tile with the innermost one: the source's fastest axis, unless that is the
// innermost. -1: none.
int tile_axis(const Pair& pair) {
  const int inner = pair.ndim() - 1;
  int best = -1;
  std::int64_t smallest = magnitude(pair.src.strides[inner]);
  for (int axis = 0; axis < inner; ++axis) {
    const std::int64_t stride = magnitude(pair.src.strides[axis]);
    if (stride == 0 || stride >= smallest) continue;
    smallest = stride;
    best = axis;
  }
  return best;
}

// Calls body(dst_offset, src_offset) for each position along all axes except the innermost one and
// `tiled`.
template <typename Body>
void for_each_outer(const Pair& pair, int tiled, const Body& body) {
  std::array<std::int64_t, kMaxDims> index{};
  std::int64_t dst = pair.dst.offset;
  std::int64_t src = pair.src.offset;
  while (true) {
    body(dst, src);
    int axis = pair.ndim() - 2;
    for (; axis >= 0; --axis) {
      if (axis == tiled) continue;
      std::int64_t& at = index[static_cast<std::size_t>(axis)];
      if (++at < pair.extent(axis)) {
        dst += pair.dst.strides[axis];
        src += pair.src.strides[axis];
        break;
      }
      at = 0;
      dst -= (pair.extent(axis) - 1) * pair.dst.strides[axis];
      src -= (pair.extent(axis) - 1) * pair.src.strides[axis];
    }
    if (axis < 0) return;
  }
}

Pair collapsed(const View& dst_view, const View& src_view) {
  std::array<View, 2> views{dst_view, src_view};
  collapse(views, AxisOrder::any);
  for (View& view : views) {
    if (view.ndim() > 0) continue;
    view.shape.push_back(1);
    view.strides.push_back(0);
  }
  return {views[0], views[1]};
}

void copy_disjoint(std::byte* dst, const View& dst_view, const std::byte* src, const View& src_view,
                   std::size_t item_size) {
  const Pair pair = collapsed(dst_view, src_view);
  const int inner = pair.ndim() - 1;
  const int tiled = tile_axis(pair);
  const std::int64_t columns = pair.extent(inner);
  const std::int64_t dst_stride = pair.dst.strides[inner];
  const std::int64_t src_stride = pair.src.strides[inner];
  if (tiled < 0) {
    for_each_outer(pair, -1, [&](std::int64_t to, std::int64_t from) {
      copy_elements(item_size, src + from, src_stride, dst + to, dst_stride, columns);
    });
    return;
  }
  const Plane plane{pair.extent(tiled),      columns,   pair.dst.strides[tiled], dst_stride,
                    pair.src.strides[tiled], src_stride};
  for_each_outer(pair, tiled, [&](std::int64_t to, std::int64_t from) {
    copy_plane(dst + to, src + from, plane, item_size);
  });
}

void cast_disjoint(std::byte* dst, const View& dst_view, DType to, const std::byte* src,
                   const View& src_view, DType from) {
  const Pair pair = collapsed(dst_view, src_view);
  const int inner = pair.ndim() - 1;
  for_each_outer(pair, -1, [&](std::int64_t dst_offset, std::int64_t src_offset) {
    cast_elements(from, src + src_offset, pair.src.strides[inner], to, dst + dst_offset,
                  pair.dst.strides[inner], pair.extent(inner));
  });
}

// Returns the source as a view of the target's storage, so that the two can be compared.
View seen_from(const std::byte* dst, const std::byte* src, const View& src_view) {
  View view = src_view;
  // Each address is widened first, because WebAssembly's have 32 bits.
  view.offset += static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(src)) -
                 static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(dst));
  return view;
}

// A dense copy of a view. It serves as the source where the target would overwrite the source.
class Temporary {
 public:
  Status fill(const std::byte* src, const View& src_view, std::size_t item_size) {
    view_ = contiguous(src_view.shape, item_size);
    const std::int64_t bytes = src_view.count() * static_cast<std::int64_t>(item_size);
    // A broadcast source may have more bytes than any memory.
    if (bytes <= std::numeric_limits<std::ptrdiff_t>::max())
      bytes_.reset(new (std::nothrow) std::byte[static_cast<std::size_t>(bytes)]);
    if (bytes_ == nullptr)
      return Error{ErrorKind::memory, "out_of_host_memory",
                   "no memory for the " + std::to_string(bytes) +
                       " bytes that copying between overlapping views takes"};
    copy_disjoint(bytes_.get(), view_, src, src_view, item_size);
    return Done{};
  }
  const std::byte* bytes() const { return bytes_.get(); }
  const View& view() const { return view_; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  View view_;
};

}  // namespace

Status copy_view(std::byte* dst, const View& dst_view, const std::byte* src, const View& src_view,
                 std::size_t item_size) {
  if (dst_view.count() == 0) return Done{};
  const View source = seen_from(dst, src, src_view);
  switch (overlap(dst_view, item_size, source, item_size)) {
    case Overlap::same:
      return Done{};
    case Overlap::disjoint:
      break;
    case Overlap::partial: {
      Temporary temporary;
      if (Status filled = temporary.fill(src, src_view, item_size); !filled.ok()) return filled;
      copy_disjoint(dst, dst_view, temporary.bytes(), temporary.view(), item_size);
      return Done{};
    }
  }
  copy_disjoint(dst, dst_view, src, src_view, item_size);
  return Done{};
}

Status cast_view(std::byte* dst, const View& dst_view, DType to, const std::byte* src,
                 const View& src_view, DType from) {
  if (from == to) return copy_view(dst, dst_view, src, src_view, size_of(from));
  if (dst_view.count() == 0) return Done{};
  const View source = seen_from(dst, src, src_view);
  if (overlap(dst_view, size_of(to), source, size_of(from)) == Overlap::disjoint) {
    cast_disjoint(dst, dst_view, to, src, src_view, from);
    return Done{};
  }
  Temporary temporary;
  if (Status filled = temporary.fill(src, src_view, size_of(from)); !filled.ok()) return filled;
  cast_disjoint(dst, dst_view, to, temporary.bytes(), temporary.view(), from);
  return Done{};
}

}  // namespace arraycore
