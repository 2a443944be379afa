// Packs lines of an operand (rows of a, columns of b) into panels for cpu/gemm/gemm_kernel.h.
// Internal to cpu/; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace arraycore::cpu {

// Packs `count` lines of `depth` elements into panels of `width` lines. A panel has element 0 of
// all its lines, then element 1 of all lines, and so on. Missing lines are zeros.
template <typename T, int width>
void pack(const T* from, std::int64_t line_stride, std::int64_t depth_stride, std::int64_t count,
          std::int64_t depth, T* to) {
  for (std::int64_t line = 0; line < count; line += width) {
    const T* const panel = from + line * line_stride;
    const std::int64_t lines = std::min<std::int64_t>(width, count - line);
    if (lines < width) std::fill(to, to + depth * width, T{});
    if (line_stride == 1 && lines == width) {
      for (std::int64_t p = 0; p < depth; ++p)
        std::memcpy(to + p * width, panel + p * depth_stride, width * sizeof(T));
    } else {
      for (std::int64_t i = 0; i < lines; ++i) {
        const T* const source = panel + i * line_stride;
        for (std::int64_t p = 0; p < depth; ++p) to[p * width + i] = source[p * depth_stride];
      }
    }
    to += depth * width;
  }
}

}  // namespace arraycore::cpu
