// Errors of the view functions, in NumPy's words. For this folder's own files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "view/view.h"

namespace arraycore {

// "(2,3)", "(4,)", "()"; a negative extent is one to be found out: "newaxis", left out in front.
std::string shape_text(const Dims& shape);

Error value_error(std::string_view code, std::string message);
Error index_error(std::string_view code, std::string message);

// An axis in [-ndim, ndim) as one in [0, ndim). `what` names the argument: "axis1: ".
// Error: value, "axis_out_of_bounds".
Result<int> normalize_axis(std::int64_t axis, int ndim, std::string_view what = "");

}  // namespace arraycore
