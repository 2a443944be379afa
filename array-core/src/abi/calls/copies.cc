#include "abi/calls/copies.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "abi/calls/functions.h"
#include "view/shape.h"

namespace arraycore::calls {

namespace {

// ---- copies

// Returns the axes, sorted from the largest stride to the smallest. Axes of equal strides are in C
// order.
std::vector<std::int64_t> axes_by_stride(const View& view) {
  std::vector<std::int64_t> axes;
  for (int axis = 0; axis < view.ndim(); ++axis) axes.push_back(axis);
  std::stable_sort(axes.begin(), axes.end(), [&](std::int64_t a, std::int64_t b) {
    return std::abs(view.strides[static_cast<int>(a)]) >
           std::abs(view.strides[static_cast<int>(b)]);
  });
  return axes;
}

// Returns the order of the axes in a copy's memory, from the slowest to the fastest.
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

// Returns the part of the array that `items` select, as a view.
Result<Array> indexed(const Array& array, const std::vector<Index>& items) {
  if (items.empty()) return array;
  TRY(auto& view, basic_index(array.view, items));
  return Array{array.dtype, std::move(view), array.storage};
}

// ---- scalars

// Rounds towards zero, as Python's int() does. A float beyond 64 bits fits no integer dtype.
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

// Returns the integer as an element of `dtype`. `nearest` is the float64 nearest to the integer.
Result<ir::Scalar> element_of_int(const PythonInt& integer, double nearest, DType dtype) {
  if (!is_integer(dtype)) return ir::scalar_of(dtype, nearest);
  TRY_DONE(check_fits(integer, dtype));
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
      TRY(const auto& integer, integer_of(real));
      return element_of_int(integer, real, dtype);
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

Result<Array> copy(Context& context, const Array& x, std::optional<DType> dtype, Order order) {
  const std::vector<std::int64_t> axes = axes_of_copy(x, order);
  TRY(const auto& turned, transpose(x.view, axes));
  TRY(auto& made,
      context.launcher().copy(Array{x.dtype, turned, x.storage}, dtype.value_or(x.dtype)));
  std::vector<std::int64_t> back(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i)
    back[static_cast<std::size_t>(axes[i])] = static_cast<std::int64_t>(i);
  TRY(const auto& view, transpose(made.view, back));
  made.view = view;
  return std::move(made);
}

Status assign(Context& context, const Array& target, const Array& source,
              const std::vector<Index>& items) {
  TRY(const auto& part, indexed(target, items));
  TRY(auto& view, broadcast_for_assignment(source.view, part.view.shape));
  // `a[i] += b` ends by assigning a view to itself, which needs no work.
  const bool is_itself =
      source.storage == part.storage && source.dtype == part.dtype && view == part.view;
  if (part.view.count() == 0 || is_itself) return Done{};
  return context.launcher().assign(part, Array{source.dtype, std::move(view), source.storage});
}

Status fill(Context& context, const Array& target, const UFuncOperand& value,
            const std::vector<Index>& items) {
  TRY(const auto& part, indexed(target, items));
  TRY(const auto& element, element_of(value, part.dtype));
  if (part.view.count() == 0) return Done{};
  return context.launcher().fill(part, element);
}

}  // namespace arraycore::calls
