// Views from views without moving an element: broadcasting and the reordering, adding and removing
// of axes. Results, limits and error texts are NumPy's. Pure; any thread.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "view/view.h"

namespace arraycore {

// The common shape of operands. Error: value, "shapes_do_not_broadcast" or "array_too_big".
Result<Dims> broadcast_shapes(std::span<const Dims> shapes);

// As np.broadcast_to: axes are added in front, extents of 1 are repeated by stride 0.
// Error: value, "shapes_do_not_broadcast", "negative_dimension" or "array_too_big".
Result<View> broadcast_to(const View& view, const Dims& shape);

// The source of `target[...] = source`: broadcast_to, after extents of 1 in front that the target
// has no axis for are dropped. Error: value, "shapes_do_not_broadcast".
Result<View> broadcast_for_assignment(const View& source, const Dims& target);

// Axes may be negative. Error: value, "axis_out_of_bounds", "repeated_axis" or "bad_axes".
View transpose(const View& view);  // all axes reversed
Result<View> transpose(const View& view, std::span<const std::int64_t> axes);
Result<View> swap_axes(const View& view, std::int64_t axis1, std::int64_t axis2);
Result<View> move_axes(const View& view, std::span<const std::int64_t> source,
                       std::span<const std::int64_t> destination);

View flip(const View& view);  // along every axis
Result<View> flip(const View& view, std::span<const std::int64_t> axes);

View squeeze(const View& view);  // every axis of extent 1
Result<View> squeeze(const View& view,
                     std::span<const std::int64_t> axes);  // also "cannot_squeeze"
// `axes` count in the result. Error also: value, "too_many_dimensions".
Result<View> expand_dims(const View& view, std::span<const std::int64_t> axes);

// As np.diagonal: the diagonal becomes the last axis. Writable, unlike NumPy's.
Result<View> diagonal(const View& view, std::int64_t offset, std::int64_t axis1,
                      std::int64_t axis2);

}  // namespace arraycore
