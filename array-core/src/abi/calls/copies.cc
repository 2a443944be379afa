#include "abi/calls/copies.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "abi/calls/calls.h"
#include "abi/calls/ufuncs.h"
#include "abi/calls/views.h"
#include "arraycore/arraycore.h"
#include "view/shape.h"

namespace arraycore::calls {

namespace {

enum class Order : std::uint8_t { c = 0, f = 1, any = 2, keep = 3 };

// ---- copies

// Returns the axes from the largest stride to the smallest, in C order where strides are equal.
std::vector<std::int64_t> axes_by_stride(const View& view) {
  std::vector<std::int64_t> axes;
  for (int axis = 0; axis < view.ndim(); ++axis) axes.push_back(axis);
  std::stable_sort(axes.begin(), axes.end(), [&](std::int64_t a, std::int64_t b) {
    return std::abs(view.strides[static_cast<int>(a)]) >
           std::abs(view.strides[static_cast<int>(b)]);
  });
  return axes;
}

// Returns the axes of a copy from the slowest to the fastest.
std::vector<std::int64_t> axes_of_copy(const Array& array, Order order) {
  const std::size_t size = size_of(array.dtype);
  const bool c = is_c_contiguous(array.view, size);
  if (order == Order::keep && !c) return axes_by_stride(array.view);
  const bool f =
      order == Order::f || (order == Order::any && !c && is_f_contiguous(array.view, size));
  std::vector<std::int64_t> axes;
  for (int axis = 0; axis < array.view.ndim(); ++axis) axes.push_back(axis);
  if (f) std::reverse(axes.begin(), axes.end());
  return axes;
}

Result<Array> copied(Launcher& launcher, const Array& array, DType dtype, Order order) {
  const std::vector<std::int64_t> axes = axes_of_copy(array, order);
  const auto turned = transpose(array.view, axes);
  if (!turned) return turned.error();
  auto made = launcher.copy(Array{array.dtype, *turned, array.storage}, dtype);
  if (!made) return made;
  std::vector<std::int64_t> back(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i)
    back[static_cast<std::size_t>(axes[i])] = static_cast<std::int64_t>(i);
  const auto view = transpose(made->view, back);
  if (!view) return view.error();
  made->view = *view;
  return made;
}

Result<std::int32_t> copy(Context& context, Words& words) {
  const ArrayId id = words.next();
  const std::int32_t number = words.below(static_cast<std::int32_t>(kDTypes) + 1);
  const auto order = static_cast<Order>(words.below(4));
  const Status end = words.end();
  if (!end) return end.error();
  const auto array = context.get(id);
  if (!array) return array.error();
  const DType dtype = number == 0 ? (*array)->dtype : static_cast<DType>(number - 1);
  auto made = copied(context.launcher(), **array, dtype, order);
  if (!made) return made.error();
  return context.insert(std::move(*made));
}

// ---- assignments

Result<std::int32_t> assign(Context& context, Words& words) {
  const ArrayId target_id = words.next();
  const ArrayId source_id = words.next();
  const std::vector<Index> items = read_items(words);
  const Status end = words.end();
  if (!end) return end.error();
  const auto source = context.get(source_id);
  if (!source) return source.error();
  const auto target = indexed(context, target_id, items);
  if (!target) return target.error();
  auto view = broadcast_for_assignment((*source)->view, target->view.shape);
  if (!view) return view.error();
  // `a[i] += b` ends with an assignment of what was already written in place.
  const bool is_itself = (*source)->storage == target->storage &&
                         (*source)->dtype == target->dtype && *view == target->view;
  if (target->view.count() == 0 || is_itself) return 0;
  const Status assigned = context.launcher().assign(
      *target, Array{(*source)->dtype, std::move(*view), (*source)->storage});
  if (!assigned) return assigned.error();
  return 0;
}

Result<std::int32_t> fill(Context& context, Words& words) {
  const ArrayId id = words.next();
  const UFuncOperand scalar = read_scalar(words, words.next());
  const std::vector<Index> items = read_items(words);
  const Status end = words.end();
  if (!end) return end.error();
  const auto target = indexed(context, id, items);
  if (!target) return target.error();
  const auto value = element_of(scalar, target->dtype);
  if (!value) return value.error();
  if (target->view.count() == 0) return 0;
  const Status filled = context.launcher().fill(*target, *value);
  if (!filled) return filled.error();
  return 0;
}

// ---- scalars

// Rounds towards zero, as Python's int(). A float beyond 64 bits fits no integer dtype.
Result<PythonInt> integer_of(double value) {
  if (std::isnan(value))
    return Error{ErrorKind::value, "nan_to_integer", "cannot convert float NaN to integer"};
  if (std::isinf(value))
    return Error{ErrorKind::value, "scalar_out_of_bounds",
                 "cannot convert float infinity to integer"};
  const double magnitude = std::trunc(std::abs(value));
  if (magnitude >= 0x1p64) return PythonInt{value < 0, 0, true};
  return PythonInt{value < 0, static_cast<std::uint64_t>(magnitude), false};
}

// `nearest` is the integer as a float64.
Result<ir::Scalar> element_of_int(const PythonInt& integer, double nearest, DType dtype) {
  if (!is_integer(dtype)) return ir::scalar_of(dtype, nearest);
  const Status fits = check_fits(integer, dtype);
  if (!fits) return fits.error();
  if (!integer.negative) return ir::scalar_of(dtype, integer.magnitude);
  return ir::scalar_of(dtype, static_cast<std::int64_t>(0 - integer.magnitude));
}

}  // namespace

Result<ir::Scalar> element_of(const UFuncOperand& scalar, DType dtype) {
  if (!scalar.python) {
    return ir::visit(scalar.dtype, [&](auto zero) {
      return ir::scalar_of(dtype, ir::get<decltype(zero)>(scalar.value));
    });
  }
  const double real = ir::get<double>(scalar.value);
  switch (*scalar.python) {
    case PythonScalar::integer:
      return element_of_int(scalar.integer, real, dtype);
    case PythonScalar::floating: {
      if (!is_integer(dtype)) return ir::scalar_of(dtype, real);
      const auto integer = integer_of(real);
      if (!integer) return integer.error();
      return element_of_int(*integer, real, dtype);
    }
    case PythonScalar::complex:
      break;
  }
  if (!is_complex(dtype) && dtype != DType::boolean)
    return Error{
        ErrorKind::type, "complex_to_real",
        "a complex number cannot be assigned to an array of " + std::string(name_of(dtype))};
  return ir::scalar_of(dtype, ir::get<ir::Complex<double>>(scalar.value));
}

Call find_copy_call(std::int32_t operation) {
  switch (operation) {
    case AC_CALL_COPY:
      return copy;
    case AC_CALL_ASSIGN:
      return assign;
    case AC_CALL_FILL:
      return fill;
    default:
      return nullptr;
  }
}

}  // namespace arraycore::calls
