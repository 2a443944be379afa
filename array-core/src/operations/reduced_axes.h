// Encodes, as the bits of a number, which axes a reduction removes, and removes these axes from
// views. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "view/view.h"

namespace arraycore {

// Returns the axes as bits (bit k: axis k); nullopt stands for all axes. Negative axes count from
// the end. Error: value, "axis_out_of_bounds", "repeated_axis".
Result<std::uint32_t> axis_bits(const std::optional<Dims>& axes, int ndim);

// Returns the view without the axes of `bits`, each of which has the extent 1.
View without_axes(const View& view, std::uint32_t bits);
// Returns a view of `ndim` axes, with an axis of extent 1 for each bit that is set in `bits`.
View with_axes(const View& view, std::uint32_t bits, int ndim);

}  // namespace arraycore
