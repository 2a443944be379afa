// Copies between views in CPU memory: `dst[...] = src`. One thread at a time may write a storage.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "dtype/dtype.h"
#include "view/view.h"

namespace arraycore {

// Writes each element of `src_view` (over the storage at `src`) to the same place of `dst_view`
// (over the storage at `dst`). Views of one storage may overlap: the result is as if the source
// were copied first. Where the target has one byte at several places (a broadcast target), it keeps
// one of the values. Elements have 1, 2, 4, 8 or 16 bytes; no alignment is needed. REQUIRES: equal
// shapes, and views inside their storages. Error: memory, "out_of_host_memory".
Status copy_view(std::byte* dst, const View& dst_view, const std::byte* src, const View& src_view,
                 std::size_t item_size);

// Does the same with a conversion (dtype/convert.h).
Status cast_view(std::byte* dst, const View& dst_view, DType to, const std::byte* src,
                 const View& src_view, DType from);

}  // namespace arraycore
