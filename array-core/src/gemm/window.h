// How a convolution reads its data as a matrix: each place of a small window is a term, each place
// that the window is put to a column (or the other way round), and nothing is copied. Pure; any
// thread.
#pragma once

#include <array>
#include <cstdint>

namespace arraycore::gemm {

inline constexpr int kWindowAxes = 3;

// One axis of space. At column `c` and term `t` of it the window looks at b's element
// `c * column_step + t * term_step + origin`, which is nothing outside [0, extent).
struct WindowAxis {
  std::int64_t columns = 1;
  std::int64_t terms = 1;
  std::int64_t column_step = 0;
  std::int64_t term_step = 0;
  std::int64_t origin = 0;
  std::int64_t extent = 1;
  std::int64_t b_stride = 0;    // elements
  std::int64_t out_stride = 0;  // elements from a column to the next
};

// The last axes are those that there are; what is missing in front has one column and one term.
struct Window {
  std::array<WindowAxis, kWindowAxes> axes;
  int used = kWindowAxes;  // at least 1

  std::int64_t columns() const { return axes[0].columns * axes[1].columns * axes[2].columns; }
  std::int64_t terms() const { return axes[0].terms * axes[1].terms * axes[2].terms; }
};

}  // namespace arraycore::gemm
