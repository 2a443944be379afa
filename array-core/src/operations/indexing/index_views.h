// Views and arrays that the calls of indexing are put together from. For index_call.cc and
// index_write.cc. Pure; any thread.
#pragma once

#include "base/result.h"
#include "dtype/dtype.h"
#include "runtime/array_table.h"
#include "view/view.h"

namespace arraycore {

// Unsigned numbers of a dtype's size, itself for complex128: bits for bits, where nothing is
// converted, since a device's floats may lose a NaN's payload.
DType bits_of(DType dtype);

Array with_view(const Array& array, View view, DType dtype);

// As many axes of extent 1 behind a view.
View padded(View view, int axes);

// The axes of a view from `first` on.
View tail(const View& view, int first);

// That a value does not broadcast to what a key picks, in NumPy's words.
Error value_shape(const Dims& value, const Dims& result);

// Whether an array may be written: strides of what has no elements say nothing.
// Error: value, "read_only".
Status writable(const Array& array);

}  // namespace arraycore
