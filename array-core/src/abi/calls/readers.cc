#include "abi/calls/readers.h"

#include "arraycore/arraycore.h"

namespace arraycore::calls {

namespace {

constexpr std::int32_t kArrayOperand = -1;

const ops::UFunc& ufunc_at(ops::UFuncId number) {
  return ops::table()[static_cast<std::size_t>(number)];
}

}  // namespace

Result<const Array*> mask_of(const Context& context, ArrayId id) {
  const auto array = context.get(id);
  if (!array || (*array)->dtype == DType::boolean) return array;
  return Error{
      ErrorKind::type, "where_dtype",
      "'where' is an array of bool, not of " + std::string(name_of((*array)->dtype)) + "."};
}

std::vector<std::int64_t> read_integers(Words& words) {
  std::vector<std::int64_t> integers;
  integers.reserve(words.left() / 2);
  while (words.left() > 0) integers.push_back(words.integer());
  return integers;
}

std::optional<std::vector<std::int64_t>> read_optional_axes(Words& words) {
  if (!words.flag()) return std::nullopt;
  return read_integers(words);
}

UFuncOperand read_scalar(Words& words, std::int32_t kind) {
  UFuncOperand operand;
  switch (kind) {
    case AC_PYTHON_INT:
      operand.python = PythonScalar::integer;
      operand.integer.negative = words.flag();
      operand.integer.magnitude = static_cast<std::uint64_t>(words.integer());
      operand.integer.beyond = words.flag();
      operand.value = ir::put(words.number());
      return operand;
    case AC_PYTHON_FLOAT:
      operand.python = PythonScalar::floating;
      operand.value = ir::put(words.number());
      return operand;
    case AC_PYTHON_COMPLEX:
      operand.python = PythonScalar::complex;
      break;
    case AC_PYTHON_BOOL:
      operand.dtype = DType::boolean;
      operand.value = ir::put(words.flag());
      return operand;
    case AC_NUMPY_SCALAR:
      operand.dtype = words.dtype();
      break;
    default:
      words.below(0);  // marks the words as invalid
      return operand;
  }
  operand.value.bits = static_cast<std::uint64_t>(words.integer());
  operand.value.bits_high = static_cast<std::uint64_t>(words.integer());
  return operand;
}

Operands read_operands(Words& words, ops::UFuncId ufunc) {
  Operands operands;
  operands.count = static_cast<std::size_t>(ufunc_at(ufunc).operands);
  for (std::size_t i = 0; i < operands.count; ++i) {
    const std::int32_t kind = words.next();
    if (kind == kArrayOperand)
      operands.ids[i] = words.next();
    else
      operands.values[i] = read_scalar(words, kind);
  }
  return operands;
}

Status find_operands(const Context& context, Operands& operands) {
  for (std::size_t i = 0; i < operands.count; ++i) {
    if (operands.ids[i] == 0) continue;
    TRY(const auto& array, context.get(operands.ids[i]));
    operands.values[i].array = array;
  }
  return Done{};
}

OperandDTypes read_operand_dtypes(Words& words, ops::UFuncId ufunc) {
  OperandDTypes dtypes{};
  for (std::size_t i = 0; i < static_cast<std::size_t>(ufunc_at(ufunc).operands); ++i)
    dtypes[i] = words.dtype();
  return dtypes;
}

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

}  // namespace arraycore::calls
