// Views the same bytes as elements of another dtype: `view(dtype)`, and the parts of complex
// numbers. Pure; any thread.
#pragma once

#include "base/result.h"
#include "dtype/dtype.h"
#include "view/view.h"

namespace arraycore {

// Does what ndarray.view(dtype) does. If the sizes differ, the last axis must be dense, and its
// extent changes. Error: value, "cannot_reinterpret".
Result<View> reinterpret(const View& view, DType from, DType to);

// Returns the dtype of a complex dtype's parts; a real dtype stays the same.
DType part_dtype(DType dtype);

// Returns ndarray.real. For a real dtype it is the view itself.
View real_part(const View& view, DType dtype);
// Returns ndarray.imag. REQUIRES: is_complex(dtype). For a real dtype NumPy returns new zeros,
// which cannot be a view.
View imag_part(const View& view, DType dtype);

}  // namespace arraycore
