// Arrays of one dtype to another, by the rules of convert.h. Any thread; touches only the elements
// it is given.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dtype/dtype.h"

namespace arraycore {

// Writes `count` elements of dtype `to`, `dst_stride` bytes apart, from as many of dtype `from`,
// `src_stride` bytes apart. Strides may be negative or 0; no alignment is needed. A cast to the
// same dtype copies the bytes. REQUIRES: the bytes read and the bytes written are disjoint.
void cast_elements(DType from, const std::byte* src, std::int64_t src_stride, DType to,
                   std::byte* dst, std::int64_t dst_stride, std::int64_t count);

// Copies `count` elements of 1, 2, 4, 8 or 16 bytes; strides as above. REQUIRES: as above.
void copy_elements(std::size_t item_size, const std::byte* src, std::int64_t src_stride,
                   std::byte* dst, std::int64_t dst_stride, std::int64_t count);

}  // namespace arraycore
