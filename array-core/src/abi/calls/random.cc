// Operations that make random numbers. Python's thread only.
#include "abi/calls/functions.h"
#include "abi/calls/results.h"

namespace arraycore::calls {

Result<std::int32_t> draw(Context& context, Words& words) {
  RandomRequest request;
  request.distribution = static_cast<ops::Distribution>(words.below(ops::kDistributions));
  request.dtype = words.dtype();
  for (std::uint32_t& word : request.key) word = static_cast<std::uint32_t>(words.next());
  for (std::uint32_t& word : request.counter) word = static_cast<std::uint32_t>(words.next());
  const bool drawn = ops::draws(request.distribution, request.dtype);
  const DType type = ops::parameter_of(request.distribution, request.dtype);
  for (ir::Scalar* parameter : {&request.a, &request.b})
    *parameter = is_floating(type) ? ir::scalar_of(type, words.number()) : ir::put(words.integer());
  const ArrayId each = words.next();
  request.shape = words.dims();
  TRY_DONE(words.end());
  if (!drawn || (each != 0) != ops::takes_array(request.distribution)) return bad_call();
  if (each != 0) {
    TRY(const auto& array, context.get(each));
    if (array->dtype != request.dtype) return bad_call();
    request.each = array;
  }
  return give(context, context.random().make(request));
}

}  // namespace arraycore::calls
