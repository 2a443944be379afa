// Uploads and downloads of arrays in pieces. Python's thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "abi/calls/context.h"
#include "base/result.h"

namespace arraycore::calls {

// Returns a new C-ordered array whose elements are undefined until upload() has written them.
Result<ArrayId> create_unset(Context& context, DType dtype, const Dims& shape);
// Returns the array itself if upload() and download() can access it (its elements are in C order);
// otherwise a new copy.
Result<ArrayId> packed(Context& context, ArrayId id);
// Writes bytes [offset, offset + size) of a packed array's elements. `offset` is a multiple of 4.
// Errors of upload() and download(): internal, "not_packed", "bad_piece".
Status upload(Context& context, ArrayId id, std::int64_t offset, std::span<const std::byte> bytes);
// Reads bytes of a packed array's elements. Waits until they have been computed.
Status download(Context& context, ArrayId id, std::int64_t offset, std::span<std::byte> bytes);

}  // namespace arraycore::calls
