// Turns an operation's result into the number that ac_call returns. Python's thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "abi/calls/context.h"

namespace arraycore::calls {

inline Result<std::int32_t> give(Context& context, Result<Array>&& made) {
  if (!made) return made.error();
  return context.insert(std::move(*made));
}

// Returns the new array's id, or 0 if the result was written to `out`.
inline Result<std::int32_t> give_optional(Context& context, Result<std::optional<Array>>&& made) {
  if (!made) return made.error();
  if (!*made) return 0;
  return context.insert(std::move(**made));
}

// Inserts a new array that is a view of the storage of `array`. Returns its id.
inline Result<std::int32_t> give_view(Context& context, const Array& array, Result<View>&& view) {
  if (!view) return view.error();
  return context.insert(Array{array.dtype, std::move(*view), array.storage});
}

inline Result<std::int32_t> give_nothing(const Status& status) {
  if (!status) return status.error();
  return 0;
}

// Inserts several new arrays. Returns the id of the first one, or 0 without arrays. Keeps the
// others until AC_CALL_KERNEL_RESULT fetches them. Error: memory, "too_many_arrays". After an error
// none of the arrays is kept.
Result<std::int32_t> give_all(Context& context, std::span<Array> arrays);
inline Result<std::int32_t> give_all(Context& context, Result<std::vector<Array>>&& made) {
  if (!made) return made.error();
  return give_all(context, std::span<Array>(*made));
}

}  // namespace arraycore::calls
