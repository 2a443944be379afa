// A product of matrices, out = a b for each of a batch, as back ends are given it: sizes, and where
// elements lie by strides, so that slices, transposes and broadcasts need no copy; or, through a
// window, a convolution. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "dtype/dtype.h"
#include "gemm/window.h"
#include "view/view.h"

namespace arraycore::gemm {

// One matrix of each batch, in elements from the beginning of its storage: element (row, column) of
// batch (i0, i1, ...) lies at `offset + row * row_stride + column * column_stride + i0 * batch[0] +
// ...`. Strides may be negative or 0.
struct Matrix {
  std::int64_t offset = 0;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
  Dims batch;
  bool operator==(const Matrix&) const = default;
};

// out (m x n) = a (m x k) b (k x n). The axes of the batch are as few as the strides allow.
//
// With a window, b is never there as a matrix. A column's number is (outer, window's columns) and a
// term's (outer, window's terms), the last digit varying fastest. The strides of columns of `b` and
// `out`, and those of terms of `a` and `b`, are then those of the outer digit; terms of one outer
// digit follow each other in `a`.
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
  // The three matrices of one batch, `index` counting in C order.
  struct Place {
    std::int64_t a = 0;
    std::int64_t b = 0;
    std::int64_t out = 0;
  };
  Place place(std::int64_t index) const;

  // From the batch's beginning. Where the window looks beyond b's edge there is nothing, which
  // counts as 0.
  std::int64_t a_at(std::int64_t row, std::int64_t term) const;
  // Whether all terms of a row follow each other in `a`. REQUIRES: a window.
  bool terms_in_a_row() const { return a.column_stride == window->terms() || k == window->terms(); }
  std::optional<std::int64_t> b_at(std::int64_t term, std::int64_t column) const;
  std::int64_t out_at(std::int64_t row, std::int64_t column) const;
};

// Views of (batch..., m, k), (batch..., k, n) and (batch..., m, n). A batch of a's rows that meet
// one b becomes more rows. REQUIRES: the same batch axes (broadcast ones with stride 0); offsets
// and strides are whole elements; at least one batch.
Problem problem_of(DType dtype, const View& a, const View& b, const View& out);

// The product in three loops: what tests and the start-up check of a device's kernels are judged
// by. The sum runs in `Sum`. REQUIRES: T is the dtype's type.
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
