#include "abi/calls/losses.h"

#include <array>
#include <utility>

#include "abi/calls/calls.h"
#include "arraycore/arraycore.h"
#include "operations/nn/losses.h"

namespace arraycore::calls {

namespace {

// The arrays are copied, because inserting a result moves what ids name.
template <std::size_t count>
Result<std::array<Array, count>> arrays_of(const Context& context,
                                           const std::array<ArrayId, count>& ids) {
  std::array<Array, count> arrays;
  for (std::size_t i = 0; i < count; ++i) {
    const auto found = context.get(ids[i]);
    if (!found) return found.error();
    arrays[i] = **found;
  }
  return arrays;
}

Result<std::int32_t> cross_entropy(Context& context, Words& words) {
  std::array<ArrayId, 2> ids{};
  for (ArrayId& id : ids) id = words.next();
  const std::int64_t ignore = words.integer();
  const bool normalize = words.flag();
  if (const Status end = words.end(); !end) return end.error();
  const auto arrays = arrays_of(context, ids);
  if (!arrays) return arrays.error();
  auto made = context.losses().cross_entropy((*arrays)[0], (*arrays)[1], ignore, normalize);
  if (!made) return made.error();
  std::array results{std::move(made->loss), std::move(made->lse), std::move(made->coeff)};
  return give_all(context, results);
}

Result<std::int32_t> cross_entropy_gradient(Context& context, Words& words) {
  std::array<ArrayId, 5> ids{};
  for (ArrayId& id : ids) id = words.next();
  const std::int64_t ignore = words.integer();
  if (const Status end = words.end(); !end) return end.error();
  const auto arrays = arrays_of(context, ids);
  if (!arrays) return arrays.error();
  const auto& [gloss, x, t, lse, coeff] = *arrays;
  auto made = context.losses().gradient(gloss, x, t, lse, coeff, ignore);
  if (!made) return made.error();
  return context.insert(std::move(*made));
}

}  // namespace

Call find_loss_call(std::int32_t operation) {
  if (operation == AC_CALL_CROSS_ENTROPY) return cross_entropy;
  return operation == AC_CALL_CROSS_ENTROPY_GRADIENT ? cross_entropy_gradient : nullptr;
}

}  // namespace arraycore::calls
