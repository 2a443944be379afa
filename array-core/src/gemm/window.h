// Reads the data of a convolution as a matrix, without a copy. A window of the kernel's size moves
// over the data. Each element of the window is a term, and each position of the window is a column.
// For the gradient of the weights, elements are columns and positions are terms. Pure; any thread.
#pragma once

#include <array>
#include <cstdint>

namespace arraycore::gemm {

inline constexpr int kWindowAxes = 3;

// One spatial axis. At column `c` and term `t` the window reads the element of `b` at position `c *
// column_step + t * term_step + origin`, or 0 if the position is outside [0, extent).
struct WindowAxis {
  std::int64_t columns = 1;
  std::int64_t terms = 1;
  std::int64_t column_step = 0;
  std::int64_t term_step = 0;
  std::int64_t origin = 0;
  std::int64_t extent = 1;
  std::int64_t b_stride = 0;    // elements
  std::int64_t out_stride = 0;  // elements from one column to the next
};

// The spatial axes are the last `used` ones of `axes`. The others have one column and one term.
struct Window {
  std::array<WindowAxis, kWindowAxes> axes;
  int used = kWindowAxes;  // at least 1

  std::int64_t columns() const { return axes[0].columns * axes[1].columns * axes[2].columns; }
  std::int64_t terms() const { return axes[0].terms * axes[1].terms * axes[2].terms; }
};

}  // namespace arraycore::gemm
