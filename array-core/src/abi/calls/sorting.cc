#include "abi/calls/sorting.h"

#include <utility>

#include "arraycore/arraycore.h"

namespace arraycore::calls {

namespace {

Result<std::int32_t> sort(Context& context, Words& words) {
  const ArrayId id = words.next();
  const std::int64_t axis = words.integer();
  const auto result = static_cast<SortResult>(words.below(2));
  if (const Status end = words.end(); !end) return end.error();
  const auto array = context.get(id);
  if (!array) return array.error();
  auto made = context.sorter().sorted(**array, axis, result);
  if (!made) return made.error();
  return context.insert(std::move(*made));
}

}  // namespace

Call find_sorting_call(std::int32_t operation) {
  return operation == AC_CALL_SORT ? sort : nullptr;
}

}  // namespace arraycore::calls
