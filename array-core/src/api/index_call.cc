#include "api/index_call.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "ir/builder.h"
#include "view/collapse.h"
#include "view/messages.h"
#include "view/reinterpret.h"
#include "view/shape.h"

namespace arraycore {

namespace {

// Bits for bits, where nothing is converted: a device's floats may lose a NaN's payload.
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

// As many axes of extent 1 behind a view.
View padded(View view, int axes) {
  for (int i = 0; i < axes; ++i) {
    view.shape.push_back(1);
    view.strides.push_back(0);
  }
  return view;
}

// The axes of a view from `first` on.
View tail(const View& view, int first) {
  View rest;
  rest.offset = view.offset;
  for (int axis = first; axis < view.ndim(); ++axis) {
    rest.shape.push_back(view.shape[axis]);
    rest.strides.push_back(view.strides[axis]);
  }
  return rest;
}

// The same elements in the same order by fewer axes.
View collapsed(View view) {
  collapse(std::span(&view, 1), AxisOrder::keep);
  return view;
}

Operand scalar_int32(std::int64_t value) {
  return {nullptr, ir::put(static_cast<std::int32_t>(value))};
}

Error value_shape(const Dims& value, const Dims& result) {
  return value_error("shapes_do_not_broadcast", "shape mismatch: value array of shape " +
                                                    shape_text(value) +
                                                    " could not be broadcast to indexing result "
                                                    "of shape " +
                                                    shape_text(result));
}

// The value as a view of the result's shape.
Result<View> spread_value(const View& value, const Dims& result) {
  auto wide = broadcast_for_assignment(value, result);
  return wide ? wide : value_shape(value.shape, result);
}

// Whether an array may be written: strides of what has no elements say nothing.
Status writable(const Array& array) {
  return array.view.count() == 0 ? Status(Done{}) : Launcher::writable(array);
}

// The first number outside [-extent, extent), if there is one.
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

// ---- where

Status IndexCalls::check_bounds(const Picking& picking, std::span<const KeyItem> key,
                                Indices which) {
  const bool looks = !launcher_.raw_backend().is_device();
  for (const PickedPart& part : picking.parts) {
    const KeyItem& item = key[part.item];
    const Indices kind = item.array.view.ndim() == 0 ? Indices::single : Indices::many;
    if (item.kind != KeyItem::Kind::integers || kind != which) continue;
    std::optional<std::string> wrong;
    if (item.outside) {
      wrong = std::to_string(*item.outside);
    } else if (looks && !item.checked) {
      const auto bytes = host_elements(launcher_, item.array);
      if (!bytes) return bytes.error();
      wrong = outside(*bytes, item.array.dtype, part.extent);
    } else if (part.extent == 0 && item.array.view.count() > 0) {
      wrong = "0";  // whatever it is, there is nothing
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
  // As NumPy: what has no axes is an integer, whatever is wrong beside it.
  const Status bounds = check_bounds(picking, key, Indices::single);
  if (!bounds) return bounds.error();
  Picks picks;
  picks.unique = true;
  picks.skips = trues.has_value();
  std::vector<Dims> shapes;
  for (const PickedPart& part : picking.parts) {
    const KeyItem& item = key[part.item];
    Array array = item.array;
    PickLook look{array.dtype, item.checked};
    if (item.kind == KeyItem::Kind::mask) {
      if (!item.mask_shape) {
        auto positions = masks_.positions(item.array, trues);
        if (!positions) return positions.error();
        array = std::move(*positions);
      }
      look = {DType::int32, true};
    } else {
      picks.unique = false;
    }
    // NumPy's message names a mask once for each of its axes.
    for (int axis = 0; axis < std::max(part.axes, 1); ++axis) shapes.push_back(array.view.shape);
    picks.arrays.push_back(std::move(array));
    picks.looks.push_back(look);
    picks.extents.push_back(part.extent);
  }
  auto shape = broadcast_indices(shapes);
  if (!shape) return shape.error();
  picks.shape = std::move(*shape);
  return picks;
}

// ---- launches

// The loop is the indices' shape and, where the look spreads, the kept axes behind it. `value` and
// `out` have the loop's shape.
Status IndexCalls::run(IndexLook look, const Picking& picking, const Picks& picks,
                       const Array& array, const IndexedValue* value, const Array* winners,
                       const Array* out) {
  const bool over_kept = look.task != IndexTask::mark && look.task != IndexTask::claim;
  const View kept = tail(picking.view, picking.picked);
  Dims loop = picks.shape;
  if (over_kept)
    for (const std::int64_t extent : kept.shape) loop.push_back(extent);
  const std::int64_t count = View{loop, {}, 0}.count();
  if (count == 0) return Done{};
  for (const std::int64_t numbered : {count, array.view.count()}) {
    const Status fits = check_numbers(numbered);
    if (!fits) return fits;
  }
  look.spread = over_kept && kept.count() > 1;
  look.skips = picks.skips;
  look.picks = picks.looks;

  const Array held = with_view(array, collapsed(array.view), array.dtype);
  std::vector<Array> indices;
  for (const Array& each : picks.arrays)
    indices.push_back(
        with_view(each, over_kept ? padded(each.view, kept.ndim()) : each.view, each.dtype));
  std::vector<Operand> operands{{&held, {}}};
  if (value != nullptr) operands.push_back({value->array, value->scalar});
  for (const Array& each : indices) operands.push_back({&each, {}});
  for (const std::int64_t extent : picks.extents) operands.push_back(scalar_int32(extent));
  if (look.spread) operands.push_back(scalar_int32(kept.count()));
  if (winners != nullptr) operands.push_back({winners, {}});
  if (out != nullptr) operands.push_back({out, {}});
  const auto kernel = kernels_.get(look);
  if (!kernel) return kernel.error();
  return launcher_.launch({*kernel, loop, 0, operands});
}

Result<Array> IndexCalls::read(const Array& source, std::span<const KeyItem> key) {
  const auto picking = resolve_key(source.view, key);
  if (!picking) return picking.error();
  const auto found = picks(*picking, key);
  if (!found) return found.error();
  const auto shape = picked_shape(*picking, found->shape);
  if (!shape) return shape.error();
  // As NumPy: indices that were broadcast away pick nothing, in bounds or not.
  if (View{found->shape, {}, 0}.count() > 0) {
    const Status bounds = check_bounds(*picking, key, Indices::many);
    if (!bounds) return bounds.error();
  }
  auto made = launcher_.allocate(source.dtype, *shape);
  if (!made) return made;
  IndexLook look;
  look.array = bits_of(source.dtype);
  const Array out =
      with_view(*made, indices_first(made->view, picking->place, found->shape.size()), look.array);
  const Status gathered = run(look, *picking, *found, with_view(source, picking->view, look.array),
                              nullptr, nullptr, &out);
  if (!gathered) return gathered.error();
  return made;
}

// Which element of the indices' loop is the last for each picked place: an array over the picked
// axes, undefined where nothing is picked.
Result<Array> IndexCalls::winners(const Picking& picking, const Picks& picks) {
  Dims extents;
  for (int axis = 0; axis < picking.picked; ++axis) extents.push_back(picking.view.shape[axis]);
  auto made = launcher_.allocate(DType::int32, extents);
  if (!made) return made;
  for (const IndexTask task : {IndexTask::mark, IndexTask::claim}) {
    IndexLook look;
    look.task = task;
    look.array = DType::int32;
    const Status done = run(look, picking, picks, *made, nullptr, nullptr, nullptr);
    if (!done) return done.error();
  }
  return made;
}

// Launches a scatter or an update of `target`, whose view is `picking.view`'s parent.
Status IndexCalls::scatter(IndexLook look, const Array& target, const Picking& picking,
                           std::span<const KeyItem> key, const Picks& picks,
                           const IndexedValue& value) {
  const auto shape = picked_shape(picking, picks.shape);
  if (!shape) return shape.error();
  look.value_is_scalar = value.array == nullptr;
  look.value = look.value_is_scalar ? value.scalar_dtype : value.array->dtype;
  IndexedValue given = value;
  Array wide;
  bool differs = false;  // along the indices, so that it matters which one is the last
  if (value.array != nullptr) {
    const auto view = spread_value(value.array->view, *shape);
    if (!view) return view.error();
    wide = with_view(*value.array, indices_first(*view, picking.place, picks.shape.size()),
                     value.array->dtype);
    for (int axis = 0; axis < picks.shape.size(); ++axis)
      differs = differs || (wide.view.shape[axis] > 1 && wide.view.strides[axis] != 0);
    given.array = &wide;
  }
  if (View{picks.shape, {}, 0}.count() == 0) return Done{};
  const Status bounds = check_bounds(picking, key, Indices::many);
  if (!bounds) return bounds;
  Array written = with_view(target, picking.view, target.dtype);
  if (look.task == IndexTask::scatter && look.value == target.dtype) {
    look.array = look.value = written.dtype = wide.dtype = bits_of(target.dtype);
  }
  if (look.task != IndexTask::scatter || !differs || picks.unique ||
      !launcher_.raw_backend().is_device())
    return run(std::move(look), picking, picks, written, &given, nullptr, nullptr);
  // A device runs its loop in no order.
  const auto last = winners(picking, picks);
  if (!last) return last.error();
  look.winners = true;
  return run(std::move(look), picking, picks, written, &given, &*last, nullptr);
}

// ---- writes

namespace {

// Whether the key is one mask over all axes, for which NumPy has its own rules.
bool is_mask_of_all(const Picking& picking, std::span<const KeyItem> key) {
  return key.size() == 1 && key[0].kind == KeyItem::Kind::mask &&
         picking.picked == picking.view.ndim();
}

// That a mask over all axes can be written values to, one for each of its `trues` or one for all.
Status check_mask_values(const Picking& picking, std::span<const KeyItem> key, std::int64_t trues,
                         const IndexedValue& value) {
  if (value.array == nullptr || !is_mask_of_all(picking, key)) return Done{};
  const Dims& given = value.array->view.shape;
  if (given.size() > 1)
    return Error{ErrorKind::type, "mask_values_ndim",
                 "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, "
                 "input has " +
                     std::to_string(given.size()) + " dimensions"};
  if (given.empty() || given[0] == 1 || given[0] == trues) return Done{};
  return value_error("mask_values", "NumPy boolean array indexing assignment cannot assign " +
                                        std::to_string(given[0]) + " input values to the " +
                                        std::to_string(trues) +
                                        " output values where the mask is true");
}

}  // namespace

Status IndexCalls::write(const Array& target, std::span<const KeyItem> key,
                         const IndexedValue& value) {
  const Status may = writable(target);
  if (!may) return may;
  const auto picking = resolve_key(target.view, key);
  if (!picking) return picking.error();
  if (picking->parts.size() == 1) {
    const KeyItem& item = key[picking->parts[0].item];
    if (item.kind == KeyItem::Kind::mask && !item.mask_shape)
      return write_mask(target, *picking, key, value);
  }
  const auto found = picks(*picking, key);
  if (!found) return found.error();
  if (!found->shape.empty()) {
    const Status fits = check_mask_values(*picking, key, found->shape[0], value);
    if (!fits) return fits;
  }
  IndexLook look;
  look.task = IndexTask::scatter;
  look.array = target.dtype;
  return scatter(look, target, *picking, key, *found, value);
}

// One mask and no other indices. A value that is the same for every true element needs not to know
// how many there are; one with a row for each does not either, on a device: it takes as many as the
// value has rows, and looks no further.
Status IndexCalls::write_mask(const Array& target, const Picking& picking,
                              std::span<const KeyItem> key, const IndexedValue& value) {
  const Array& mask = key[picking.parts[0].item].array;
  Dims shape;
  for (int axis = picking.picked; axis < picking.view.ndim(); ++axis)
    shape.push_back(picking.view.shape[axis]);
  const int kept = shape.size();
  // The value's extent where the true elements are counted.
  std::int64_t rows = 1;
  if (value.array != nullptr) {
    const Dims& given = value.array->view.shape;
    const int axis = given.size() - 1 - (kept - picking.place);
    if (axis >= 0) rows = given[axis];
  }
  if (value.array != nullptr && value.array->view.ndim() > 1) {
    const Status fits = check_mask_values(picking, key, rows, value);
    if (!fits) return fits;
  }
  const bool device = launcher_.raw_backend().is_device();
  if (rows != 1) {
    const bool known = device && mask.storage->backend().is_device();
    const auto found = picks(picking, key, known ? std::optional(rows) : std::nullopt);
    if (!found) return found.error();
    const Status fits = check_mask_values(picking, key, found->shape[0], value);
    if (!fits) return fits;
    IndexLook look;
    look.task = IndexTask::scatter;
    look.array = target.dtype;
    return scatter(look, target, picking, key, *found, value);
  }
  IndexedValue given = value;
  Array wide;
  if (value.array != nullptr) {
    const auto result = picked_shape(picking, Dims{1});
    if (!result) return result.error();
    const auto view = broadcast_for_assignment(value.array->view, *result);
    if (!view) {
      const auto found = picks(picking, key);
      if (!found) return found.error();
      const auto full = picked_shape(picking, found->shape);
      if (!full) return full.error();
      return value_shape(value.array->view.shape, *full);
    }
    wide = with_view(*value.array, tail(indices_first(*view, picking.place, 1), 1),
                     value.array->dtype);
    given.array = &wide;
  }
  return write_where(with_view(target, picking.view, target.dtype),
                     with_view(mask, padded(mask.view, kept), mask.dtype), given);
}

Result<KernelRef> IndexCalls::where_kernel(DType target, DType value, bool scalar) {
  if (wheres_.empty()) wheres_.resize(kDTypes * kDTypes * 2);
  std::optional<KernelRef>& known =
      wheres_[(static_cast<std::size_t>(target) * kDTypes + static_cast<std::size_t>(value)) * 2 +
              (scalar ? 1 : 0)];
  if (known) return *known;
  ir::Builder k("assign_where");
  const ir::ParamRef mask = k.in("mask", DType::boolean);
  const ir::ParamRef source = scalar ? k.scalar("value", value) : k.in("value", value);
  const ir::ParamRef out = k.in_out("target", target);
  k.if_(k.read(mask), [&] { k.store(out, k.convert(target, k.read(source))); });
  auto prepared = launcher_.prepare(k.take());
  if (prepared) known = *prepared;
  return prepared;
}

Status IndexCalls::write_where(const Array& target, const Array& mask, const IndexedValue& value) {
  const Status may = writable(target);
  if (!may) return may;
  Array written = target;
  DType dtype = value.scalar_dtype;
  Array source;
  IndexedValue given = value;
  if (value.array != nullptr) {
    source = *value.array;
    if (source.dtype == target.dtype) source.dtype = written.dtype = bits_of(target.dtype);
    dtype = source.dtype;
    given.array = &source;
  } else if (dtype == target.dtype) {
    dtype = written.dtype = bits_of(target.dtype);
  }
  if (written.view.count() == 0) return Done{};
  const auto kernel = where_kernel(written.dtype, dtype, value.array == nullptr);
  if (!kernel) return kernel.error();
  const std::array<Operand, 3> operands{Operand{&mask, {}}, Operand{given.array, given.scalar},
                                        Operand{&written, {}}};
  return launcher_.launch({*kernel, written.view.shape, 0, operands});
}

Result<Array> IndexCalls::select(const Array& condition, const IndexedValue& then,
                                 const IndexedValue& otherwise, DType dtype) {
  std::array<Dims, 3> shapes{condition.view.shape};
  std::size_t count = 1;
  for (const IndexedValue* value : {&then, &otherwise})
    if (value->array != nullptr) shapes[count++] = value->array->view.shape;
  const auto shape = broadcast_shapes({shapes.data(), count});
  if (!shape) return shape.error();
  auto made = launcher_.allocate(dtype, *shape);
  if (!made) return made;
  std::string key(1, static_cast<char>(dtype));
  for (const IndexedValue* value : {&then, &otherwise})
    key += static_cast<char>(value->array != nullptr ? static_cast<int>(value->array->dtype) : -1);
  const auto found = selects_.find(key);
  KernelRef kernel = 0;
  if (found != selects_.end()) {
    kernel = found->second;
  } else {
    ir::Builder k("where");
    const ir::ParamRef where = k.in("condition", DType::boolean);
    const auto add = [&](const char* name, const IndexedValue& value) {
      return value.array != nullptr ? k.in(name, value.array->dtype) : k.scalar(name, dtype);
    };
    const ir::ParamRef x = add("x", then);
    const ir::ParamRef y = add("y", otherwise);
    k.store(k.out("out", dtype),
            k.select(k.read(where), k.convert(dtype, k.read(x)), k.convert(dtype, k.read(y))));
    const auto prepared = launcher_.prepare(k.take());
    if (!prepared) return prepared.error();
    kernel = *prepared;
    selects_.emplace(std::move(key), kernel);
  }
  const std::array<Operand, 4> operands{Operand{&condition, {}}, Operand{then.array, then.scalar},
                                        Operand{otherwise.array, otherwise.scalar},
                                        Operand{&*made, {}}};
  const Status launched = launcher_.launch({kernel, *shape, 0, operands});
  if (!launched) return launched.error();
  return made;
}

// ---- updates

Status IndexCalls::update(const Array& target, std::span<const KeyItem> key,
                          const IndexUpdate& update, const IndexedValue& value) {
  const Status may = writable(target);
  if (!may) return may;
  const ops::UFunc& ufunc = *update.ufunc;
  const DType dtype = target.dtype;
  const bool own_type = update.loop.operands[0] == dtype && update.loop.results[0] == dtype;
  if (is_complex(dtype)) {
    if ((ufunc.name != "add" && ufunc.name != "subtract") || !own_type)
      return Error{ErrorKind::not_implemented, "no_update",
                   std::string(ufunc.name) + ".at of complex numbers is not there: of " +
                       std::string(name_of(dtype)) +
                       " only add and subtract are; work on .real and .imag."};
    // Sums part by part.
    for (const bool imaginary : {false, true}) {
      const auto part = [&](const Array& array) {
        return with_view(
            array,
            imaginary ? imag_part(array.view, array.dtype) : real_part(array.view, array.dtype),
            part_dtype(array.dtype));
      };
      IndexUpdate parts = update;
      parts.loop.operands[0] = parts.loop.operands[1] = parts.loop.results[0] = part_dtype(dtype);
      IndexedValue given = value;
      Array source;
      if (value.array != nullptr) {
        source = *value.array;
        if (source.dtype != dtype) {
          auto cast = launcher_.copy(source, dtype);
          if (!cast) return cast.error();
          source = std::move(*cast);
        }
        source = part(source);
        given.array = &source;
      } else {
        given.scalar_dtype = part_dtype(dtype);
        given.scalar = ir::visit(dtype, [&](auto zero) {
          using T = decltype(zero);
          if constexpr (std::is_same_v<T, ir::Complex<float>> ||
                        std::is_same_v<T, ir::Complex<double>>) {
            const T number = ir::get<T>(value.scalar);
            return ir::put(imaginary ? number.im : number.re);
          } else {
            return value.scalar;
          }
        });
      }
      const Status done = this->update(part(target), key, parts, given);
      if (!done) return done;
    }
    return Done{};
  }

  const auto picking = resolve_key(target.view, key);
  if (!picking) return picking.error();
  const auto found = picks(*picking, key);
  if (!found) return found.error();
  IndexLook look;
  look.array = dtype;
  look.task = IndexTask::apply;
  look.ufunc = &ufunc;
  look.loop = update.loop;
  Array written = target;
  if (own_type && dtype != DType::boolean) {
    if (ufunc.name == "add" || ufunc.name == "subtract") look.task = IndexTask::add;
    look.negated = ufunc.name == "subtract";
    if (ufunc.name == "minimum") look.task = IndexTask::minimum;
    if (ufunc.name == "maximum") look.task = IndexTask::maximum;
  }
  if (look.task == IndexTask::apply)
    written.dtype = bits_of(dtype);
  else
    look.ufunc = nullptr;
  return scatter(look, written, *picking, key, *found, value);
}

}  // namespace arraycore
