// The operations that index by arrays and masks, and the functions that decode their arguments from
// the words of an ac_call. Python's thread only.
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "abi/calls/copies.h"
#include "abi/calls/functions.h"

namespace arraycore::calls {

namespace {

constexpr std::int32_t kArrayValue = -1;
constexpr std::int32_t kNoValue = -2;

ValueWords value_after(Words& words, std::int32_t kind) {
  ValueWords value;
  if (kind == kArrayValue)
    value.id = words.next();
  else
    value.scalar = read_scalar(words, kind);
  return value;
}

// Returns the operand as a value that can be assigned to elements of `dtype`.
Result<IndexedValue> assigned(const UFuncOperand& operand, DType dtype) {
  if (operand.array != nullptr) return IndexedValue{operand.array, {}, dtype};
  TRY(const auto& element, element_of(operand, dtype));
  return IndexedValue{nullptr, element, dtype};
}

ops::Operand typed(const UFuncOperand& operand) {
  return {operand.dtype, operand.array == nullptr && !operand.strong, operand.python};
}

// Returns a mask of the elements that are not 0.
Result<Array> as_mask(Context& context, const Array& array) {
  if (array.dtype == DType::boolean) return array;
  return context.launcher().copy(array, DType::boolean);
}

}  // namespace

// ---- words

ValueWords read_value(Words& words) { return value_after(words, words.next()); }

std::optional<ValueWords> read_optional_value(Words& words) {
  const std::int32_t kind = words.next();
  if (kind == kNoValue) return std::nullopt;
  return value_after(words, kind);
}

Result<UFuncOperand> operand_of(const Context& context, const ValueWords& value) {
  if (!value.id) return value.scalar;
  TRY(const auto& array, context.get(*value.id));
  UFuncOperand operand;
  operand.array = array;
  operand.dtype = array->dtype;
  return operand;
}

Result<std::optional<UFuncOperand>> optional_operand_of(const Context& context,
                                                        const std::optional<ValueWords>& value) {
  if (!value) return std::optional<UFuncOperand>();
  TRY(const auto& operand, operand_of(context, *value));
  return std::optional(operand);
}

std::vector<KeyWords> read_key(Words& words) {
  std::vector<KeyWords> key;
  while (words.left() > 0) {
    KeyWords item;
    item.head = words.below(static_cast<std::int32_t>(KeyHead::outside) + 1);
    if (item.head < kItemHeads) {
      item.basic = read_item(words, item.head);
    } else {
      const auto head = static_cast<KeyHead>(item.head);
      item.id = words.next();
      if (head == KeyHead::positions) item.mask_shape = words.dims();
      if (head == KeyHead::outside) item.outside = words.integer();
      if (head == KeyHead::flat || head == KeyHead::flat_checked)
        item.axes = words.below(kMaxDims + 1);
    }
    key.push_back(item);
  }
  return key;
}

Result<std::vector<KeyItem>> key_of(const Context& context, const std::vector<KeyWords>& words) {
  std::vector<KeyItem> key;
  for (const KeyWords& each : words) {
    KeyItem item;
    item.basic = each.basic;
    if (each.head >= kItemHeads) {
      const auto head = static_cast<KeyHead>(each.head);
      TRY(const auto& array, context.get(each.id));
      const DType dtype = array->dtype;
      const bool good = head == KeyHead::mask        ? dtype == DType::boolean
                        : head == KeyHead::positions ? dtype == DType::int32
                                                     : is_integer(dtype);
      if (!good)
        return Error{ErrorKind::index, "index_dtype",
                     "arrays used as indices must be of integer (or boolean) type"};
      const bool mask = head == KeyHead::mask || head == KeyHead::positions;
      item.kind = mask ? KeyItem::Kind::mask : KeyItem::Kind::integers;
      item.array = *array;
      item.axes = each.axes;
      item.checked = head == KeyHead::checked || head == KeyHead::flat_checked;
      if (head == KeyHead::outside) item.outside = each.outside;
      if (head == KeyHead::positions) item.mask_shape = each.mask_shape;
    }
    key.push_back(std::move(item));
  }
  return key;
}

// ---- operations

Status key_fill(Context& context, const Array& target, const UFuncOperand& value,
                const std::vector<KeyItem>& key) {
  TRY(const auto& element, assigned(value, target.dtype));
  return context.indexing().write(target, key, element);
}

Status write_where(Context& context, const Array& target, const Array& mask,
                   const UFuncOperand& value) {
  TRY(const auto& source, assigned(value, target.dtype));
  return context.indexing().write_where(target, mask, source);
}

Status key_update(Context& context, const Array& target, ops::UFuncId number, bool cast,
                  const std::optional<UFuncOperand>& value, const std::vector<KeyItem>& key) {
  const ops::UFunc& ufunc = ops::table()[static_cast<std::size_t>(number)];
  // A ufunc of two operands needs a value. A ufunc of one operand takes none.
  if ((ufunc.operands == 2) != value.has_value() || ufunc.results != 1) return bad_call();
  // As in NumPy, the result may have any dtype; "unsafe" casting converts it to the target's dtype.
  const ops::Operand first{target.dtype, false, std::nullopt};
  const std::array operands{first, cast || !value ? first : typed(*value)};
  TRY(const auto& loop,
      ops::resolve(ufunc, context.promotion,
                   std::span(operands).first(static_cast<std::size_t>(ufunc.operands))));
  IndexedValue given{value ? value->array : nullptr, {}, DType::int32};
  if (value && value->array == nullptr) {
    given.scalar_dtype = loop.operands[1];
    TRY(const auto& scalar,
        cast ? element_of(*value, given.scalar_dtype) : value_for(*value, given.scalar_dtype));
    given.scalar = scalar;
  }
  return context.indexing().update(target, key, {&ufunc, loop}, given);
}

Result<Array> nonzero(Context& context, const Array& x) {
  TRY(const auto& mask, as_mask(context, x));
  Masks& masks = context.indexing().masks();
  TRY(const auto& positions, masks.positions(mask));
  return masks.coordinates(positions, mask.view.shape);
}

Result<Array> select(Context& context, const Array& condition, const UFuncOperand& then,
                     const UFuncOperand& otherwise) {
  const std::array<const UFuncOperand*, 2> operands{&then, &otherwise};
  std::vector<DType> arrays;
  std::vector<ScalarOperand> scalars;
  for (const UFuncOperand* operand : operands) {
    if (operand->array != nullptr || operand->strong)
      arrays.push_back(operand->dtype);
    else if (operand->python)
      scalars.push_back(ScalarOperand::of(*operand->python));
    else
      scalars.push_back(ScalarOperand::of(operand->dtype));
  }
  const DType dtype = result_type(context.promotion, arrays, scalars);
  TRY(const auto& mask, as_mask(context, condition));
  std::array<IndexedValue, 2> values;
  for (std::size_t i = 0; i < 2; ++i) {
    values[i] = {operands[i]->array, {}, dtype};
    if (operands[i]->array != nullptr) continue;
    TRY(const auto& scalar, value_for(*operands[i], dtype));
    values[i].scalar = scalar;
  }
  return context.indexing().select(mask, values[0], values[1], dtype);
}

}  // namespace arraycore::calls
