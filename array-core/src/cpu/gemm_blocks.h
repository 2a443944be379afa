// The loops around the innermost ones: which part of both operands is packed when, and where the
// blocks go. How a part is packed and where a column of the result lies is the caller's. Internal
// to cpu/; any thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/result.h"
#include "cpu/gemm_kernel.h"

namespace arraycore::cpu {

// How much is packed at a time: a panel of b stays in the first cache, the block of a in the
// second, b's block in the last.
inline constexpr std::int64_t kDepth = 256;
inline constexpr std::int64_t kBlockRows = 96;
inline constexpr std::int64_t kBlockColumns = 1024;
static_assert(kBlockRows % kRows == 0);
static_assert(kBlockColumns % kColumns<float> == 0);

constexpr std::int64_t round_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

// The parts of one product that are packed together.
template <typename T>
struct Blocks {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;

  std::int64_t depth() const { return std::min(kDepth, k); }
  std::int64_t rows() const { return std::min(kBlockRows, round_up(m, kRows)); }
  std::int64_t columns() const { return std::min(kBlockColumns, round_up(n, kColumns<T>)); }
  // Elements of memory for both packed operands.
  std::int64_t packed() const { return depth() * (rows() + columns()); }
};

// `packing.b(first column, columns, first term, terms, to) -> Status`, then as often as there are
// blocks of rows `packing.a(first row, rows, first term, terms, to)` and
// `packing.target(row, the block's first column, column of the block, columns) -> Target`, whose
// rows, columns and `adds` are set here.
template <typename T, typename Packing>
Status multiply_blocks(const Blocks<T>& blocks, T* memory, Packing& packing) {
  const std::int64_t depth = blocks.depth();
  T* const packed_a = memory;
  T* const packed_b = memory + depth * blocks.rows();
  for (std::int64_t j = 0; j < blocks.n; j += blocks.columns()) {
    const std::int64_t columns = std::min(blocks.columns(), blocks.n - j);
    for (std::int64_t p = 0; p < blocks.k; p += depth) {
      const std::int64_t deep = std::min(depth, blocks.k - p);
      const Status packed = packing.b(j, columns, p, deep, packed_b);
      if (!packed) return packed;
      for (std::int64_t i = 0; i < blocks.m; i += blocks.rows()) {
        const std::int64_t here = std::min(blocks.rows(), blocks.m - i);
        packing.a(i, here, p, deep, packed_a);
        for (std::int64_t column = 0; column < columns; column += kColumns<T>) {
          const std::int64_t wide = std::min<std::int64_t>(kColumns<T>, columns - column);
          for (std::int64_t first = 0; first < here; first += kRows) {
            const Block<T> block =
                run_block(deep, packed_a + first * deep, packed_b + column * deep);
            Target<T> target = packing.target(i + first, j, column, wide);
            target.rows = std::min<std::int64_t>(kRows, here - first);
            target.columns = wide;
            target.adds = p > 0;
            put_block(block, target);
          }
        }
      }
    }
  }
  return Done{};
}

}  // namespace arraycore::cpu
