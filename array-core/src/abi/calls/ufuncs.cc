#include "abi/calls/ufuncs.h"

#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <span>
#include <string>
#include <utility>

#include "abi/calls/functions.h"
#include "arraycore/arraycore.h"
#include "ops/tolerance.h"

namespace arraycore::calls {

namespace {

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

// Computes a ufunc. Returns the first result's id and keeps a second one for AC_CALL_RESULT.
Result<ArrayId> run(Context& context, const UFuncCall& call) {
  TRY(auto& results, context.ufuncs().run(call));
  const ops::UFunc& ufunc = ops::table()[static_cast<std::size_t>(call.ufunc)];
  std::array<ArrayId, ops::kMaxResults> ids{};
  for (std::size_t i = 0; i < static_cast<std::size_t>(ufunc.results); ++i) {
    if (call.out[i] != nullptr) continue;
    TRY(auto& id, context.insert(std::move(results.arrays[i])));
    ids[i] = id;
  }
  // The previous second result is freed if nobody fetched it.
  context.release(std::exchange(context.second_result, ids[1]));
  return ids[0];
}

// Runs the ufunc without an `out`, in the current promotion mode.
Result<ArrayId> run(Context& context, std::int32_t ufunc, std::span<const UFuncOperand> operands) {
  UFuncCall call;
  call.ufunc = ufunc;
  call.operands = operands;
  call.mode = context.promotion;
  return run(context, call);
}

}  // namespace

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
  TRY(const auto& left, context.get(a));
  TRY(const auto& right, context.get(b));
  std::array<UFuncOperand, 2> operands;
  operands[0].array = left;
  operands[1].array = right;
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

Result<std::int32_t> ufunc(Context& context, ops::UFuncId number, std::optional<DType> dtype,
                           Casting casting, const Array* where, const Array* out,
                           const Array* second_out, const Operands& operands) {
  UFuncCall call;
  call.ufunc = number;
  call.operands = {operands.values.data(), operands.count};
  call.mode = context.promotion;
  call.dtype = dtype;
  call.casting = casting;
  call.where = where;
  call.out = {out, second_out};
  return run(context, call);
}

// Returns the error bound of the ufunc's loop for these operands, as the bits of a float. Tests
// compare results with this bound.
Result<std::int32_t> tolerance(Context&, ops::UFuncId number, bool on_gpu, bool floor,
                               const OperandDTypes& operands) {
  const ops::UFunc& ufunc = ops::table()[static_cast<std::size_t>(number)];
  for (const ops::Loop& loop : ops::loops_of(ufunc)) {
    if (loop.operands != operands) continue;
    const ops::Bound bound =
        ops::bound_of(ufunc, loop, on_gpu ? ops::Executor::gpu : ops::Executor::cpu);
    return std::bit_cast<std::int32_t>(floor ? bound.floor : bound.ulp);
  }
  return Error{ErrorKind::type, "no_loop",
               std::string(ufunc.name) + " has no loop of exactly these dtypes."};
}

}  // namespace arraycore::calls
