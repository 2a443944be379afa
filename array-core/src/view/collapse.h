// Fewer and better axes for a loop over several operands. Pure; any thread.
#pragma once

#include <cstdint>
#include <span>

#include "view/view.h"

namespace arraycore {

enum class AxisOrder : std::uint8_t {
  keep,  // the loop visits elements in C order of the given shape
  any,   // the order is free: axes are sorted (the first view's smallest stride innermost, then the
         // second's, ...) and turned where every view runs backwards or stands still
};

// Brings all views to one common shape of as few axes as they allow: axes of extent 1 go,
// neighbours that every view walks evenly become one. Without elements the shape becomes (0,); a
// single element has no axis. REQUIRES: equal shapes.
void collapse(std::span<View> views, AxisOrder order);

}  // namespace arraycore
