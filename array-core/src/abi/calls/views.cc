#include "abi/calls/views.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "abi/calls/calls.h"
#include "arraycore/arraycore.h"
#include "view/reinterpret.h"
#include "view/reshape.h"
#include "view/shape.h"

namespace arraycore::calls {

namespace {

enum class Order : std::uint8_t { c = 0, f = 1, any = 2 };

// Makes a new array over the storage of `array`.
Result<std::int32_t> insert_view(Context& context, const Array& array, const Result<View>& view) {
  if (!view) return view.error();
  return context.insert(Array{array.dtype, *view, array.storage});
}

// Each call below takes one array and decides about its view.
template <typename Decide>
Result<std::int32_t> view_call(Context& context, ArrayId id, const Words& words,
                               const Decide& decide) {
  const Status end = words.end();
  if (!end) return end.error();
  const auto array = context.get(id);
  if (!array) return array.error();
  return insert_view(context, **array, decide((*array)->view));
}

Result<std::int32_t> index(Context& context, Words& words) {
  const ArrayId id = words.next();
  const std::vector<Index> items = read_items(words);
  return view_call(context, id, words, [&](const View& view) { return basic_index(view, items); });
}

// Reads optional axes: a flag, then the axes.
std::optional<std::vector<std::int64_t>> read_axes(Words& words) {
  if (!words.flag()) return std::nullopt;
  return read_integers(words);
}

// A view by some axes, or by all axes where none are named.
using AllAxes = View (*)(const View&);
using SomeAxes = Result<View> (*)(const View&, std::span<const std::int64_t>);

template <AllAxes all, SomeAxes some>
Result<std::int32_t> by_axes(Context& context, Words& words) {
  const ArrayId id = words.next();
  const auto axes = read_axes(words);
  return view_call(context, id, words, [&](const View& view) -> Result<View> {
    if (axes) return some(view, *axes);
    return all(view);
  });
}

Result<std::int32_t> swap_two_axes(Context& context, Words& words) {
  const ArrayId id = words.next();
  const std::int64_t axis1 = words.integer();
  const std::int64_t axis2 = words.integer();
  return view_call(context, id, words,
                   [&](const View& view) { return swap_axes(view, axis1, axis2); });
}

Result<std::int32_t> move_some_axes(Context& context, Words& words) {
  const ArrayId id = words.next();
  const auto count = static_cast<std::size_t>(words.next());
  const std::vector<std::int64_t> both = read_integers(words);
  if (count > both.size()) words.next();  // past the end, so that the call is invalid
  return view_call(context, id, words, [&](const View& view) {
    const std::span<const std::int64_t> axes(both);
    return move_axes(view, axes.first(count), axes.subspan(count));
  });
}

Result<std::int32_t> add_axes(Context& context, Words& words) {
  const ArrayId id = words.next();
  const std::vector<std::int64_t> axes = read_integers(words);
  return view_call(context, id, words, [&](const View& view) { return expand_dims(view, axes); });
}

Result<std::int32_t> broadcast(Context& context, Words& words) {
  const ArrayId id = words.next();
  const std::vector<std::int64_t> shape = read_integers(words);
  return view_call(context, id, words, [&](const View& view) -> Result<View> {
    if (shape.size() > static_cast<std::size_t>(kMaxDims))
      return Error{ErrorKind::value, "too_many_dimensions",
                   "maximum supported dimension for an ndarray is " + std::to_string(kMaxDims) +
                       ", found " + std::to_string(shape.size())};
    return broadcast_to(view, Dims(shape));
  });
}

Result<std::int32_t> take_diagonal(Context& context, Words& words) {
  const ArrayId id = words.next();
  const std::int64_t offset = words.integer();
  const std::int64_t axis1 = words.integer();
  const std::int64_t axis2 = words.integer();
  return view_call(context, id, words,
                   [&](const View& view) { return diagonal(view, offset, axis1, axis2); });
}

// ---- reshape

bool is_contiguous(const Array& array, Order order) {
  const std::size_t size = size_of(array.dtype);
  return order == Order::c ? is_c_contiguous(array.view, size) : is_f_contiguous(array.view, size);
}

Order resolved(const Array& array, Order order) {
  if (order != Order::any) return order;
  const bool only_f = is_contiguous(array, Order::f) && !is_contiguous(array, Order::c);
  return only_f ? Order::f : Order::c;
}

// Returns `array` in the shape. In F order, that is C order with everything transposed.
Result<Array> reshaped(Context& context, const Array& array, ReshapeMode mode, Order order,
                       std::vector<std::int64_t> shape) {
  const std::size_t size = size_of(array.dtype);
  // Errors show the shape as the caller gave it.
  const auto asked = reshape(array.view, shape, size);
  if (!asked) return asked.error();
  Array source{array.dtype, array.view, array.storage};
  if (order == Order::f) {
    source.view = transpose(source.view);
    std::reverse(shape.begin(), shape.end());
  }
  const auto result = reshape(source.view, shape, size);
  if (!result) return result.error();
  const bool dense = is_c_contiguous(source.view, size);
  const bool as_view =
      result->view && mode != ReshapeMode::copy && (mode != ReshapeMode::ravel || dense);
  if (!as_view && mode == ReshapeMode::never)
    return Error{ErrorKind::value, "reshape_needs_copy",
                 "Unable to avoid creating a copy while creating reshaped array."};
  if (as_view) {
    source.view = *result->view;
  } else {
    auto copied = context.launcher().copy(source, array.dtype);
    if (!copied) return copied;
    source = std::move(*copied);
    source.view = contiguous(result->shape, size);
  }
  if (order == Order::f) source.view = transpose(source.view);
  return source;
}

Result<std::int32_t> reshape_array(Context& context, Words& words) {
  const ArrayId id = words.next();
  const auto mode = static_cast<ReshapeMode>(words.below(4));
  const auto order = static_cast<Order>(words.below(3));
  std::vector<std::int64_t> shape = read_integers(words);
  const Status end = words.end();
  if (!end) return end.error();
  const auto array = context.get(id);
  if (!array) return array.error();
  auto made = reshaped(context, **array, mode, resolved(**array, order), std::move(shape));
  if (!made) return made.error();
  return context.insert(std::move(*made));
}

// ---- other dtypes over the same bytes

Result<std::int32_t> reinterpret_as(Context& context, Words& words) {
  const ArrayId id = words.next();
  const DType dtype = words.dtype();
  const Status end = words.end();
  if (!end) return end.error();
  const auto array = context.get(id);
  if (!array) return array.error();
  const DType from = (*array)->dtype;
  if (context.launcher().raw_backend().is_device() && on_gpu(from) != on_gpu(dtype))
    return Error{ErrorKind::not_implemented, "cannot_share",
                 std::string(name_of(from)) + " and " + std::string(name_of(dtype)) +
                     " live in different memories, so that no view shows one as the other: go "
                     "through NumPy's arrays."};
  const auto view = reinterpret((*array)->view, from, dtype);
  if (!view) return view.error();
  return context.insert(Array{dtype, *view, (*array)->storage});
}

Result<std::int32_t> as_strided(Context& context, Words& words) {
  const ArrayId id = words.next();
  View view;
  view.shape = words.dims();
  view.strides = words.dims();
  const Status end = words.end();
  if (!end) return end.error();
  const auto array = context.get(id);
  if (!array) return array.error();
  view.offset = (*array)->view.offset;
  const std::size_t size = size_of((*array)->dtype);
  for (const std::int64_t stride : view.strides)
    if (stride % static_cast<std::int64_t>(size) != 0)
      return Error{ErrorKind::value, "bad_view", "a stride is no multiple of the elements' size"};
  const Status inside = check_view(view, size, (*array)->storage->bytes());
  if (!inside) return inside.error();
  return insert_view(context, **array, view);
}

Result<std::int32_t> real_of(Context& context, Words& words) {
  const ArrayId id = words.next();
  const Status end = words.end();
  if (!end) return end.error();
  const auto array = context.get(id);
  if (!array) return array.error();
  const DType dtype = (*array)->dtype;
  return context.insert(
      Array{part_dtype(dtype), real_part((*array)->view, dtype), (*array)->storage});
}

Result<std::int32_t> imag_of(Context& context, Words& words) {
  const ArrayId id = words.next();
  const Status end = words.end();
  if (!end) return end.error();
  const auto array = context.get(id);
  if (!array) return array.error();
  const DType dtype = (*array)->dtype;
  if (!is_complex(dtype)) return context.create(dtype, (*array)->view.shape, nullptr);
  return context.insert(
      Array{part_dtype(dtype), imag_part((*array)->view, dtype), (*array)->storage});
}

}  // namespace

Index read_item(Words& words, std::int32_t head) {
  const int given = head / 4;
  const auto part = [&](int bit) -> std::optional<std::int64_t> {
    if ((given & bit) == 0) return std::nullopt;
    return words.integer();
  };
  switch (static_cast<Index::Kind>(head % 4)) {
    case Index::Kind::integer:
      return Index::at(words.integer());
    case Index::Kind::slice: {
      const auto start = part(1);
      const auto stop = part(2);
      return Index::slice(start, stop, part(4));
    }
    case Index::Kind::newaxis:
      return Index::newaxis();
    case Index::Kind::ellipsis:
      break;
  }
  return Index::ellipsis();
}

std::vector<Index> read_items(Words& words) {
  std::vector<Index> items;
  while (words.left() > 0) items.push_back(read_item(words, words.below(kItemHeads)));
  return items;
}

std::vector<std::int64_t> read_integers(Words& words) {
  std::vector<std::int64_t> integers;
  integers.reserve(words.left() / 2);
  while (words.left() > 0) integers.push_back(words.integer());
  return integers;
}

Result<Array> indexed(const Context& context, ArrayId id, const std::vector<Index>& items) {
  const auto array = context.get(id);
  if (!array) return array.error();
  if (items.empty()) return **array;
  const auto view = basic_index((*array)->view, items);
  if (!view) return view.error();
  return Array{(*array)->dtype, *view, (*array)->storage};
}

Call find_view_call(std::int32_t operation) {
  static constexpr std::array<Call, AC_CALL_IMAG - AC_CALL_INDEX + 1> kCalls{
      index,
      reshape_array,
      by_axes<transpose, transpose>,
      swap_two_axes,
      move_some_axes,
      by_axes<flip, flip>,
      by_axes<squeeze, squeeze>,
      add_axes,
      broadcast,
      take_diagonal,
      reinterpret_as,
      real_of,
      imag_of};
  if (operation == AC_CALL_AS_STRIDED) return as_strided;
  if (operation < AC_CALL_INDEX || operation > AC_CALL_IMAG) return nullptr;
  return kCalls[static_cast<std::size_t>(operation - AC_CALL_INDEX)];
}

}  // namespace arraycore::calls
