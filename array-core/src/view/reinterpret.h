// The same bytes as elements of another dtype: `view(dtype)`, and the parts of complex numbers.
// Pure; any thread.
#pragma once

#include "base/result.h"
#include "dtype/dtype.h"
#include "view/view.h"

namespace arraycore {

// Does what ndarray.view(dtype) does. Where the sizes differ, the last axis must be dense, and its
// extent changes. Error: value, "cannot_reinterpret".
Result<View> reinterpret(const View& view, DType from, DType to);

// Returns the dtype of a complex dtype's parts, and a real dtype unchanged.
DType part_dtype(DType dtype);

// Returns ndarray.real. For a real dtype it is the view itself.
View real_part(const View& view, DType dtype);
// Returns ndarray.imag. REQUIRES: is_complex(dtype). For a real dtype NumPy gives new zeros, which
// no view can be.
View imag_part(const View& view, DType dtype);

}  // namespace arraycore
