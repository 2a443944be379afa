// The axes that a reduction takes away: as bits, and views without and with them. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "view/view.h"

namespace arraycore {

// Bit k: axis k. No axes are all; negative ones count from the end. Error: value,
// "axis_out_of_bounds", "repeated_axis".
Result<std::uint32_t> axis_bits(const std::optional<Dims>& axes, int ndim);

// The view without the axes of `bits`, each of extent 1.
View without_axes(const View& view, std::uint32_t bits);
// The view of `ndim` axes with one of extent 1 for each of `bits`.
View with_axes(const View& view, std::uint32_t bits, int ndim);

}  // namespace arraycore
