#include "abi/calls/normalization.h"

#include <array>
#include <optional>
#include <utility>

#include "abi/calls/calls.h"
#include "arraycore/arraycore.h"
#include "operations/nn/normalization.h"

namespace arraycore::calls {

namespace {

template <std::size_t count>
Result<std::array<Array, count>> arrays_of(const Context& context,
                                           const std::array<ArrayId, count>& ids) {
  std::array<Array, count> arrays;
  for (std::size_t i = 0; i < count; ++i) {
    if (ids[i] == 0) continue;
    const auto found = context.get(ids[i]);
    if (!found) return found.error();
    arrays[i] = **found;
  }
  return arrays;
}

Result<std::int32_t> batch_norm(Context& context, Words& words) {
  std::array<ArrayId, 5> ids{};
  for (ArrayId& id : ids) id = words.next();
  const Dims axes = words.dims();
  const double eps = words.number();
  const double decay = words.number();
  if (const Status end = words.end(); !end) return end.error();
  if (ids[0] == 0 || ids[1] == 0 || ids[2] == 0 || (ids[3] == 0) != (ids[4] == 0))
    return bad_call();
  const auto arrays = arrays_of(context, ids);
  if (!arrays) return arrays.error();
  const auto& [x, gamma, beta, mean, variance] = *arrays;
  std::optional<RunningStatistics> running;
  if (ids[3] != 0) running = RunningStatistics{&mean, &variance, decay};
  auto made = context.normalizations().forward(x, gamma, beta, axes, eps, running);
  if (!made) return made.error();
  std::array results{std::move(made->y), std::move(made->mean), std::move(made->inv_std)};
  return give_all(context, results);
}

Result<std::int32_t> batch_norm_gradient(Context& context, Words& words) {
  std::array<ArrayId, 5> ids{};
  for (ArrayId& id : ids) id = words.next();
  const Dims axes = words.dims();
  if (const Status end = words.end(); !end) return end.error();
  for (const ArrayId id : ids)
    if (id == 0) return bad_call();
  const auto arrays = arrays_of(context, ids);
  if (!arrays) return arrays.error();
  const auto& [gy, x, gamma, mean, inv_std] = *arrays;
  auto made = context.normalizations().gradient(gy, x, gamma, mean, inv_std, axes);
  if (!made) return made.error();
  std::array results{std::move(made->gx), std::move(made->ggamma), std::move(made->gbeta)};
  return give_all(context, results);
}

}  // namespace

Call find_normalization_call(std::int32_t operation) {
  if (operation == AC_CALL_BATCH_NORM) return batch_norm;
  return operation == AC_CALL_BATCH_NORM_GRADIENT ? batch_norm_gradient : nullptr;
}

}  // namespace arraycore::calls
