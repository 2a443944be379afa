#include "operations/indexing/index_call.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "operations/indexing/index_views.h"
#include "view/collapse.h"
#include "view/messages.h"
#include "view/shape.h"

namespace arraycore {

namespace {

// Returns a view of the same elements in the same order with fewer axes.
View collapsed(View view) {
  collapse(std::span(&view, 1), AxisOrder::keep);
  return view;
}

Operand scalar_int32(std::int64_t value) {
  return {nullptr, ir::put(static_cast<std::int32_t>(value))};
}

// Broadcasts the value to the result's shape.
Result<View> spread_value(const View& value, const Dims& result) {
  auto wide = broadcast_for_assignment(value, result);
  return wide ? wide : value_shape(value.shape, result);
}

// Returns the first integer outside [-extent, extent), if there is one.
std::optional<std::string> outside(std::span<const std::byte> bytes, DType dtype,
                                   std::int64_t extent) {
  return ir::visit(dtype, [&](auto zero) -> std::optional<std::string> {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
        T number;
        std::memcpy(&number, bytes.data() + at, sizeof(T));
        if (std::cmp_less(number, -extent) || std::cmp_greater_equal(number, extent))
          return std::to_string(number);
      }
    }
    return std::nullopt;
  });
}

}  // namespace

// ---- indices

Status IndexCalls::check_bounds(const Picking& picking, std::span<const KeyItem> key,
                                Indices which) {
  const bool checks_values = !launcher_.raw_backend().is_device();
  for (const PickedPart& part : picking.parts) {
    const KeyItem& item = key[part.item];
    const Indices kind = item.array.view.ndim() == 0 ? Indices::single : Indices::many;
    if (item.kind != KeyItem::Kind::integers || kind != which) continue;
    std::optional<std::string> wrong;
    if (item.outside) {
      wrong = std::to_string(*item.outside);
    } else if (checks_values && !item.checked) {
      TRY(const auto& bytes, host_elements(launcher_, item.array));
      wrong = outside(bytes, item.array.dtype, part.extent);
    } else if (part.extent == 0 && item.array.view.count() > 0) {
      wrong = "0";  // an axis without elements has no valid index
    }
    if (wrong)
      return index_error("index_out_of_bounds", "index " + *wrong + " is out of bounds for axis " +
                                                    std::to_string(part.axis) + " with size " +
                                                    std::to_string(part.extent));
  }
  return Done{};
}

Result<IndexCalls::Picks> IndexCalls::picks(const Picking& picking, std::span<const KeyItem> key,
                                            std::optional<std::int64_t> trues) {
  // An index array without axes counts as an integer. As in NumPy, integers out of bounds are
  // reported before other errors.
  TRY_DONE(check_bounds(picking, key, Indices::single));
  Picks picks;
  picks.unique = true;
  picks.skips = trues.has_value();
  std::vector<Dims> shapes;
  for (const PickedPart& part : picking.parts) {
    const KeyItem& item = key[part.item];
    Array array = item.array;
    PickSignature signature{array.dtype, item.checked};
    if (item.kind == KeyItem::Kind::mask) {
      if (!item.mask_shape) {
        TRY(auto& positions, masks_.positions(item.array, trues));
        array = std::move(positions);
      }
      signature = {DType::int32, true};
    } else {
      picks.unique = false;
    }
    // NumPy's message lists a mask's shape once for each of its axes.
    for (int axis = 0; axis < std::max(part.axes, 1); ++axis) shapes.push_back(array.view.shape);
    picks.arrays.push_back(std::move(array));
    picks.signatures.push_back(signature);
    picks.extents.push_back(part.extent);
  }
  TRY(auto& shape, broadcast_indices(shapes));
  picks.shape = std::move(shape);
  return picks;
}

// ---- launches

// Launches an indexing kernel. Its loop has the indices' shape and, if the signature says `spread`,
// the kept axes after it. `value` and `out` have the loop's shape.
Status IndexCalls::run(IndexSignature signature, const Picking& picking, const Picks& picks,
                       const Array& array, const IndexedValue* value, const Array* winners,
                       const Array* out) {
  const bool over_kept = signature.task != IndexTask::mark && signature.task != IndexTask::claim;
  const View kept = tail(picking.view, picking.picked);
  Dims loop = picks.shape;
  if (over_kept)
    for (const std::int64_t extent : kept.shape) loop.push_back(extent);
  const std::int64_t count = View{loop, {}, 0}.count();
  if (count == 0) return Done{};
  for (const std::int64_t numbered : {count, array.view.count()}) {
    TRY_DONE(check_numbers(numbered));
  }
  signature.spread = over_kept && kept.count() > 1;
  signature.skips = picks.skips;
  signature.picks = picks.signatures;

  const Array held = with_view(array, collapsed(array.view), array.dtype);
  std::vector<Array> indices;
  for (const Array& each : picks.arrays)
    indices.push_back(
        with_view(each, over_kept ? padded(each.view, kept.ndim()) : each.view, each.dtype));
  std::vector<Operand> operands{{&held, {}}};
  if (value != nullptr) operands.push_back({value->array, value->scalar});
  for (const Array& each : indices) operands.push_back({&each, {}});
  for (const std::int64_t extent : picks.extents) operands.push_back(scalar_int32(extent));
  if (signature.spread) operands.push_back(scalar_int32(kept.count()));
  if (winners != nullptr) operands.push_back({winners, {}});
  if (out != nullptr) operands.push_back({out, {}});
  TRY(const auto& kernel, kernels_.get(signature));
  return launcher_.launch({kernel, loop, 0, operands});
}

Result<Array> IndexCalls::read(const Array& source, std::span<const KeyItem> key) {
  TRY(const auto& picking, resolve_key(source.view, key));
  TRY(const auto& found, picks(picking, key));
  TRY(const auto& shape, picked_shape(picking, found.shape));
  // If the common shape of the indices has no elements, they select nothing. Then they may be out
  // of bounds, as in NumPy.
  if (View{found.shape, {}, 0}.count() > 0) {
    TRY_DONE(check_bounds(picking, key, Indices::many));
  }
  TRY(auto& made, launcher_.allocate(source.dtype, shape));
  IndexSignature signature;
  signature.array = bits_of(source.dtype);
  const Array out =
      with_view(made, indices_first(made.view, picking.place, found.shape.size()), signature.array);
  TRY_DONE(run(signature, picking, found, with_view(source, picking.view, signature.array), nullptr,
               nullptr, &out));
  return std::move(made);
}

// Returns an array over the picked axes. For each picked place it has the number of the last
// iteration of the indices' loop that picks the place. Other elements are undefined.
Result<Array> IndexCalls::winners(const Picking& picking, const Picks& picks) {
  Dims extents;
  for (int axis = 0; axis < picking.picked; ++axis) extents.push_back(picking.view.shape[axis]);
  TRY(auto& made, launcher_.allocate(DType::int32, extents));
  for (const IndexTask task : {IndexTask::mark, IndexTask::claim}) {
    IndexSignature signature;
    signature.task = task;
    signature.array = DType::int32;
    TRY_DONE(run(signature, picking, picks, made, nullptr, nullptr, nullptr));
  }
  return std::move(made);
}

// Launches a scatter or an update of `target`. `picking.view` is a view of it.
Status IndexCalls::scatter(IndexSignature signature, const Array& target, const Picking& picking,
                           std::span<const KeyItem> key, const Picks& picks,
                           const IndexedValue& value) {
  TRY(const auto& shape, picked_shape(picking, picks.shape));
  signature.value_is_scalar = value.array == nullptr;
  signature.value = signature.value_is_scalar ? value.scalar_dtype : value.array->dtype;
  IndexedValue given = value;
  Array wide;
  bool differs = false;  // it varies along the indices, so the last value must win
  if (value.array != nullptr) {
    TRY(const auto& view, spread_value(value.array->view, shape));
    wide = with_view(*value.array, indices_first(view, picking.place, picks.shape.size()),
                     value.array->dtype);
    for (int axis = 0; axis < picks.shape.size(); ++axis)
      differs = differs || (wide.view.shape[axis] > 1 && wide.view.strides[axis] != 0);
    given.array = &wide;
  }
  if (View{picks.shape, {}, 0}.count() == 0) return Done{};
  TRY_DONE(check_bounds(picking, key, Indices::many));
  Array written = with_view(target, picking.view, target.dtype);
  if (signature.task == IndexTask::scatter && signature.value == target.dtype) {
    signature.array = signature.value = written.dtype = wide.dtype = bits_of(target.dtype);
  }
  if (signature.task != IndexTask::scatter || !differs || picks.unique ||
      !launcher_.raw_backend().is_device())
    return run(std::move(signature), picking, picks, written, &given, nullptr, nullptr);
  // A device runs its loop in no fixed order, so the kernel must know which value is the last.
  TRY(const auto& last, winners(picking, picks));
  signature.winners = true;
  return run(std::move(signature), picking, picks, written, &given, &last, nullptr);
}

}  // namespace arraycore
