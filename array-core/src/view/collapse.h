// Reduces and reorders the axes of a loop over several operands. Pure; any thread.
#pragma once

#include <cstdint>
#include <span>

#include "view/view.h"

namespace arraycore {

enum class AxisOrder : std::uint8_t {
  keep,  // the loop visits elements in C order of the given shape
  // The loop may visit elements in any order. Axes are sorted by the strides of the first view, the
  // smallest innermost, then by those of the second view, and so on. An axis is reversed if no view
  // has a positive stride there.
  any,
};

// Brings all views to one common shape with as few axes as they allow. Axes of extent 1 are
// removed, and neighbouring axes that every view walks evenly become one. Without elements the
// shape becomes (0,); a single element has no axis. REQUIRES: equal shapes.
void collapse(std::span<View> views, AxisOrder order);

}  // namespace arraycore
