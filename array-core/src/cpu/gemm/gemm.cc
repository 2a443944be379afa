#include "cpu/gemm/gemm.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <type_traits>

#include "cpu/gemm/direct_forward.h"
#include "cpu/gemm/direct_weights.h"
#include "cpu/gemm/gemm_blocks.h"
#include "cpu/gemm/gemm_pack.h"
#include "cpu/gemm/gemm_window.h"
#include "cpu/gemm/winograd.h"
#include "cpu/gemm/winograd_weights.h"

namespace arraycore::cpu {

namespace {

using gemm::Matrix;
using gemm::Problem;

// Packs operands without a window, and returns where blocks are stored in the result.
template <typename T>
struct Strided {
  const Matrix& left;
  const Matrix& right;
  const Matrix& result;
  const T* from_a;
  const T* from_b;
  T* out;
  PackedPrologue* prologue;
  std::int64_t batch;

  void a(std::int64_t row, std::int64_t rows, std::int64_t term, std::int64_t terms, T* to) const {
    pack<T, kRows>(from_a + row * left.row_stride + term * left.column_stride, left.row_stride,
                   left.column_stride, rows, terms, to);
  }
  Status b(std::int64_t column, std::int64_t columns, std::int64_t term, std::int64_t terms,
           T* to) const {
    pack<T, kColumns<T>>(from_b + term * right.row_stride + column * right.column_stride,
                         right.column_stride, right.row_stride, columns, terms, to);
    if (prologue == nullptr) return Done{};
    return prologue->apply({batch, column, columns, term, terms, kColumns<T>},
                           reinterpret_cast<std::byte*>(to));
  }
  Target<T> target(std::int64_t row, std::int64_t first, std::int64_t column,
                   std::int64_t /*wide*/) const {
    Target<T> target;
    target.out = out + row * result.row_stride + (first + column) * result.column_stride;
    target.row_stride = result.row_stride;
    target.column_stride = result.column_stride;
    return target;
  }
};

// ---- matrix by vector: each element of the matrix is used once, so nothing is packed

// Computes out[row] = sum of matrix(row, p) * vector[p]. The elements of a row are consecutive.
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

// Computes the same sums for a matrix whose columns are consecutive in memory. The sums of a block
// of rows stay in registers while the columns are added one after the other.
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
  // malloc returns a null pointer when memory is exhausted; new would end the process.
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
Status Gemm::multiply(const Problem& problem, const T* a, const T* b, T* out,
                      PackedPrologue* prologue) {
  const std::int64_t m = problem.m;
  const std::int64_t n = problem.n;
  const std::int64_t k = problem.k;
  const Matrix& left = problem.a;
  const Matrix& right = problem.b;

  // If a has one row, a is the vector, and the columns of b are the rows of the matrix.
  const bool row = m == 1;
  const std::int64_t rows = row ? n : m;
  const std::int64_t row_stride = row ? right.column_stride : left.row_stride;
  const std::int64_t depth_stride = row ? right.row_stride : left.column_stride;
  const std::int64_t vector_stride = row ? left.column_stride : right.row_stride;
  const std::int64_t out_stride = row ? problem.out.column_stride : problem.out.row_stride;
  const bool is_vector =
      prologue == nullptr && (row || n == 1) && (depth_stride == 1 || row_stride == 1);

  const Blocks<T> blocks{m, n, k};
  const std::int64_t packed = is_vector ? k : blocks.packed();
  TRY_DONE(reserve(static_cast<std::size_t>(packed) * sizeof(T)));
  T* const memory = reinterpret_cast<T*>(workspace_.get());

  for (std::int64_t index = 0; index < problem.batches(); ++index) {
    const Problem::Place at = problem.place(index);
    if (is_vector) {
      const T* const matrix = row ? b + at.b : a + at.a;
      const T* vector = row ? a + at.a : b + at.b;
      if (vector_stride != 1) {
        for (std::int64_t p = 0; p < k; ++p) memory[p] = vector[p * vector_stride];
        vector = memory;
      }
      if (depth_stride == 1)
        rows_by_vector(rows, k, matrix, row_stride, vector, out + at.out, out_stride);
      else
        columns_by_vector(rows, k, matrix, depth_stride, vector, out + at.out, out_stride);
      continue;
    }
    Strided<T> packing{left, right, problem.out, a + at.a, b + at.b, out + at.out, prologue, index};
    TRY_DONE(multiply_blocks(blocks, memory, packing));
  }
  return Done{};
}

template <typename T>
Status Gemm::convolve(const Problem& problem, const T* a, const T* b, T* out,
                      PackedPrologue* prologue) {
  if constexpr (std::is_same_v<T, float>) {
    if (prologue == nullptr && Winograd::suits(problem))
      return convolve_directly<Winograd>(problem, a, b, out);
    if (prologue == nullptr && WinogradWeights::suits(problem))
      return convolve_directly<WinogradWeights>(problem, a, b, out);
  }
  if (prologue == nullptr && DirectForward<T>::suits(problem))
    return convolve_directly<DirectForward<T>>(problem, a, b, out);
  if (prologue == nullptr && DirectWeights<T>::suits(problem))
    return convolve_directly<DirectWeights<T>>(problem, a, b, out);
  const Blocks<T> blocks{problem.m, problem.n, problem.k};
  // The offsets of a block's columns and terms come first in the workspace, because they need
  // alignment to 8 bytes.
  const std::size_t places = Windowed<T>::place_bytes(blocks);
  TRY_DONE(reserve(places + static_cast<std::size_t>(blocks.packed()) * sizeof(T)));
  T* const memory = reinterpret_cast<T*>(workspace_.get() + places);
  for (std::int64_t index = 0; index < problem.batches(); ++index) {
    const Problem::Place at = problem.place(index);
    Windowed<T> packing(problem, blocks, workspace_.get(), a + at.a, b + at.b, out + at.out);
    packing.set_prologue(prologue, index);
    TRY_DONE(multiply_blocks(blocks, memory, packing));
  }
  return Done{};
}

template <typename Direct, typename T>
Status Gemm::convolve_directly(const Problem& problem, const T* a, const T* b, T* out) {
  Direct direct(problem, threads_for(problem.m, problem.n, problem.k));
  TRY_DONE(reserve(direct.bytes()));
  for (std::int64_t index = 0; index < problem.batches(); ++index) {
    const Problem::Place at = problem.place(index);
    if (!direct.run(a + at.a, b + at.b, out + at.out, workspace_.get())) return ThreadPool::lost();
  }
  return Done{};
}

Status Gemm::run(const Problem& problem, const std::byte* a, const std::byte* b, std::byte* out,
                 PackedPrologue* prologue) {
  const auto as = [&](auto zero) {
    using T = decltype(zero);
    const T* const from_a = reinterpret_cast<const T*>(a);
    const T* const from_b = reinterpret_cast<const T*>(b);
    T* const to = reinterpret_cast<T*>(out);
    return problem.window ? convolve(problem, from_a, from_b, to, prologue)
                          : multiply(problem, from_a, from_b, to, prologue);
  };
  return problem.dtype == DType::float32 ? as(float{}) : as(double{});
}

}  // namespace arraycore::cpu
