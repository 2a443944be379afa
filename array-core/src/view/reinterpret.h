// The same bytes as another dtype: `view(dtype)`, and the parts of complex numbers. Pure; any
// thread.
#pragma once

#include "base/result.h"
#include "dtype/dtype.h"
#include "view/view.h"

namespace arraycore {

// As ndarray.view(dtype): where the sizes differ, the last axis is dense and its extent changes.
// Error: value, "cannot_reinterpret".
Result<View> reinterpret(const View& view, DType from, DType to);

// The dtype of a complex dtype's parts; a real dtype is its own.
DType part_dtype(DType dtype);

// ndarray.real: of a real dtype the view itself.
View real_part(const View& view, DType dtype);
// ndarray.imag. REQUIRES: is_complex(dtype); of a real dtype NumPy gives new zeros, which no view
// is.
View imag_part(const View& view, DType dtype);

}  // namespace arraycore
