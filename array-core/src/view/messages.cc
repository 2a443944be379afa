#include "view/messages.h"

#include <utility>

namespace arraycore {

std::string shape_text(const Dims& shape) {
  int first = 0;
  while (first < shape.size() && shape[first] < 0) ++first;
  if (first == shape.size()) return "()";
  std::string text(1, '(');
  text += std::to_string(shape[first]);
  for (int i = first + 1; i < shape.size(); ++i) {
    text += ',';
    text += shape[i] < 0 ? std::string("newaxis") : std::to_string(shape[i]);
  }
  text += shape.size() == 1 ? ",)" : ")";
  return text;
}

Error value_error(std::string_view code, std::string message) {
  return Error{ErrorKind::value, std::string(code), std::move(message)};
}

Error index_error(std::string_view code, std::string message) {
  return Error{ErrorKind::index, std::string(code), std::move(message)};
}

Result<int> normalize_axis(std::int64_t axis, int ndim, std::string_view what) {
  if (axis < -ndim || axis >= ndim)
    return value_error("axis_out_of_bounds", std::string(what) + "axis " + std::to_string(axis) +
                                                 " is out of bounds for array of dimension " +
                                                 std::to_string(ndim));
  return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

}  // namespace arraycore
