// Writes by arrays of indices and masks: assignments, selections and updates.
#include <array>
#include <string>
#include <type_traits>
#include <utility>

#include "ir/builder.h"
#include "operations/indexing/index_call.h"
#include "operations/indexing/index_views.h"
#include "view/messages.h"
#include "view/reinterpret.h"
#include "view/shape.h"

namespace arraycore {

namespace {

// Returns whether the key is one mask over all axes, for which NumPy has special rules.
bool is_mask_of_all(const Picking& picking, std::span<const KeyItem> key) {
  return key.size() == 1 && key[0].kind == KeyItem::Kind::mask &&
         picking.picked == picking.view.ndim();
}

// Checks that the value can be assigned through a mask over all axes with `trues` true elements.
// The value must have one element for each true element of the mask, or one for all.
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
  TRY_DONE(writable(target));
  TRY(const auto& picking, resolve_key(target.view, key));
  if (picking.parts.size() == 1) {
    const KeyItem& item = key[picking.parts[0].item];
    if (item.kind == KeyItem::Kind::mask && !item.mask_shape)
      return write_mask(target, picking, key, value);
  }
  TRY(const auto& found, picks(picking, key));
  if (!found.shape.empty()) {
    TRY_DONE(check_mask_values(picking, key, found.shape[0], value));
  }
  IndexSignature signature;
  signature.task = IndexTask::scatter;
  signature.array = target.dtype;
  return scatter(signature, target, picking, key, found, value);
}

// Writes through one mask without other indices. If the value is the same for all true elements,
// their number is not needed. If the value has a row for each true element, the number must be
// known. On a device it is then not counted: the write uses as many true elements as the value has
// rows.
Status IndexCalls::write_mask(const Array& target, const Picking& picking,
                              std::span<const KeyItem> key, const IndexedValue& value) {
  const Array& mask = key[picking.parts[0].item].array;
  Dims shape;
  for (int axis = picking.picked; axis < picking.view.ndim(); ++axis)
    shape.push_back(picking.view.shape[axis]);
  const int kept = shape.size();
  // The value's extent along the axis of the true elements.
  std::int64_t rows = 1;
  if (value.array != nullptr) {
    const Dims& given = value.array->view.shape;
    const int axis = given.size() - 1 - (kept - picking.place);
    if (axis >= 0) rows = given[axis];
  }
  if (value.array != nullptr && value.array->view.ndim() > 1) {
    TRY_DONE(check_mask_values(picking, key, rows, value));
  }
  const bool device = launcher_.raw_backend().is_device();
  if (rows != 1) {
    const bool known = device && mask.storage->backend().is_device();
    TRY(const auto& found, picks(picking, key, known ? std::optional(rows) : std::nullopt));
    TRY_DONE(check_mask_values(picking, key, found.shape[0], value));
    IndexSignature signature;
    signature.task = IndexTask::scatter;
    signature.array = target.dtype;
    return scatter(signature, target, picking, key, found, value);
  }
  IndexedValue given = value;
  Array wide;
  if (value.array != nullptr) {
    TRY(const auto& result, picked_shape(picking, Dims{1}));
    const auto view = broadcast_for_assignment(value.array->view, result);
    if (!view) {
      TRY(const auto& found, picks(picking, key));
      TRY(const auto& full, picked_shape(picking, found.shape));
      return value_shape(value.array->view.shape, full);
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
  TRY_DONE(writable(target));
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
  TRY(const auto& kernel, where_kernel(written.dtype, dtype, value.array == nullptr));
  const std::array<Operand, 3> operands{Operand{&mask, {}}, Operand{given.array, given.scalar},
                                        Operand{&written, {}}};
  return launcher_.launch({kernel, written.view.shape, 0, operands});
}

Result<Array> IndexCalls::select(const Array& condition, const IndexedValue& then,
                                 const IndexedValue& otherwise, DType dtype) {
  std::array<Dims, 3> shapes{condition.view.shape};
  std::size_t count = 1;
  for (const IndexedValue* value : {&then, &otherwise})
    if (value->array != nullptr) shapes[count++] = value->array->view.shape;
  TRY(const auto& shape, broadcast_shapes({shapes.data(), count}));
  TRY(auto& made, launcher_.allocate(dtype, shape));
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
    TRY(const auto& prepared, launcher_.prepare(k.take()));
    kernel = prepared;
    selects_.emplace(std::move(key), kernel);
  }
  const std::array<Operand, 4> operands{Operand{&condition, {}}, Operand{then.array, then.scalar},
                                        Operand{otherwise.array, otherwise.scalar},
                                        Operand{&made, {}}};
  TRY_DONE(launcher_.launch({kernel, shape, 0, operands}));
  return std::move(made);
}

// ---- updates

Status IndexCalls::update(const Array& target, std::span<const KeyItem> key,
                          const IndexUpdate& update, const IndexedValue& value) {
  TRY_DONE(writable(target));
  const ops::UFunc& ufunc = *update.ufunc;
  const DType dtype = target.dtype;
  const bool own_type = update.loop.operands[0] == dtype && update.loop.results[0] == dtype;
  if (is_complex(dtype)) {
    if ((ufunc.name != "add" && ufunc.name != "subtract") || !own_type)
      return Error{ErrorKind::not_implemented, "no_update",
                   std::string(ufunc.name) + ".at of complex numbers is not there: of " +
                       std::string(name_of(dtype)) +
                       " only add and subtract are; work on .real and .imag."};
    // Adds the real and the imaginary parts separately.
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
          TRY(auto& cast, launcher_.copy(source, dtype));
          source = std::move(cast);
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
      TRY_DONE(this->update(part(target), key, parts, given));
    }
    return Done{};
  }

  TRY(const auto& picking, resolve_key(target.view, key));
  TRY(const auto& found, picks(picking, key));
  IndexSignature signature;
  signature.array = dtype;
  signature.task = IndexTask::apply;
  signature.ufunc = &ufunc;
  signature.loop = update.loop;
  Array written = target;
  if (own_type && dtype != DType::boolean) {
    if (ufunc.name == "add" || ufunc.name == "subtract") signature.task = IndexTask::add;
    signature.negated = ufunc.name == "subtract";
    if (ufunc.name == "minimum") signature.task = IndexTask::minimum;
    if (ufunc.name == "maximum") signature.task = IndexTask::maximum;
  }
  if (signature.task == IndexTask::apply)
    written.dtype = bits_of(dtype);
  else
    signature.ufunc = nullptr;
  return scatter(signature, written, picking, key, found, value);
}

}  // namespace arraycore
