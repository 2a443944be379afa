#include "abi/calls/ufuncs.h"

#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <span>
#include <string>
#include <utility>

#include "abi/calls/calls.h"
#include "arraycore/arraycore.h"
#include "ops/tolerance.h"

namespace arraycore::calls {

namespace {

constexpr std::int32_t kArrayOperand = -1;
constexpr double kExactIntegers = 0x1p53;

Error no_ufunc(std::int32_t number) {
  return {ErrorKind::internal, "unknown_operation",
          "There is no ufunc " + std::to_string(number) + "."};
}

bool takes(std::int32_t ufunc, int operands) {
  const auto table = ops::table();
  return ufunc >= 0 && static_cast<std::size_t>(ufunc) < table.size() &&
         table[static_cast<std::size_t>(ufunc)].operands == operands;
}

UFuncOperand weak_integer(double value) {
  UFuncOperand operand;
  operand.python = PythonScalar::integer;
  operand.integer = {value < 0, static_cast<std::uint64_t>(std::fabs(value)), false};
  operand.value = ir::put(value);
  return operand;
}

UFuncOperand boolean_scalar(bool value) {
  UFuncOperand operand;
  operand.dtype = DType::boolean;
  operand.value = ir::put(value);
  return operand;
}

UFuncOperand weak_float(double value) {
  UFuncOperand operand;
  operand.python = PythonScalar::floating;
  operand.value = ir::put(value);
  return operand;
}

// Returns the first result's id and keeps a second one for AC_CALL_RESULT.
Result<ArrayId> run(Context& context, const UFuncCall& call) {
  auto results = context.ufuncs().run(call);
  if (!results) return results.error();
  const ops::UFunc& ufunc = ops::table()[static_cast<std::size_t>(call.ufunc)];
  std::array<ArrayId, ops::kMaxResults> ids{};
  for (std::size_t i = 0; i < static_cast<std::size_t>(ufunc.results); ++i) {
    if (call.out[i] != nullptr) continue;
    auto id = context.insert(std::move(results->arrays[i]));
    if (!id) return id.error();
    ids[i] = *id;
  }
  // A second result that nobody fetched is freed.
  context.release(std::exchange(context.second_result, ids[1]));
  return ids[0];
}

// Writes to new arrays, with the current promotion mode.
Result<ArrayId> run(Context& context, std::int32_t ufunc, std::span<const UFuncOperand> operands) {
  UFuncCall call;
  call.ufunc = ufunc;
  call.operands = operands;
  call.mode = context.promotion;
  return run(context, call);
}

Result<std::int32_t> ufunc_call(Context& context, Words& words) {
  UFuncCall call;
  call.ufunc = words.below(static_cast<std::int32_t>(ops::table().size()));
  call.mode = context.promotion;
  const std::int32_t dtype = words.below(static_cast<std::int32_t>(kDTypes) + 1);
  if (dtype > 0) call.dtype = static_cast<DType>(dtype - 1);
  call.casting = static_cast<Casting>(words.below(static_cast<std::int32_t>(Casting::unsafe) + 1));
  const ArrayId where = words.next();
  const std::array<ArrayId, ops::kMaxResults> out{words.next(), words.next()};
  const ops::UFunc& ufunc = ops::table()[static_cast<std::size_t>(call.ufunc)];
  std::array<UFuncOperand, ops::kMaxOperands> operands;
  std::array<ArrayId, ops::kMaxOperands> ids{};
  const auto count = static_cast<std::size_t>(ufunc.operands);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t kind = words.next();
    if (kind == kArrayOperand)
      ids[i] = words.next();
    else
      operands[i] = read_scalar(words, kind);
  }
  const Status read = words.end();
  if (!read) return read.error();
  for (std::size_t i = 0; i < count; ++i) {
    if (ids[i] == 0) continue;
    const auto array = context.get(ids[i]);
    if (!array) return array.error();
    operands[i].array = *array;
  }
  call.operands = {operands.data(), count};
  for (std::size_t i = 0; i < static_cast<std::size_t>(ufunc.results); ++i) {
    if (out[i] == 0) continue;
    const auto array = context.get(out[i]);
    if (!array) return array.error();
    call.out[i] = *array;
  }
  if (where != 0) {
    const auto array = context.get(where);
    if (!array) return array.error();
    if ((*array)->dtype != DType::boolean)
      return Error{
          ErrorKind::type, "where_dtype",
          "'where' is an array of bool, not of " + std::string(name_of((*array)->dtype)) + "."};
    call.where = *array;
  }
  return run(context, call);
}

Result<std::int32_t> second_result(Context& context, Words& words) {
  const Status read = words.end();
  if (!read) return read.error();
  return std::exchange(context.second_result, 0);
}

// This is for tests and documents, which judge results by the table's own bounds.
Result<std::int32_t> tolerance(Context&, Words& words) {
  const auto number = words.below(static_cast<std::int32_t>(ops::table().size()));
  const ops::UFunc& ufunc = ops::table()[static_cast<std::size_t>(number)];
  const auto executor = words.flag() ? ops::Executor::gpu : ops::Executor::cpu;
  const bool floor = words.flag();
  std::array<DType, ops::kMaxOperands> operands{};
  for (std::size_t i = 0; i < static_cast<std::size_t>(ufunc.operands); ++i)
    operands[i] = words.dtype();
  const Status read = words.end();
  if (!read) return read.error();
  for (const ops::Loop& loop : ops::loops_of(ufunc)) {
    if (loop.operands != operands) continue;
    const ops::Bound bound = ops::bound_of(ufunc, loop, executor);
    return std::bit_cast<std::int32_t>(floor ? bound.floor : bound.ulp);
  }
  return Error{ErrorKind::type, "no_loop",
               std::string(ufunc.name) + " has no loop of exactly these dtypes."};
}

}  // namespace

UFuncOperand read_scalar(Words& words, std::int32_t kind) {
  UFuncOperand operand;
  switch (kind) {
    case AC_PYTHON_INT: {
      operand.python = PythonScalar::integer;
      operand.integer.negative = words.flag();
      operand.integer.magnitude = static_cast<std::uint64_t>(words.integer());
      operand.integer.beyond = words.flag();
      operand.value = ir::put(words.number());
      return operand;
    }
    case AC_PYTHON_FLOAT:
      return weak_float(words.number());
    case AC_PYTHON_COMPLEX: {
      operand.python = PythonScalar::complex;
      operand.value.bits = static_cast<std::uint64_t>(words.integer());
      operand.value.bits_high = static_cast<std::uint64_t>(words.integer());
      return operand;
    }
    case AC_PYTHON_BOOL:
      return boolean_scalar(words.flag());
    case AC_NUMPY_SCALAR:
      operand.dtype = words.dtype();
      operand.value.bits = static_cast<std::uint64_t>(words.integer());
      operand.value.bits_high = static_cast<std::uint64_t>(words.integer());
      return operand;
    default:
      words.below(0);  // marks the words as invalid
      return operand;
  }
}

Result<ArrayId> unary(Context& context, std::int32_t ufunc, ArrayId a) {
  if (!takes(ufunc, 1)) return no_ufunc(ufunc);
  const auto array = context.get(a);
  if (!array) return array.error();
  std::array<UFuncOperand, 1> operands;
  operands[0].array = *array;
  return run(context, ufunc, operands);
}

Result<ArrayId> binary(Context& context, std::int32_t ufunc, ArrayId a, ArrayId b) {
  if (!takes(ufunc, 2)) return no_ufunc(ufunc);
  const auto left = context.get(a);
  if (!left) return left.error();
  const auto right = context.get(b);
  if (!right) return right.error();
  std::array<UFuncOperand, 2> operands;
  operands[0].array = *left;
  operands[1].array = *right;
  return run(context, ufunc, operands);
}

Result<ArrayId> binary_scalar(Context& context, std::int32_t ufunc, ArrayId a, double value,
                              std::int32_t kind, bool left) {
  if (!takes(ufunc, 2)) return no_ufunc(ufunc);
  const bool integral = kind == AC_PYTHON_INT;
  if (!integral && kind != AC_PYTHON_FLOAT && kind != AC_PYTHON_BOOL) return bad_call();
  if (integral && !(std::fabs(value) < kExactIntegers && value == std::trunc(value)))
    return bad_call();
  const auto array = context.get(a);
  if (!array) return array.error();
  std::array<UFuncOperand, 2> operands;
  operands[left ? 1 : 0].array = *array;
  operands[left ? 0 : 1] = integral                  ? weak_integer(value)
                           : kind == AC_PYTHON_FLOAT ? weak_float(value)
                                                     : boolean_scalar(value != 0);
  return run(context, ufunc, operands);
}

Call find_ufunc_call(std::int32_t operation) {
  if (operation == AC_CALL_UFUNC) return ufunc_call;
  if (operation == AC_CALL_TOLERANCE) return tolerance;
  return operation == AC_CALL_RESULT ? second_result : nullptr;
}

}  // namespace arraycore::calls
