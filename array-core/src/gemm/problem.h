// A product of matrices, out = a b, for each element of a batch. A Problem has sizes and strides,
// so slices, transposes and broadcasts need no copy. With a window it is a convolution. Pure; any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "dtype/dtype.h"
#include "gemm/window.h"
#include "view/view.h"

namespace arraycore::gemm {

// One matrix for each element of the batch. All numbers count array elements. Element (row, column)
// of the matrix for batch element (i0, i1, ...) is at `offset + row * row_stride + column *
// column_stride + i0 * batch[0] + ...` in the storage. Strides may be negative or 0.
struct Matrix {
  std::int64_t offset = 0;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
  Dims batch;
  bool operator==(const Matrix&) const = default;
};

// out (m x n) = a (m x k) b (k x n). The batch has as few axes as the strides allow.
//
// With a window, b never exists as a matrix. The number of a column then consists of two digits:
// the outer digit and, varying faster, the number of a column of the window. The number of a term
// consists of an outer digit and the number of a term of the window. The strides of columns (of `b`
// and `out`) and of terms (of `a` and `b`) belong to the outer digits. In `a`, the terms of one
// outer digit are consecutive.
struct Problem {
  DType dtype = DType::float32;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  Dims batch;
  Matrix a;
  Matrix b;
  Matrix out;
  std::optional<Window> window;

  std::int64_t batches() const;
  // The offsets of the three matrices for one element of the batch.
  struct Place {
    std::int64_t a = 0;
    std::int64_t b = 0;
    std::int64_t out = 0;
  };
  Place place(std::int64_t index) const;

  // a_at(), b_at() and out_at() return offsets of elements from their matrix's own offset (see
  // Place). b_at() returns nullopt where the window is outside the data of `b`, which reads as 0.
  std::int64_t a_at(std::int64_t row, std::int64_t term) const;
  // Returns whether the k elements of a row of `a` are consecutive. REQUIRES: `window` is set.
  bool terms_in_a_row() const { return a.column_stride == window->terms() || k == window->terms(); }
  std::optional<std::int64_t> b_at(std::int64_t term, std::int64_t column) const;
  std::int64_t out_at(std::int64_t row, std::int64_t column) const;
};

// Makes a problem from views of (batch..., m, k), (batch..., k, n) and (batch..., m, n). If b is
// the same along a batch axis (its stride there is 0), that axis is merged into the rows of a.
// REQUIRES: all views have the same batch axes, with stride 0 where one is broadcast; offsets and
// strides are in whole elements; the batch has at least one element.
Problem problem_of(DType dtype, const View& a, const View& b, const View& out);

// Computes the product in three loops. Tests, and the check of a device's kernel at its first use,
// compare with it. The sum has type `Sum`. REQUIRES: T is the dtype's type.
template <typename T, typename Sum = T>
void multiply_plainly(const Problem& problem, const T* a, const T* b, T* out) {
  std::vector<std::int64_t> term_of_a;
  for (std::int64_t term = 0; term < problem.k; ++term) term_of_a.push_back(problem.a_at(0, term));
  std::vector<Sum> line(term_of_a.size());  // a column of b
  for (std::int64_t batch = 0; batch < problem.batches(); ++batch) {
    const Problem::Place at = problem.place(batch);
    for (std::int64_t column = 0; column < problem.n; ++column) {
      for (std::size_t term = 0; term < line.size(); ++term) {
        const auto from = problem.b_at(static_cast<std::int64_t>(term), column);
        line[term] = from ? static_cast<Sum>(b[at.b + *from]) : Sum{};
      }
      for (std::int64_t row = 0; row < problem.m; ++row) {
        Sum sum{};
        for (std::size_t term = 0; term < line.size(); ++term)
          sum +=
              static_cast<Sum>(a[at.a + row * problem.a.row_stride + term_of_a[term]]) * line[term];
        out[at.out + problem.out_at(row, column)] = static_cast<T>(sum);
      }
    }
  }
}

}  // namespace arraycore::gemm
