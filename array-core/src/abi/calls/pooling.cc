#include "abi/calls/pooling.h"

#include <array>
#include <utility>

#include "abi/calls/calls.h"
#include "arraycore/arraycore.h"
#include "operations/nn/pooling.h"

namespace arraycore::calls {

namespace {

enum class What : std::uint8_t { max = 0, max_gradient = 1, mean = 2, mean_gradient = 3 };

Result<std::int32_t> pool(Context& context, Words& words) {
  const auto what = static_cast<What>(words.below(4));
  const ArrayId source_id = words.next();
  const ArrayId places_id = words.next();
  PoolGeometry how;
  how.window = words.dims();
  how.stride = words.dims();
  how.pad_before = words.dims();
  how.pad_after = words.dims();
  const Dims space = words.dims();
  if (const Status end = words.end(); !end) return end.error();
  if ((places_id != 0) != (what == What::max_gradient)) return bad_call();
  const auto source = context.get(source_id);
  if (!source) return source.error();
  Pooling& pooling = context.pooling();
  if (what == What::max) {
    auto made = pooling.largest(**source, how);
    if (!made) return made.error();
    std::array results{std::move(made->y), std::move(made->places)};
    return give_all(context, results);
  }
  Result<Array> made = Array{};
  if (what == What::max_gradient) {
    const auto places = context.get(places_id);
    if (!places) return places.error();
    made = pooling.largest_gradient(**source, **places, space, how);
  } else {
    made = what == What::mean ? pooling.mean(**source, how)
                              : pooling.mean_gradient(**source, space, how);
  }
  if (!made) return made.error();
  return context.insert(std::move(*made));
}

}  // namespace

Call find_pooling_call(std::int32_t operation) {
  return operation == AC_CALL_POOL ? pool : nullptr;
}

}  // namespace arraycore::calls
