// The linear maps of Winograd's F(2 x 2, 3 x 3) and F(3 x 3, 2 x 2), for four tiles or windows side
// by side. Both use the points 0, 1, -1 and infinity. Internal to cpu/; any thread.
#pragma once

#include <cstdint>

#include "cpu/gemm/gemm_kernel.h"

namespace arraycore::cpu {

using Four = Lanes<float>;

// evens() returns elements 0 and 2 of both vectors, odds() elements 1 and 3.
inline Four evens(Four a, Four b) { return __builtin_shufflevector(a, b, 0, 2, 4, 6); }
inline Four odds(Four a, Four b) { return __builtin_shufflevector(a, b, 1, 3, 5, 7); }

// Computes B' d for a vector d of four elements. The results are `step` apart in `to`.
inline void winograd_data(Four d0, Four d1, Four d2, Four d3, Four* to, std::int64_t step) {
  to[0] = d0 - d2;
  to[step] = d1 + d2;
  to[2 * step] = d2 - d1;
  to[3 * step] = d1 - d3;
}

// Computes B' d B for two pairs of neighbouring tiles d. `first` and `second` point to the 4 x 6
// elements of each pair, whose lines are `line` apart. The vectors of the 16 products are `step`
// apart.
inline void winograd_tiles(const float* first, const float* second, std::int64_t line, float* to,
                           std::int64_t step) {
  Four rows[16];  // NOLINT(*-avoid-c-arrays): registers
  const auto at = static_cast<std::ptrdiff_t>(line);
#pragma GCC unroll 4
  for (int y = 0; y < 4; ++y) {
    const Four a0 = load(first + y * at);
    const Four b0 = load(second + y * at);
    const Four a2 = load(first + y * at + 2);
    const Four b2 = load(second + y * at + 2);
    winograd_data(evens(a0, b0), odds(a0, b0), evens(a2, b2), odds(a2, b2), rows + y * 4, 1);
  }
  const auto each = static_cast<std::ptrdiff_t>(step);
#pragma GCC unroll 4
  for (int x = 0; x < 4; ++x) {
    Four column[4];  // NOLINT(*-avoid-c-arrays): registers
    winograd_data(rows[x], rows[4 + x], rows[8 + x], rows[12 + x], column, 1);
    for (int y = 0; y < 4; ++y) store(to + (y * 4 + x) * each, column[y]);
  }
}

// Computes G g for a vector g of three elements. The results are `step` apart in `to`.
inline void winograd_weights(Four g0, Four g1, Four g2, Four* to, std::int64_t step) {
  const Four half = splat(0.5f);
  const Four outer = g0 + g2;
  to[0] = g0;
  to[step] = half * (outer + g1);
  to[2 * step] = half * (outer - g1);
  to[3 * step] = g2;
}

// Computes G g G' for four windows g: 9 vectors become 16.
inline void winograd_window(const Four* window, Four* to) {
  Four rows[12];  // NOLINT(*-avoid-c-arrays): registers
  for (int x = 0; x < 3; ++x)
    winograd_weights(window[x], window[3 + x], window[6 + x], rows + x, 3);
  for (int y = 0; y < 4; ++y)
    winograd_weights(rows[y * 3], rows[y * 3 + 1], rows[y * 3 + 2], to + y * 4, 1);
}

// Computes A' s A for two pairs of tiles. The sums s of the 16 products are `step` apart. The
// result is the upper and the lower row of four results of the first pair, then those of the
// second.
inline void winograd_results(const float* sums, std::int64_t step, Four* to) {
  const auto each = static_cast<std::ptrdiff_t>(step);
  Four upper[4];  // NOLINT(*-avoid-c-arrays): registers
  Four lower[4];  // NOLINT(*-avoid-c-arrays): registers
#pragma GCC unroll 4
  for (int x = 0; x < 4; ++x) {
    const Four s1 = load(sums + (4 + x) * each);
    const Four s2 = load(sums + (8 + x) * each);
    upper[x] = load(sums + x * each) + s1 + s2;
    lower[x] = s1 - s2 - load(sums + (12 + x) * each);
  }
  const auto put = [&](const Four* row, Four& first, Four& second) {
    const Four even = row[0] + row[1] + row[2];
    const Four odd = row[1] - row[2] - row[3];
    first = __builtin_shufflevector(even, odd, 0, 4, 1, 5);
    second = __builtin_shufflevector(even, odd, 2, 6, 3, 7);
  };
  put(upper, to[0], to[2]);
  put(lower, to[1], to[3]);
}

// ---- F(3 x 3, 2 x 2): the weights' gradient, whose window is the result's gradient

// Computes G g for a vector g of two elements. The results are `step` apart in `to`.
inline void winograd_gradient(Four g0, Four g1, Four* to, std::int64_t step) {
  const Four half = splat(0.5f);
  to[0] = g0;
  to[step] = half * (g0 + g1);
  to[2 * step] = half * (g0 - g1);
  to[3 * step] = g1;
}

// Computes G g G' for two pairs of tiles g of 2 x 2. The parameters are those of winograd_tiles().
inline void winograd_gradients(const float* first, const float* second, std::int64_t line,
                               float* to, std::int64_t step) {
  Four rows[8];  // NOLINT(*-avoid-c-arrays): registers
  const auto at = static_cast<std::ptrdiff_t>(line);
#pragma GCC unroll 2
  for (int y = 0; y < 2; ++y) {
    const Four a = load(first + y * at);
    const Four b = load(second + y * at);
    winograd_gradient(evens(a, b), odds(a, b), rows + y * 4, 1);
  }
  const auto each = static_cast<std::ptrdiff_t>(step);
#pragma GCC unroll 4
  for (int x = 0; x < 4; ++x) {
    Four column[4];  // NOLINT(*-avoid-c-arrays): registers
    winograd_gradient(rows[x], rows[4 + x], column, 1);
    for (int y = 0; y < 4; ++y) store(to + (y * 4 + x) * each, column[y]);
  }
}

// Computes A' s A for four windows side by side, as 9 vectors. The sums s of the 16 products are
// `step` apart.
inline void winograd_windows(const float* sums, std::int64_t step, Four* to) {
  const auto each = static_cast<std::ptrdiff_t>(step);
  const auto reduce = [](Four s0, Four s1, Four s2, Four s3, Four* result, int apart) {
    const Four both = s1 + s2;
    result[0] = s0 + both;
    result[apart] = s1 - s2;
    result[2 * apart] = both - s3;
  };
  Four rows[12];  // NOLINT(*-avoid-c-arrays): registers
  for (int x = 0; x < 4; ++x)
    reduce(load(sums + x * each), load(sums + (4 + x) * each), load(sums + (8 + x) * each),
           load(sums + (12 + x) * each), rows + x, 4);
  for (int y = 0; y < 3; ++y)
    reduce(rows[y * 4], rows[y * 4 + 1], rows[y * 4 + 2], rows[y * 4 + 3], to + y * 3, 1);
}

// Transposes four vectors of four elements.
inline void transpose(const float* from, Four* to) {
  const Four a = load(from);
  const Four b = load(from + 4);
  const Four c = load(from + 8);
  const Four d = load(from + 12);
  const Four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Four cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Four ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Four cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  to[0] = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
  to[1] = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
  to[2] = __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5);
  to[3] = __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7);
}

}  // namespace arraycore::cpu
