#include "abi/calls/indexing.h"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "abi/calls/calls.h"
#include "abi/calls/copies.h"
#include "abi/calls/ufuncs.h"
#include "abi/calls/views.h"
#include "arraycore/arraycore.h"

namespace arraycore::calls {

namespace {

constexpr std::int32_t kArrayValue = -1;
constexpr std::int32_t kNoValue = -2;

enum KeyHead : std::int32_t {
  kIntegers = 32,
  kChecked = 33,
  kMask = 34,
  kPositions = 35,
  kFlat = 36,
  kFlatChecked = 37,
  kOutside = 38,
  kEnd
};

// An item of a key whose array has not been looked up yet.
struct KeyWords {
  std::int32_t head = 0;
  Index basic;
  ArrayId id = 0;
  int axes = 1;
  std::int64_t outside = 0;
  Dims mask_shape;
};

std::vector<KeyWords> read_key(Words& words) {
  std::vector<KeyWords> key;
  while (words.left() > 0) {
    KeyWords item;
    item.head = words.below(kEnd);
    if (item.head < kIntegers) {
      item.basic = read_item(words, item.head);
    } else {
      item.id = words.next();
      if (item.head == kPositions) item.mask_shape = words.dims();
      if (item.head == kOutside) item.outside = words.integer();
      if (item.head == kFlat || item.head == kFlatChecked) item.axes = words.below(kMaxDims + 1);
    }
    key.push_back(item);
  }
  return key;
}

Result<std::vector<KeyItem>> key_of(const Context& context, std::span<const KeyWords> words) {
  std::vector<KeyItem> key;
  for (const KeyWords& each : words) {
    KeyItem item;
    item.basic = each.basic;
    if (each.head >= kIntegers) {
      const auto array = context.get(each.id);
      if (!array) return array.error();
      const DType dtype = (*array)->dtype;
      const bool good = each.head == kMask        ? dtype == DType::boolean
                        : each.head == kPositions ? dtype == DType::int32
                                                  : is_integer(dtype);
      if (!good)
        return Error{ErrorKind::index, "index_dtype",
                     "arrays used as indices must be of integer (or boolean) type"};
      const bool mask = each.head == kMask || each.head == kPositions;
      item.kind = mask ? KeyItem::Kind::mask : KeyItem::Kind::integers;
      item.array = **array;
      item.axes = each.axes;
      item.checked = each.head == kChecked || each.head == kFlatChecked;
      if (each.head == kOutside) item.outside = each.outside;
      if (each.head == kPositions) item.mask_shape = each.mask_shape;
    }
    key.push_back(std::move(item));
  }
  return key;
}

// A value's words, and the value once the arrays have been looked up.
struct ValueWords {
  std::int32_t kind = kNoValue;
  ArrayId id = 0;
  UFuncOperand scalar;
};

ValueWords read_value(Words& words) {
  ValueWords value;
  value.kind = words.next();
  if (value.kind == kArrayValue)
    value.id = words.next();
  else if (value.kind != kNoValue)
    value.scalar = read_scalar(words, value.kind);
  return value;
}

Result<UFuncOperand> operand_of(const Context& context, const ValueWords& value) {
  if (value.kind != kArrayValue) return value.scalar;
  const auto array = context.get(value.id);
  if (!array) return array.error();
  UFuncOperand operand;
  operand.array = *array;
  operand.dtype = (*array)->dtype;
  return operand;
}

// Returns a value that is assigned to elements of `dtype`.
Result<IndexedValue> assigned(const UFuncOperand& operand, DType dtype) {
  if (operand.array != nullptr) return IndexedValue{operand.array, {}, dtype};
  const auto element = element_of(operand, dtype);
  if (!element) return element.error();
  return IndexedValue{nullptr, *element, dtype};
}

Result<std::int32_t> done(const Status& status) {
  if (!status) return status.error();
  return 0;
}

// ---- reads and writes

Result<std::int32_t> key_read(Context& context, Words& words) {
  const ArrayId id = words.next();
  const std::vector<KeyWords> items = read_key(words);
  const Status end = words.end();
  if (!end) return end.error();
  const auto array = context.get(id);
  if (!array) return array.error();
  const auto key = key_of(context, items);
  if (!key) return key.error();
  auto made = context.indexing().read(**array, *key);
  if (!made) return made.error();
  return context.insert(std::move(*made));
}

Result<std::int32_t> write(Context& context, ArrayId id, const ValueWords& value,
                           std::span<const KeyWords> items, const Words& words) {
  const Status end = words.end();
  if (!end) return end.error();
  const auto target = context.get(id);
  if (!target) return target.error();
  const auto operand = operand_of(context, value);
  if (!operand) return operand.error();
  const auto key = key_of(context, items);
  if (!key) return key.error();
  const auto given = assigned(*operand, (*target)->dtype);
  if (!given) return given.error();
  return done(context.indexing().write(**target, *key, *given));
}

Result<std::int32_t> key_write(Context& context, Words& words) {
  const ArrayId id = words.next();
  ValueWords value;
  value.kind = kArrayValue;
  value.id = words.next();
  const std::vector<KeyWords> items = read_key(words);
  return write(context, id, value, items, words);
}

Result<std::int32_t> key_fill(Context& context, Words& words) {
  const ArrayId id = words.next();
  ValueWords value;
  value.kind = words.next();
  value.scalar = read_scalar(words, value.kind);
  const std::vector<KeyWords> items = read_key(words);
  return write(context, id, value, items, words);
}

Result<std::int32_t> write_where(Context& context, Words& words) {
  const ArrayId id = words.next();
  const ArrayId mask_id = words.next();
  const ValueWords value = read_value(words);
  const Status end = words.end();
  if (!end) return end.error();
  const auto target = context.get(id);
  if (!target) return target.error();
  const auto mask = context.get(mask_id);
  if (!mask) return mask.error();
  if ((*mask)->dtype != DType::boolean)
    return Error{
        ErrorKind::type, "where_dtype",
        "'where' is an array of bool, not of " + std::string(name_of((*mask)->dtype)) + "."};
  const auto operand = operand_of(context, value);
  if (!operand) return operand.error();
  const auto given = assigned(*operand, (*target)->dtype);
  if (!given) return given.error();
  return done(context.indexing().write_where(**target, **mask, *given));
}

// ---- updates

ops::Operand typed(const UFuncOperand& operand) {
  return {operand.dtype, operand.array == nullptr && !operand.strong, operand.python};
}

// Returns the loop of an update. Its result is cast back to the target by any cast that this needs,
// as in NumPy.
Result<ops::Loop> loop_of(const ops::UFunc& ufunc, PromotionMode mode, DType target,
                          const UFuncOperand& value, bool cast) {
  const ops::Operand first{target, false, std::nullopt};
  const std::array<ops::Operand, 2> operands{first, cast ? first : typed(value)};
  return ops::resolve(ufunc, mode,
                      std::span(operands).first(static_cast<std::size_t>(ufunc.operands)));
}

Result<std::int32_t> key_update(Context& context, Words& words) {
  const ArrayId id = words.next();
  const auto number = words.below(static_cast<std::int32_t>(ops::table().size()));
  const bool cast = words.flag();
  const ValueWords value = read_value(words);
  const std::vector<KeyWords> items = read_key(words);
  const ops::UFunc& ufunc = ops::table()[static_cast<std::size_t>(number)];
  // A ufunc of two operands takes a value, and one of one operand takes none.
  if ((ufunc.operands == 2) != (value.kind != kNoValue) || ufunc.results != 1) return bad_call();
  const Status end = words.end();
  if (!end) return end.error();
  const auto target = context.get(id);
  if (!target) return target.error();
  const auto operand = operand_of(context, value);
  if (!operand) return operand.error();
  const auto key = key_of(context, items);
  if (!key) return key.error();
  const DType dtype = (*target)->dtype;
  const auto loop = loop_of(ufunc, context.promotion, dtype, *operand, cast);
  if (!loop) return loop.error();
  IndexedValue given{operand->array, {}, DType::int32};
  if (ufunc.operands == 2 && operand->array == nullptr) {
    given.scalar_dtype = loop->operands[1];
    const auto scalar =
        cast ? element_of(*operand, given.scalar_dtype) : value_for(*operand, given.scalar_dtype);
    if (!scalar) return scalar.error();
    given.scalar = *scalar;
  }
  return done(context.indexing().update(**target, *key, {&ufunc, *loop}, given));
}

// ---- masks

// Returns a mask of the elements that are not 0.
Result<Array> as_mask(Context& context, const Array& array) {
  if (array.dtype == DType::boolean) return array;
  return context.launcher().copy(array, DType::boolean);
}

Result<std::int32_t> nonzero(Context& context, Words& words) {
  const ArrayId id = words.next();
  const Status end = words.end();
  if (!end) return end.error();
  const auto array = context.get(id);
  if (!array) return array.error();
  const auto mask = as_mask(context, **array);
  if (!mask) return mask.error();
  Masks& masks = context.indexing().masks();
  const auto positions = masks.positions(*mask);
  if (!positions) return positions.error();
  auto made = masks.coordinates(*positions, mask->view.shape);
  if (!made) return made.error();
  return context.insert(std::move(*made));
}

Result<std::int32_t> select(Context& context, Words& words) {
  const ArrayId id = words.next();
  const ValueWords first = read_value(words);
  const ValueWords second = read_value(words);
  const Status end = words.end();
  if (!end) return end.error();
  const auto condition = context.get(id);
  if (!condition) return condition.error();
  std::vector<DType> arrays;
  std::vector<ScalarOperand> scalars;
  std::array<UFuncOperand, 2> operands;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto operand = operand_of(context, i == 0 ? first : second);
    if (!operand) return operand.error();
    operands[i] = *operand;
    if (operand->array != nullptr || operand->strong)
      arrays.push_back(operand->dtype);
    else if (operand->python)
      scalars.push_back(ScalarOperand::of(*operand->python));
    else
      scalars.push_back(ScalarOperand::of(operand->dtype));
  }
  const DType dtype = result_type(context.promotion, arrays, scalars);
  const auto mask = as_mask(context, **condition);
  if (!mask) return mask.error();
  std::array<IndexedValue, 2> values;
  for (std::size_t i = 0; i < 2; ++i) {
    values[i] = {operands[i].array, {}, dtype};
    if (operands[i].array != nullptr) continue;
    const auto scalar = value_for(operands[i], dtype);
    if (!scalar) return scalar.error();
    values[i].scalar = *scalar;
  }
  auto made = context.indexing().select(*mask, values[0], values[1], dtype);
  if (!made) return made.error();
  return context.insert(std::move(*made));
}

}  // namespace

Call find_indexing_call(std::int32_t operation) {
  switch (operation) {
    case AC_CALL_KEY_READ:
      return key_read;
    case AC_CALL_KEY_WRITE:
      return key_write;
    case AC_CALL_KEY_FILL:
      return key_fill;
    case AC_CALL_KEY_UPDATE:
      return key_update;
    case AC_CALL_NONZERO:
      return nonzero;
    case AC_CALL_SELECT:
      return select;
    case AC_CALL_WRITE_WHERE:
      return write_where;
    default:
      return nullptr;
  }
}

}  // namespace arraycore::calls
