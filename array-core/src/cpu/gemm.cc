#include "cpu/gemm.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "cpu/gemm_kernel.h"

namespace arraycore::cpu {

namespace {

using gemm::Matrix;
using gemm::Problem;

// How much is packed at a time: a panel of b stays in the first cache, the block of a in the
// second, b's block in the last.
constexpr std::int64_t kDepth = 256;
constexpr std::int64_t kBlockRows = 96;
constexpr std::int64_t kBlockColumns = 1024;
static_assert(kBlockRows % kRows == 0);
static_assert(kBlockColumns % kColumns<float> == 0);

constexpr std::int64_t round_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

// Packs `count` lines of `depth` elements into panels of `width` lines: element p of every line of
// a panel together, absent lines as zeros.
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

// ---- matrix by vector: nothing is used twice, so nothing is packed

// out[row] = sum of matrix(row, p) * vector[p], the elements of a row one after the other.
template <typename T>
void rows_by_vector(std::int64_t rows, std::int64_t depth, const T* matrix, std::int64_t row_stride,
                    const T* vector, T* out, std::int64_t out_stride) {
  constexpr int kSums = 4;
  constexpr std::int64_t kStep = kSums * kLanes<T>;
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* const line = matrix + row * row_stride;
    Lanes<T> sums[kSums] = {};  // NOLINT(*-avoid-c-arrays): registers
    std::int64_t p = 0;
    for (; p + kStep <= depth; p += kStep)
      for (int s = 0; s < kSums; ++s)
        sums[s] =
            multiply_add(load(line + p + s * kLanes<T>), load(vector + p + s * kLanes<T>), sums[s]);
    const Lanes<T> both = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    T total{};
    for (int lane = 0; lane < kLanes<T>; ++lane) total += both[lane];
    for (; p < depth; ++p) total += line[p] * vector[p];
    out[row * out_stride] = total;
  }
}

// The same, rows one after the other: a block of rows runs down the matrix together.
template <typename T>
void columns_by_vector(std::int64_t rows, std::int64_t depth, const T* matrix,
                       std::int64_t depth_stride, const T* vector, T* out,
                       std::int64_t out_stride) {
  constexpr int kSums = 8;
  constexpr std::int64_t kStep = kSums * kLanes<T>;
  std::int64_t row = 0;
  for (; row + kStep <= rows; row += kStep) {
    Lanes<T> sums[kSums] = {};  // NOLINT(*-avoid-c-arrays): registers
    const T* line = matrix + row;
    for (std::int64_t p = 0; p < depth; ++p, line += depth_stride) {
      const Lanes<T> value = splat(vector[p]);
      for (int s = 0; s < kSums; ++s)
        sums[s] = multiply_add(value, load(line + s * kLanes<T>), sums[s]);
    }
    for (int s = 0; s < kSums; ++s)
      for (int lane = 0; lane < kLanes<T>; ++lane)
        out[(row + s * kLanes<T> + lane) * out_stride] = sums[s][lane];
  }
  for (; row < rows; ++row) {
    T total{};
    for (std::int64_t p = 0; p < depth; ++p) total += matrix[row + p * depth_stride] * vector[p];
    out[row * out_stride] = total;
  }
}

}  // namespace

void Gemm::Free::operator()(std::byte* memory) const { std::free(memory); }  // NOLINT(*-no-malloc)

Status Gemm::reserve(std::size_t bytes) {
  if (bytes <= capacity_) return Done{};
  // malloc gives a null pointer where memory is out; new would end the process.
  workspace_.reset();
  capacity_ = 0;
  workspace_.reset(static_cast<std::byte*>(std::malloc(bytes)));  // NOLINT(*-no-malloc)
  if (workspace_ == nullptr)
    return Error{ErrorKind::memory, "out_of_host_memory",
                 "There is no memory left for the " + std::to_string(bytes) +
                     " bytes that a product of matrices packs its operands into."};
  capacity_ = bytes;
  return Done{};
}

template <typename T>
Status Gemm::multiply(const Problem& problem, const T* a, const T* b, T* out) {
  const std::int64_t m = problem.m;
  const std::int64_t n = problem.n;
  const std::int64_t k = problem.k;
  const Matrix& left = problem.a;
  const Matrix& right = problem.b;

  // A vector, and the matrix it meets as rows that are summed.
  const bool row = m == 1;
  const std::int64_t rows = row ? n : m;
  const std::int64_t row_stride = row ? right.column_stride : left.row_stride;
  const std::int64_t depth_stride = row ? right.row_stride : left.column_stride;
  const std::int64_t vector_stride = row ? left.column_stride : right.row_stride;
  const std::int64_t out_stride = row ? problem.out.column_stride : problem.out.row_stride;
  const bool is_vector = (row || n == 1) && (depth_stride == 1 || row_stride == 1);

  const std::int64_t depth = std::min(kDepth, k);
  const std::int64_t block_rows = std::min(kBlockRows, round_up(m, kRows));
  const std::int64_t block_columns = std::min(kBlockColumns, round_up(n, kColumns<T>));
  const std::int64_t packed = is_vector ? k : depth * (block_rows + block_columns);
  const Status room = reserve(static_cast<std::size_t>(packed) * sizeof(T));
  if (!room) return room;
  T* const packed_a = reinterpret_cast<T*>(workspace_.get());
  T* const packed_b = packed_a + depth * block_rows;

  for (std::int64_t index = 0; index < problem.batches(); ++index) {
    const Problem::Place at = problem.place(index);
    if (is_vector) {
      const T* const matrix = row ? b + at.b : a + at.a;
      const T* vector = row ? a + at.a : b + at.b;
      if (vector_stride != 1) {
        for (std::int64_t p = 0; p < k; ++p) packed_a[p] = vector[p * vector_stride];
        vector = packed_a;
      }
      if (depth_stride == 1)
        rows_by_vector(rows, k, matrix, row_stride, vector, out + at.out, out_stride);
      else
        columns_by_vector(rows, k, matrix, depth_stride, vector, out + at.out, out_stride);
      continue;
    }
    for (std::int64_t j = 0; j < n; j += block_columns) {
      const std::int64_t columns = std::min(block_columns, n - j);
      for (std::int64_t p = 0; p < k; p += depth) {
        const std::int64_t deep = std::min(depth, k - p);
        pack<T, kColumns<T>>(b + at.b + p * right.row_stride + j * right.column_stride,
                             right.column_stride, right.row_stride, columns, deep, packed_b);
        for (std::int64_t i = 0; i < m; i += block_rows) {
          const std::int64_t here = std::min(block_rows, m - i);
          pack<T, kRows>(a + at.a + i * left.row_stride + p * left.column_stride, left.row_stride,
                         left.column_stride, here, deep, packed_a);
          for (std::int64_t column = 0; column < columns; column += kColumns<T>)
            for (std::int64_t first = 0; first < here; first += kRows) {
              const Block<T> block =
                  run_block(deep, packed_a + first * deep, packed_b + column * deep);
              put_block(block, {out + at.out + (i + first) * problem.out.row_stride +
                                    (j + column) * problem.out.column_stride,
                                problem.out.row_stride, problem.out.column_stride,
                                std::min<std::int64_t>(kRows, here - first),
                                std::min<std::int64_t>(kColumns<T>, columns - column), p > 0});
            }
        }
      }
    }
  }
  return Done{};
}

Status Gemm::run(const Problem& problem, const std::byte* a, const std::byte* b, std::byte* out) {
  const auto as = [&](auto zero) {
    using T = decltype(zero);
    return multiply(problem, reinterpret_cast<const T*>(a), reinterpret_cast<const T*>(b),
                    reinterpret_cast<T*>(out));
  };
  return problem.dtype == DType::float32 ? as(float{}) : as(double{});
}

}  // namespace arraycore::cpu
