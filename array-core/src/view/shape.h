// Makes views from views without moving an element: broadcasts, and reorders, adds and removes
// axes. Results, limits and error texts are NumPy's. Pure; any thread.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "view/view.h"

namespace arraycore {

// Returns the common shape of operands. Error: value, "shapes_do_not_broadcast" or "array_too_big".
Result<Dims> broadcast_shapes(std::span<const Dims> shapes);

// Does what np.broadcast_to does: adds axes in front, and repeats extents of 1 by stride 0. Error:
// value, "shapes_do_not_broadcast", "negative_dimension" or "array_too_big".
Result<View> broadcast_to(const View& view, const Dims& shape);

// Returns the source of `target[...] = source` as a view of the target's shape. It first drops axes
// of extent 1 at the front that the target does not have, then broadcasts. Error: value,
// "shapes_do_not_broadcast".
Result<View> broadcast_for_assignment(const View& source, const Dims& target);

// Axes may be negative. Errors of these functions: value, "axis_out_of_bounds", "repeated_axis" or
// "bad_axes".
View transpose(const View& view);  // reverses all axes
Result<View> transpose(const View& view, std::span<const std::int64_t> axes);
Result<View> swap_axes(const View& view, std::int64_t axis1, std::int64_t axis2);
Result<View> move_axes(const View& view, std::span<const std::int64_t> source,
                       std::span<const std::int64_t> destination);

View flip(const View& view);  // along every axis
Result<View> flip(const View& view, std::span<const std::int64_t> axes);

View squeeze(const View& view);  // removes every axis of extent 1
Result<View> squeeze(const View& view,
                     std::span<const std::int64_t> axes);  // may also fail with "cannot_squeeze"
// `axes` are positions in the result. Another error is possible: value, "too_many_dimensions".
Result<View> expand_dims(const View& view, std::span<const std::int64_t> axes);

// Does what np.diagonal does: the diagonal becomes the last axis. The view is writable, unlike
// NumPy's.
Result<View> diagonal(const View& view, std::int64_t offset, std::int64_t axis1,
                      std::int64_t axis2);

}  // namespace arraycore
