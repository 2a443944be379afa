// What an operation's function returned, as the result of ac_call. Python's thread only.
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

// Returns 0 where the result was written elsewhere.
inline Result<std::int32_t> give_optional(Context& context, Result<std::optional<Array>>&& made) {
  if (!made) return made.error();
  if (!*made) return 0;
  return context.insert(std::move(**made));
}

// Makes a new array over the storage of `array`.
inline Result<std::int32_t> give_view(Context& context, const Array& array, Result<View>&& view) {
  if (!view) return view.error();
  return context.insert(Array{array.dtype, std::move(*view), array.storage});
}

inline Result<std::int32_t> give_nothing(const Status& status) {
  if (!status) return status.error();
  return 0;
}

// Gives several new arrays to Python: returns the first one's id, or 0 for none, and keeps the
// others as further results (AC_CALL_KERNEL_RESULT). Error: memory, "too_many_arrays"; then none of
// them is kept.
Result<std::int32_t> give_all(Context& context, std::span<Array> arrays);
inline Result<std::int32_t> give_all(Context& context, Result<std::vector<Array>>&& made) {
  if (!made) return made.error();
  return give_all(context, std::span<Array>(*made));
}

}  // namespace arraycore::calls
