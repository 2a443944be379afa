// The innermost loops of cpu/gemm/gemm.h: the sums of a block of rows and two vectors of columns
// stay in registers while a loop runs along packed panels. Any thread.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#ifdef __wasm_relaxed_simd__
#include <wasm_simd128.h>
#endif

namespace arraycore::cpu {

// A vector of 16 bytes: the size of a register of WebAssembly, SSE and NEON, and half of one of
// AVX.
template <typename T>
struct LanesOf;
template <>
struct LanesOf<float> {
  using Vector = float __attribute__((vector_size(16)));
  using Bits = std::int32_t __attribute__((vector_size(16)));
};
template <>
struct LanesOf<double> {
  using Vector = double __attribute__((vector_size(16)));
  using Bits = std::int64_t __attribute__((vector_size(16)));
};
template <typename T>
using Lanes = typename LanesOf<T>::Vector;

inline constexpr int kRows = 6;  // of a block: 12 sums, 2 vectors of b and 1 of a make 15 registers
inline constexpr int kVectors = 2;  // the vectors of columns in a block
template <typename T>
inline constexpr int kLanes = static_cast<int>(sizeof(Lanes<T>) / sizeof(T));
template <typename T>
inline constexpr int kColumns = kVectors * kLanes<T>;

template <typename T>
Lanes<T> load(const T* from) {
  Lanes<T> lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}
template <typename T>
void store(T* to, Lanes<T> lanes) {
  std::memcpy(to, &lanes, sizeof lanes);
}
// Returns a vector with this value in all elements. The elements are listed, because `zeros +
// value` would be a real addition (it changes -0) and would take a register of the inner loop.
template <typename T>
Lanes<T> splat(T value) {
  if constexpr (kLanes<T> == 4)
    return Lanes<T>{value, value, value, value};
  else
    return Lanes<T>{value, value};
}
// Returns sum + a * b. The result is rounded once in a module with relaxed SIMD and on a processor
// with fused multiply-add, and twice elsewhere.
template <typename V>
V multiply_add(V a, V b, V sum) {
#ifdef __wasm_relaxed_simd__
  const auto lanes = [](V v) { return reinterpret_cast<v128_t>(v); };
  if constexpr (std::is_same_v<V, Lanes<float>>)
    return reinterpret_cast<V>(wasm_f32x4_relaxed_madd(lanes(a), lanes(b), lanes(sum)));
  else
    return reinterpret_cast<V>(wasm_f64x2_relaxed_madd(lanes(a), lanes(b), lanes(sum)));
#else
  return sum + a * b;
#endif
}

// The sums of a block of rows and two vectors, in registers.
template <typename T>
struct Block {
  Lanes<T> sums[kRows][kVectors];  // NOLINT(*-avoid-c-arrays): registers
};

// Adds to the sums. `a` has `depth` times kRows elements, `b` has `depth` times kColumns.
template <typename T>
Block<T> run_block(std::int64_t depth, const T* a, const T* b) {
  Block<T> block{};
  for (std::int64_t p = 0; p < depth; ++p) {
    const Lanes<T> b0 = load(b);
    const Lanes<T> b1 = load(b + kLanes<T>);
#pragma GCC unroll 6
    for (int row = 0; row < kRows; ++row) {
      const Lanes<T> value = splat(a[row]);
      block.sums[row][0] = multiply_add(value, b0, block.sums[row][0]);
      block.sums[row][1] = multiply_add(value, b1, block.sums[row][1]);
    }
    a += kRows;
    b += kColumns<T>;
  }
  return block;
}

// The place in the result where a block is stored.
template <typename T>
struct Target {
  T* out = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
  const std::int64_t* places = nullptr;  // offsets of the columns, if they have no single stride
  std::int64_t rows = 0;                 // the rows of the block that exist
  std::int64_t columns = 0;
  bool adds = false;  // adds to what is stored, otherwise overwrites it
};

template <typename T>
void put_block(const Block<T>& block, const Target<T>& target) {
  if (target.column_stride == 1 && target.columns == kColumns<T>) {
    for (std::int64_t row = 0; row < target.rows; ++row) {
      T* const to = target.out + row * target.row_stride;
      for (int v = 0; v < kVectors; ++v) {
        const Lanes<T> sums = block.sums[row][v];
        store(to + v * kLanes<T>, target.adds ? load(to + v * kLanes<T>) + sums : sums);
      }
    }
    return;
  }
  for (std::int64_t row = 0; row < target.rows; ++row)
    for (std::int64_t column = 0; column < target.columns; ++column) {
      const std::int64_t at =
          target.places == nullptr ? column * target.column_stride : target.places[column];
      T& to = target.out[row * target.row_stride + at];
      const T sum = block.sums[row][column / kLanes<T>][column % kLanes<T>];
      to = target.adds ? to + sum : sum;
    }
}

}  // namespace arraycore::cpu
