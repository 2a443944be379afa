#include "abi/calls/reductions.h"

#include <bit>
#include <optional>
#include <string>
#include <utility>

#include "abi/calls/calls.h"
#include "abi/calls/ufuncs.h"
#include "arraycore/arraycore.h"

namespace arraycore::calls {

namespace {

std::int32_t reduction_number(Words& words) {
  return words.below(static_cast<std::int32_t>(ops::reductions().size()));
}

// Reads a ufunc of two operands and one result, which can combine elements.
ops::UFuncId folding_ufunc(Words& words) {
  const std::int32_t number = words.below(static_cast<std::int32_t>(ops::table().size()));
  const ops::UFunc& ufunc = ops::table()[static_cast<std::size_t>(number)];
  if (ufunc.operands != 2 || ufunc.results != 1) words.below(0);  // marks the words as invalid
  return number;
}

std::optional<DType> optional_dtype(Words& words) {
  const std::int32_t number = words.below(static_cast<std::int32_t>(kDTypes) + 1);
  if (number == 0) return std::nullopt;
  return static_cast<DType>(number - 1);
}

// Returns the array of an id, or nullptr for 0.
Result<const Array*> optional_array(const Context& context, ArrayId id) {
  if (id == 0) return static_cast<const Array*>(nullptr);
  return context.get(id);
}

Result<std::int32_t> given(Context& context, Result<std::optional<Array>> result) {
  if (!result) return result.error();
  if (!*result) return 0;
  return context.insert(std::move(**result));
}

Result<std::int32_t> reduce(Context& context, Words& words) {
  ReductionCall call;
  if (words.flag())
    call.ufunc = folding_ufunc(words);
  else
    call.reduction = reduction_number(words);
  const ArrayId x = words.next();
  call.dtype = optional_dtype(words);
  call.keep_dims = words.flag();
  if (words.flag()) call.axes = words.dims();
  const ArrayId out = words.next();
  const ArrayId where = words.next();
  call.less = words.number();
  const std::int32_t initial = words.below(3);
  if (initial == 1) call.initial = read_scalar(words, words.next());
  call.has_identity = initial != 2;
  if (const Status read = words.end(); !read) return read.error();
  const auto array = context.get(x);
  if (!array) return array.error();
  const auto target = optional_array(context, out);
  if (!target) return target.error();
  const auto mask = optional_array(context, where);
  if (!mask) return mask.error();
  if (*mask != nullptr && (*mask)->dtype != DType::boolean)
    return Error{
        ErrorKind::type, "where_dtype",
        "'where' is an array of bool, not of " + std::string(name_of((*mask)->dtype)) + "."};
  call.x = *array;
  call.out = *target;
  call.where = *mask;
  return given(context, context.reductions().run(call));
}

Result<std::int32_t> accumulate(Context& context, Words& words) {
  AccumulateCall call;
  call.ufunc = folding_ufunc(words);
  call.skips_nan = words.flag();
  const ArrayId x = words.next();
  call.axis = words.integer();
  call.dtype = optional_dtype(words);
  const ArrayId out = words.next();
  if (const Status read = words.end(); !read) return read.error();
  const auto array = context.get(x);
  if (!array) return array.error();
  const auto target = optional_array(context, out);
  if (!target) return target.error();
  call.x = *array;
  call.out = *target;
  return given(context, context.reductions().run(call));
}

Result<std::int32_t> number_of(Context&, Words& words) {
  std::string name;
  while (words.left() > 0) name += static_cast<char>(words.below(128));
  if (const Status read = words.end(); !read) return read.error();
  const auto found = ops::find_reduction(name);
  if (found) return *found;
  return Error{ErrorKind::internal, "unknown_operation", "There is no reduction '" + name + "'."};
}

// This is for tests and documents, which judge results by the table's own bounds.
Result<std::int32_t> tolerance(Context&, Words& words) {
  const std::int32_t number = reduction_number(words);
  const std::int64_t elements = words.integer();
  const bool complex = words.flag();
  if (const Status read = words.end(); !read) return read.error();
  return std::bit_cast<std::int32_t>(
      ops::reductions()[static_cast<std::size_t>(number)].growth.ulp(elements, complex));
}

}  // namespace

Call find_reduction_call(std::int32_t operation) {
  switch (operation) {
    case AC_CALL_REDUCE:
      return reduce;
    case AC_CALL_ACCUMULATE:
      return accumulate;
    case AC_CALL_REDUCTION_NUMBER:
      return number_of;
    case AC_CALL_REDUCTION_TOLERANCE:
      return tolerance;
    default:
      return nullptr;
  }
}

}  // namespace arraycore::calls
