// Casts elements from one dtype to another by the rules of convert.h. Any thread may call these
// functions; they touch only the elements that they are given.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dtype/dtype.h"

namespace arraycore {

// Reads `count` elements of dtype `from`, which are `src_stride` bytes apart, and writes them as
// dtype `to`, `dst_stride` bytes apart. Strides may be negative or 0, and no alignment is needed. A
// cast to the same dtype copies the bytes. REQUIRES: no byte is both read and written.
void cast_elements(DType from, const std::byte* src, std::int64_t src_stride, DType to,
                   std::byte* dst, std::int64_t dst_stride, std::int64_t count);

// Copies `count` elements of 1, 2, 4, 8 or 16 bytes. Strides and requirements are those of
// cast_elements().
void copy_elements(std::size_t item_size, const std::byte* src, std::int64_t src_stride,
                   std::byte* dst, std::int64_t dst_stride, std::int64_t count);

}  // namespace arraycore
