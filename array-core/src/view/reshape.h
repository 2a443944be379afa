// reshape and ravel: a view where NumPy makes one, else the news that a copy is needed. Pure; any
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "view/view.h"

namespace arraycore {

struct Reshaped {
  Dims shape;                // what was asked for, with the unknown extent filled in
  std::optional<View> view;  // without it: copy to contiguous(shape, item_size), in C order
};

// C order. One extent may be negative: found out. Error: value, "cannot_reshape",
// "many_unknown_extents" or "too_many_dimensions".
Result<Reshaped> reshape(const View& view, std::span<const std::int64_t> shape,
                         std::size_t item_size);

// One axis in C order. As np.ravel a view only of what is C-contiguous.
Reshaped ravel(const View& view, std::size_t item_size);

}  // namespace arraycore
