#include "operations/indexing/index_views.h"

#include <string>
#include <utility>

#include "runtime/launcher.h"
#include "view/messages.h"

namespace arraycore {

DType bits_of(DType dtype) {
  switch (size_of(dtype)) {
    case 1:
      return DType::uint8;
    case 2:
      return DType::uint16;
    case 4:
      return DType::uint32;
    case 8:
      return DType::uint64;
    default:
      return dtype;
  }
}

Array with_view(const Array& array, View view, DType dtype) {
  return {dtype, std::move(view), array.storage};
}

View padded(View view, int axes) {
  for (int i = 0; i < axes; ++i) {
    view.shape.push_back(1);
    view.strides.push_back(0);
  }
  return view;
}

View tail(const View& view, int first) {
  View rest;
  rest.offset = view.offset;
  for (int axis = first; axis < view.ndim(); ++axis) {
    rest.shape.push_back(view.shape[axis]);
    rest.strides.push_back(view.strides[axis]);
  }
  return rest;
}

Error value_shape(const Dims& value, const Dims& result) {
  return value_error("shapes_do_not_broadcast", "shape mismatch: value array of shape " +
                                                    shape_text(value) +
                                                    " could not be broadcast to indexing result "
                                                    "of shape " +
                                                    shape_text(result));
}

Status writable(const Array& array) {
  return array.view.count() == 0 ? Status(Done{}) : Launcher::writable(array);
}

}  // namespace arraycore
