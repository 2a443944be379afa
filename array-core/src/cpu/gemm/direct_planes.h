// Channels of data with zeros around them, for convolutions without unfolding. Rows are
// consecutive. The zeros after a row are also the zeros before the next row. Internal to cpu/; any
// thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "gemm/window.h"

namespace arraycore::cpu {

// The elements that a convolution reads along one axis: origin + i + j * step for all i < places
// and j < others. One of i and j is the number of the column, the other one that of the term. All
// these elements are between first() and last().
struct ReadRange {
  std::int64_t places = 1;
  std::int64_t others = 1;
  std::int64_t step = 0;
  std::int64_t origin = 0;
  std::int64_t extent = 1;

  std::int64_t span() const { return (others - 1) * step; }
  std::int64_t first() const { return origin + std::min<std::int64_t>(0, span()); }
  std::int64_t last() const { return places - 1 + origin + std::max<std::int64_t>(0, span()); }
};

class Planes {
 public:
  Planes(const ReadRange& y, const ReadRange& x) : y_(y), x_(x) {
    gap_ = std::max<std::int64_t>({0, -x.first(), x.last() - (x.extent - 1)});
    row_ = x.extent + gap_;
    rows_ = y.last() - y.first() + 1;
  }

  std::int64_t row() const { return row_; }                      // elements from row to row
  std::int64_t size() const { return rows_ * row_ + 2 * gap_; }  // elements of a channel
  // Returns the position of the element that the first column reads with the first term.
  std::int64_t origin() const { return gap_ + (y_.origin - y_.first()) * row_ + x_.origin; }

  // Copies a channel. `from` is its element (0, 0); the elements of a row are consecutive.
  template <typename T>
  void fill(const T* from, std::int64_t y_stride, T* to) const {
    std::fill_n(to, size(), T{});
    const std::int64_t first = std::max<std::int64_t>(0, y_.first());
    const std::int64_t end = std::min(y_.extent, y_.last() + 1);
    for (std::int64_t y = first; y < end; ++y)
      std::memcpy(to + gap_ + (y - y_.first()) * row_, from + y * y_stride,
                  static_cast<std::size_t>(x_.extent) * sizeof(T));
  }

 private:
  ReadRange y_;
  ReadRange x_;
  std::int64_t gap_ = 0;
  std::int64_t row_ = 0;
  std::int64_t rows_ = 0;
};

}  // namespace arraycore::cpu
