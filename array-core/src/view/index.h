// Basic indexing, `view[3, ::-2, np.newaxis, ...]`, by NumPy's rules. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "view/view.h"

namespace arraycore {

// One item of the tuple between the brackets. The caller clamps Python ints to 64 bits. That
// changes no slice, and an integer that is out of bounds stays out of bounds.
struct Index {
  enum class Kind : std::uint8_t { integer, slice, newaxis, ellipsis };

  static Index at(std::int64_t position) {
    Index index{Kind::integer, {}, {}, {}};
    index.start = position;
    return index;
  }
  static Index slice(std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                     std::optional<std::int64_t> step = {}) {
    return {Kind::slice, start, stop, step};
  }
  static Index newaxis() { return {Kind::newaxis, {}, {}, {}}; }
  static Index ellipsis() { return {Kind::ellipsis, {}, {}, {}}; }

  Kind kind = Kind::ellipsis;
  std::optional<std::int64_t> start;  // for an integer, its position
  std::optional<std::int64_t> stop;
  std::optional<std::int64_t> step;
};

// Errors: index, "index_out_of_bounds", "too_many_indices", "many_ellipses" or
// "too_many_dimensions"; value, "zero_step".
Result<View> basic_index(const View& view, std::span<const Index> indices);

// A slice of an axis: `count` elements at start, start + step, and so on, as slice.indices()
// computes them.
struct SliceRange {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
  bool operator==(const SliceRange&) const = default;
};
// REQUIRES: step is not 0.
SliceRange slice_range(std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                       std::optional<std::int64_t> step, std::int64_t extent);

}  // namespace arraycore
