// Helpers on views and arrays for the calls of indexing (index_call.cc, index_write.cc). Pure; any
// thread.
#pragma once

#include "base/result.h"
#include "dtype/dtype.h"
#include "runtime/array_table.h"
#include "view/view.h"

namespace arraycore {

// Returns the unsigned dtype of the same size, or complex128 for complex128. Elements that are not
// converted move as integers, because a device's floats may lose a NaN's payload.
DType bits_of(DType dtype);

Array with_view(const Array& array, View view, DType dtype);

// Returns the view with `axes` axes of extent 1 appended.
View padded(View view, int axes);

// Returns a view with only the axes from `first` on.
View tail(const View& view, int first);

// Returns NumPy's error that a value does not broadcast to what a key picks.
Error value_shape(const Dims& value, const Dims& result);

// Checks that an array may be written. A view without elements may always be written, whatever its
// strides. Error: value, "read_only".
Status writable(const Array& array);

}  // namespace arraycore
