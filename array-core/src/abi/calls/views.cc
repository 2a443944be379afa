// Operations on views that need more than one function of src/view. Python's thread only.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "abi/calls/functions.h"
#include "view/reinterpret.h"
#include "view/reshape.h"
#include "view/shape.h"

namespace arraycore::calls {

namespace {

bool is_contiguous(const Array& array, Order order) {
  const std::size_t size = size_of(array.dtype);
  return order == Order::c ? is_c_contiguous(array.view, size) : is_f_contiguous(array.view, size);
}

Order resolved(const Array& array, Order order) {
  if (order != Order::any) return order;
  const bool only_f = is_contiguous(array, Order::f) && !is_contiguous(array, Order::c);
  return only_f ? Order::f : Order::c;
}

// Returns `array` in the new shape. For F order, it reshapes the transposed array in C order.
Result<Array> reshaped(Context& context, const Array& array, ReshapeMode mode, Order order,
                       std::vector<std::int64_t> shape) {
  const std::size_t size = size_of(array.dtype);
  // Errors show the shape as the caller gave it.
  TRY_DONE(reshape(array.view, shape, size));
  Array source{array.dtype, array.view, array.storage};
  if (order == Order::f) {
    source.view = transpose(source.view);
    std::reverse(shape.begin(), shape.end());
  }
  TRY(const auto& result, reshape(source.view, shape, size));
  const bool dense = is_c_contiguous(source.view, size);
  const bool as_view =
      result.view && mode != ReshapeMode::copy && (mode != ReshapeMode::ravel || dense);
  if (!as_view && mode == ReshapeMode::never)
    return Error{ErrorKind::value, "reshape_needs_copy",
                 "Unable to avoid creating a copy while creating reshaped array."};
  if (as_view) {
    source.view = *result.view;
  } else {
    TRY(auto& copied, context.launcher().copy(source, array.dtype));
    source = std::move(copied);
    source.view = contiguous(result.shape, size);
  }
  if (order == Order::f) source.view = transpose(source.view);
  return source;
}

}  // namespace

Result<Array> reshape(Context& context, const Array& x, ReshapeMode mode, Order order,
                      const std::vector<std::int64_t>& shape) {
  if (order == Order::keep) return bad_call();
  return reshaped(context, x, mode, resolved(x, order), shape);
}

Result<View> move_axes(Context&, const Array& x, std::int32_t count,
                       const std::vector<std::int64_t>& axes) {
  const std::span<const std::int64_t> both(axes);
  const auto sources = static_cast<std::size_t>(count);  // a negative number is too many
  if (sources > both.size()) return bad_call();
  return move_axes(x.view, both.first(sources), both.subspan(sources));
}

Result<View> broadcast_to(Context&, const Array& x, const std::vector<std::int64_t>& shape) {
  if (shape.size() > static_cast<std::size_t>(kMaxDims))
    return Error{ErrorKind::value, "too_many_dimensions",
                 "maximum supported dimension for an ndarray is " + std::to_string(kMaxDims) +
                     ", found " + std::to_string(shape.size())};
  return broadcast_to(x.view, Dims(shape));
}

Result<Array> reinterpret(Context& context, const Array& x, DType dtype) {
  if (context.launcher().raw_backend().is_device() && on_gpu(x.dtype) != on_gpu(dtype))
    return Error{ErrorKind::not_implemented, "cannot_share",
                 std::string(name_of(x.dtype)) + " and " + std::string(name_of(dtype)) +
                     " live in different memories, so that no view shows one as the other: go "
                     "through NumPy's arrays."};
  TRY(auto& view, reinterpret(x.view, x.dtype, dtype));
  return Array{dtype, std::move(view), x.storage};
}

Result<View> as_strided(Context&, const Array& x, const Dims& shape, const Dims& strides) {
  const std::size_t size = size_of(x.dtype);
  for (const std::int64_t stride : strides)
    if (stride % static_cast<std::int64_t>(size) != 0)
      return Error{ErrorKind::value, "bad_view", "a stride is no multiple of the elements' size"};
  View view{shape, strides, x.view.offset};
  TRY_DONE(check_view(view, size, x.storage->bytes()));
  return view;
}

Result<Array> imag(Context& context, const Array& x) {
  if (is_complex(x.dtype)) return Array{part_dtype(x.dtype), imag_part(x.view, x.dtype), x.storage};
  TRY(auto& zeros, context.launcher().allocate(x.dtype, x.view.shape));
  TRY_DONE(context.launcher().fill_zero(zeros));
  return std::move(zeros);
}

}  // namespace arraycore::calls
