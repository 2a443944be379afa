// Implements reshape and ravel: they return a view where NumPy does, otherwise a note that a copy
// is needed. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "view/view.h"

namespace arraycore {

struct Reshaped {
  Dims shape;  // the requested shape, with the unknown extent filled in
  // If this is nullopt, the caller must copy to contiguous(shape, item_size), in C order.
  std::optional<View> view;
};

// Reshapes in C order. One extent may be negative; it is then computed. Error: value,
// "cannot_reshape", "many_unknown_extents" or "too_many_dimensions".
Result<Reshaped> reshape(const View& view, std::span<const std::int64_t> shape,
                         std::size_t item_size);

// Flattens in C order. As in np.ravel, the result is a view only if the array is C-contiguous.
Reshaped ravel(const View& view, std::size_t item_size);

}  // namespace arraycore
