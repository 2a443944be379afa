#include "operations/ufunc_call.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "backend/kernel_name.h"
#include "view/shape.h"

namespace arraycore {

namespace {

constexpr std::size_t kFirstTable = 256;  // a power of two

// Encodes the dtype and kind of an operand as a number below 64.
std::uint64_t code_of(const UFuncOperand& operand) {
  if (operand.array != nullptr) return static_cast<std::uint64_t>(operand.array->dtype);
  if (operand.python) return kDTypes + static_cast<std::uint64_t>(*operand.python);
  return kDTypes + 3 + (operand.strong ? kDTypes : 0) + static_cast<std::uint64_t>(operand.dtype);
}
static_assert(kDTypes + 3 + 2 * kDTypes < 64);

std::uint64_t key_of(const UFuncCall& call) {
  std::uint64_t key = 1;  // begins with 1, so that no key is 0
  const auto add = [&key](std::uint64_t value, int bits) { key = key << bits | value; };
  add(static_cast<std::uint64_t>(call.mode), 1);
  add(call.dtype ? static_cast<std::uint64_t>(*call.dtype) : kDTypes, 4);
  for (const UFuncOperand& operand : call.operands) add(code_of(operand), 6);
  for (const Array* out : call.out)
    add(out != nullptr ? static_cast<std::uint64_t>(out->dtype) : kDTypes, 4);
  add(static_cast<std::uint64_t>(call.casting), 3);
  add(call.where != nullptr ? 1 : 0, 1);
  // The ufunc is the key's last field and has a fixed size. It determines how many operands the
  // earlier fields describe.
  add(static_cast<std::uint64_t>(call.ufunc), 8);
  return key;
}

std::size_t place_of(std::uint64_t key, std::size_t places) {
  return static_cast<std::size_t>((key * 0x9E37'79B9'7F4A'7C15ULL) >> 32) & (places - 1);
}

ir::Scalar converted(const ir::Scalar& value, DType from, DType to) {
  if (from == to) return value;
  return ir::visit(from,
                   [&](auto zero) { return ir::scalar_of(to, ir::get<decltype(zero)>(value)); });
}

ir::Scalar integer_of(const PythonInt& value, DType to) {
  if (!value.negative) return ir::scalar_of(to, value.magnitude);
  return ir::scalar_of(to, static_cast<std::int64_t>(0 - value.magnitude));
}

PythonInt integer_in(const ir::Scalar& value, DType dtype) {
  if (kind_of(dtype) == Kind::unsigned_integer)
    return {false, converted(value, dtype, DType::uint64).bits, false};
  const auto wide = static_cast<std::int64_t>(converted(value, dtype, DType::int64).bits);
  const auto bits = static_cast<std::uint64_t>(wide);
  return {wide < 0, wide < 0 ? 0 - bits : bits, false};
}

// Returns whether the ufunc is a comparison. NumPy compares an integer array with any Python int
// exactly.
bool is_comparison(const ops::UFunc& ufunc) {
  constexpr std::array<std::string_view, 6> kNames{"equal",      "not_equal", "less",
                                                   "less_equal", "greater",   "greater_equal"};
  return std::find(kNames.begin(), kNames.end(), ufunc.name) != kNames.end();
}

// Replaces a Python int that the array's integers (int64 for bools) cannot hold by a scalar that
// gives NumPy's result: division is by its float64, and logic asks only whether it is 0. Error:
// "scalar_out_of_bounds", if no float64 is near it.
Status replace_beyond(const ops::UFunc& ufunc, std::span<UFuncOperand> operands) {
  const bool divides = ufunc.name == "divide";
  if (!divides && !ufunc.name.starts_with("logical_")) return Done{};
  for (std::size_t i = 0; i < 2; ++i) {
    UFuncOperand& scalar = operands[i];
    const Array* const array = operands[1 - i].array;
    if (scalar.python != PythonScalar::integer || array == nullptr) continue;
    const DType held = array->dtype == DType::boolean ? DType::int64 : array->dtype;
    if (!is_integer(held) || check_fits(scalar.integer, held)) continue;
    if (!divides && !check_fits(scalar.integer, DType::int64)) continue;  // NumPy refuses it
    if (divides && std::isinf(ir::get<double>(scalar.value)))
      return Error{ErrorKind::value, "scalar_out_of_bounds", "int too large to convert to float"};
    scalar.python.reset();
    scalar.strong = true;
    scalar.dtype = divides ? DType::float64 : DType::boolean;
    if (!divides) scalar.value = ir::scalar_of(DType::boolean, std::int64_t{1});
  }
  return Done{};
}

// Returns the result of `array OP value` (or with `left`, `value OP array`) if no 64-bit integer
// type can hold the value. It is the same for every element.
bool beyond_compares(std::string_view name, bool negative, bool left) {
  if (name == "equal") return false;
  if (name == "not_equal") return true;
  const bool array_is_less = !negative;
  const bool asks_less = name.starts_with("less") != left;
  return array_is_less == asks_less;
}

Error out_shape() {
  return {ErrorKind::value, "out_shape",
          "An array passed as 'out' must have the shape that the operands broadcast to."};
}

}  // namespace

Result<ir::Scalar> value_for(const UFuncOperand& operand, DType to) {
  if (operand.python == PythonScalar::integer) {
    if (!is_integer(to) && to != DType::boolean)
      return converted(operand.value, DType::float64, to);
    TRY_DONE(check_fits(operand.integer, to));
    return integer_of(operand.integer, to);
  }
  if (operand.python == PythonScalar::floating) return converted(operand.value, DType::float64, to);
  if (operand.python == PythonScalar::complex)
    return converted(operand.value, DType::complex128, to);
  // Only CuPy's promotion can convert an integer operand to a narrower type.
  if (is_integer(operand.dtype) && is_integer(to) && !can_cast(operand.dtype, to, Casting::safe)) {
    TRY_DONE(check_fits(integer_in(operand.value, operand.dtype), to));
  }
  return converted(operand.value, operand.dtype, to);
}

Result<const UFuncCalls::Decided*> UFuncCalls::decide(const UFuncCall& call) {
  const std::uint64_t key = key_of(call);
  if (!decided_.empty())
    for (std::size_t place = place_of(key, decided_.size());;
         place = (place + 1) & (decided_.size() - 1)) {
      if (decided_[place].key == key) return &decided_[place];
      if (decided_[place].key == 0) break;
    }

  const ops::UFunc& ufunc = ops::table()[static_cast<std::size_t>(call.ufunc)];
  std::array<ops::Operand, ops::kMaxOperands> operands;
  ops::KernelSpec spec;
  spec.ufunc = &ufunc;
  spec.where = call.where != nullptr;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const UFuncOperand& operand = call.operands[i];
    spec.scalar[i] = operand.array == nullptr;
    operands[i].python = operand.python;
    operands[i].is_scalar = operand.array == nullptr && !operand.strong;
    operands[i].dtype = operand.array != nullptr ? operand.array->dtype : operand.dtype;
    spec.operands[i] = operands[i].dtype;
  }
  TRY(auto& loop, ops::resolve(ufunc, call.mode, {operands.data(), call.operands.size()},
                               call.dtype, call.casting));
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    // A Python number has no dtype, and under CuPy's promotion no scalar has one. Logic asks each
    // operand by itself whether it is 0.
    const ops::Operand& operand = operands[i];
    if (operand.python || (operand.is_scalar && call.mode == PromotionMode::cupy) ||
        ufunc.name.starts_with("logical_"))
      continue;
    // The table's loops of `divide` take integers, which NumPy casts to float64 first.
    const bool divides = ufunc.name == "divide" && loop.results[0] == DType::float64;
    const DType computed = divides ? DType::float64 : loop.operands[i];
    if (!can_cast(operand.dtype, computed, call.casting))
      return Error{ErrorKind::type, "cannot_cast",
                   std::string(ufunc.name) + " computes in " + std::string(name_of(computed)) +
                       ", to which the casting rule does not allow to cast the " +
                       std::string(name_of(operand.dtype)) + " of an operand."};
  }
  Decided decided;
  decided.key = key;
  decided.loop = spec.loop = loop;
  for (std::size_t i = 0; i < static_cast<std::size_t>(ufunc.results); ++i) {
    const DType computed = loop.results[i];
    decided.results[i] = spec.out[i] = call.out[i] != nullptr ? call.out[i]->dtype : computed;
    if (!can_cast(computed, spec.out[i], call.casting))
      return Error{ErrorKind::type, "cannot_cast",
                   std::string(ufunc.name) + " gives " + std::string(name_of(computed)) +
                       ", which the casting rule does not allow to become the " +
                       std::string(name_of(spec.out[i])) + " of 'out'."};
  }
  TRY(const auto& kernel, launcher_.prepare(ops::make_kernel(spec)));
  decided.kernel = kernel;

  // The table is at most half full, so that searches are short.
  if (2 * (count_ + 1) > decided_.size()) {
    std::vector<Decided> larger(std::max(kFirstTable, 2 * decided_.size()));
    for (const Decided& each : decided_)
      if (each.key != 0) put(larger, each);
    decided_ = std::move(larger);
  }
  ++count_;
  return put(decided_, decided);
}

const UFuncCalls::Decided* UFuncCalls::put(std::vector<Decided>& table, const Decided& decided) {
  std::size_t place = place_of(decided.key, table.size());
  while (table[place].key != 0) place = (place + 1) & (table.size() - 1);
  table[place] = decided;
  return &table[place];
}

// Compares an integer array with a Python int that its dtype cannot hold: exactly in 64 bits if the
// int fits, otherwise without any computation.
Result<std::optional<UFuncResults>> UFuncCalls::compare_beyond(const UFuncCall& call,
                                                               std::span<UFuncOperand> operands) {
  const ops::UFunc& ufunc = ops::table()[static_cast<std::size_t>(call.ufunc)];
  for (std::size_t i = 0; i < 2; ++i) {
    UFuncOperand& scalar = operands[i];
    const Array* const array = operands[1 - i].array;
    if (scalar.python != PythonScalar::integer || array == nullptr || !is_integer(array->dtype) ||
        check_fits(scalar.integer, array->dtype))
      continue;
    const bool wide = scalar.integer.beyond || (scalar.integer.negative &&
                                                scalar.integer.magnitude > std::uint64_t{1} << 63);
    if (!wide) {
      const bool is_signed = scalar.integer.negative || scalar.integer.magnitude < std::uint64_t{1}
                                                                                       << 63;
      scalar.python.reset();
      scalar.strong = true;
      scalar.dtype = is_signed ? DType::int64 : DType::uint64;
      scalar.value = integer_of(scalar.integer, scalar.dtype);
      continue;
    }
    const bool answer = beyond_compares(ufunc.name, scalar.integer.negative, i == 0);
    UFuncResults results;
    Array target;
    if (call.out[0] != nullptr) {
      TRY_DONE(Launcher::writable(*call.out[0]));
      target = *call.out[0];
    } else {
      TRY(auto& made, launcher_.allocate(DType::boolean, array->view.shape));
      target = results.arrays[0] = std::move(made);
    }
    if (target.view.shape != array->view.shape) return out_shape();
    TRY_DONE(launcher_.fill(target, ir::scalar_of(target.dtype, answer ? std::int64_t{1} : 0)));
    return std::optional(std::move(results));
  }
  return std::optional<UFuncResults>{};
}

Result<UFuncResults> UFuncCalls::run(const UFuncCall& given) {
  UFuncCall call = given;
  const ops::UFunc& ufunc = ops::table()[static_cast<std::size_t>(call.ufunc)];
  std::array<UFuncOperand, ops::kMaxOperands> changed;
  if (call.operands.size() == 2 && (call.operands[0].python == PythonScalar::integer ||
                                    call.operands[1].python == PythonScalar::integer)) {
    std::copy(call.operands.begin(), call.operands.end(), changed.begin());
    call.operands = {changed.data(), 2};
    if (is_comparison(ufunc)) {
      TRY(auto& done, compare_beyond(call, {changed.data(), 2}));
      if (done) return std::move(*done);
    }
    TRY_DONE(replace_beyond(ufunc, {changed.data(), 2}));
  }
  for (const Array* out : call.out) {
    if (out == nullptr) continue;
    TRY_DONE(Launcher::writable(*out));
  }
  TRY(const auto& decision, decide(call));
  const Decided& decided = *decision;

  // Determines the shape of the loop. Usually all arrays have the same shape.
  std::array<const Array*, ops::kMaxOperands + 1 + ops::kMaxResults> arrays{};
  std::size_t count = 0;
  for (const UFuncOperand& operand : call.operands)
    if (operand.array != nullptr) arrays[count++] = operand.array;
  if (call.where != nullptr) arrays[count++] = call.where;
  for (const Array* out : call.out)
    if (out != nullptr) arrays[count++] = out;
  if (count == 0)
    return Error{ErrorKind::internal, "no_array", "A ufunc was called without an array."};
  Dims loop = arrays[0]->view.shape;
  if (!std::all_of(arrays.begin() + 1, arrays.begin() + static_cast<std::ptrdiff_t>(count),
                   [&](const Array* array) { return array->view.shape == loop; })) {
    std::array<Dims, arrays.size()> shapes;
    for (std::size_t i = 0; i < count; ++i) shapes[i] = arrays[i]->view.shape;
    TRY(const auto& common, broadcast_shapes({shapes.data(), count}));
    loop = common;
    for (const Array* out : call.out)
      if (out != nullptr && out->view.shape != loop) return out_shape();
  }

  std::array<Operand, ops::kMaxOperands + 1 + ops::kMaxResults> operands;
  std::size_t at = 0;
  for (std::size_t i = 0; i < call.operands.size(); ++i, ++at) {
    operands[at].array = call.operands[i].array;
    if (operands[at].array != nullptr) continue;
    TRY(const auto& value, value_for(call.operands[i], decided.loop.operands[i]));
    operands[at].scalar = value;
  }
  if (call.where != nullptr) operands[at++].array = call.where;
  UFuncResults results;
  for (std::size_t i = 0; i < static_cast<std::size_t>(ufunc.results); ++i, ++at) {
    operands[at].array = call.out[i];
    if (operands[at].array != nullptr) continue;
    auto made = launcher_.allocate(decided.results[i], loop);
    if (!made) return named(made.error(), operation_name(launcher_.kernel(decided.kernel)));
    // In a new result, elements are 0 where `where` is false, instead of old content of the memory.
    if (call.where != nullptr) {
      TRY_DONE(launcher_.fill_zero(*made));
    }
    results.arrays[i] = std::move(*made);
    operands[at].array = &results.arrays[i];
  }
  const Status launched = launcher_.launch({decided.kernel, loop, 0, {operands.data(), at}});
  if (!launched) return launched.error();
  return results;
}

}  // namespace arraycore
