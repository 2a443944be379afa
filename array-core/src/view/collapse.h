// Fewer axes, in a better order, for a loop over several operands. Pure; any thread.
#pragma once

#include <cstdint>
#include <span>

#include "view/view.h"

namespace arraycore {

enum class AxisOrder : std::uint8_t {
  keep,  // the loop visits elements in C order of the given shape
  // the order is free: axes are sorted by stride, the smallest of the first view innermost, then
  // those of the second view, and so on; an axis is reversed where no view runs forwards along it
  any,
};

// Brings all views to one common shape with as few axes as they allow. Axes of extent 1 are
// removed, and neighbouring axes that every view walks evenly become one. Without elements the
// shape becomes (0,); a single element has no axis. REQUIRES: equal shapes.
void collapse(std::span<View> views, AxisOrder order);

}  // namespace arraycore
