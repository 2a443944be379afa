// Makes the errors of the view functions, in NumPy's words. Only for the files of this folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "view/view.h"

namespace arraycore {

// Returns a text such as "(2,3)", "(4,)" or "()". A negative extent means that it is unknown: it is
// written "newaxis", and left out at the front.
std::string shape_text(const Dims& shape);

Error value_error(std::string_view code, std::string message);
Error index_error(std::string_view code, std::string message);

// Returns an axis in [-ndim, ndim) as one in [0, ndim). `what` is put before the message, such as
// "axis1: ". Error: value, "axis_out_of_bounds".
Result<int> normalize_axis(std::int64_t axis, int ndim, std::string_view what = "");

}  // namespace arraycore
