// Reductions and accumulations, and the functions that decode their arguments from the words of an
// ac_call. Python's thread only.
#include <optional>
#include <string>

#include "abi/calls/functions.h"

namespace arraycore::calls {

ops::UFuncId read_combining_ufunc(Words& words) {
  const std::int32_t number = words.below(static_cast<std::int32_t>(ops::table().size()));
  const ops::UFunc& ufunc = ops::table()[static_cast<std::size_t>(number)];
  if (ufunc.operands != 2 || ufunc.results != 1) words.below(0);  // marks the words as invalid
  return number;
}

ReductionCall read_reducer(Words& words) {
  ReductionCall call;
  if (words.flag())
    call.ufunc = read_combining_ufunc(words);
  else
    call.reduction = words.below(static_cast<std::int32_t>(ops::reductions().size()));
  return call;
}

Initial read_initial(Words& words) {
  Initial initial;
  const std::int32_t form = words.below(3);
  if (form == 1) initial.value = read_scalar(words, words.next());
  initial.has_identity = form != 2;
  return initial;
}

std::optional<Dims> read_optional_dims(Words& words) {
  if (!words.flag()) return std::nullopt;
  return words.dims();
}

std::string read_text(Words& words) {
  std::string text;
  while (words.left() > 0) text += static_cast<char>(words.below(128));
  return text;
}

Result<std::optional<Array>> reduce(Context& context, const ReductionCall& reducer, const Array& x,
                                    std::optional<DType> dtype, bool keep_dims,
                                    const std::optional<Dims>& axes, const Array* out,
                                    const Array* where, double ddof, const Initial& initial) {
  ReductionCall call = reducer;
  call.x = &x;
  call.dtype = dtype;
  call.keep_dims = keep_dims;
  call.axes = axes;
  call.out = out;
  call.where = where;
  call.less = ddof;
  call.initial = initial.value;
  call.has_identity = initial.has_identity;
  return context.reductions().run(call);
}

Result<std::optional<Array>> accumulate(Context& context, ops::UFuncId number, bool skips_nan,
                                        const Array& x, std::int64_t axis,
                                        std::optional<DType> dtype, const Array* out) {
  return context.reductions().run(AccumulateCall{number, &x, axis, dtype, out, skips_nan});
}

Result<std::int32_t> reduction_number(Context&, const std::string& name) {
  if (const auto found = ops::find_reduction(name)) return *found;
  return Error{ErrorKind::internal, "unknown_operation", "There is no reduction '" + name + "'."};
}

}  // namespace arraycore::calls
