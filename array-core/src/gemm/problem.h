// A product of matrices, out = a b for each of a batch, as back ends are given it: sizes, and where
// elements lie by strides, so that slices, transposes and broadcasts need no copy. Pure; any
// thread.
#pragma once

#include <cstdint>

#include "dtype/dtype.h"
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
struct Problem {
  DType dtype = DType::float32;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  Dims batch;
  Matrix a;
  Matrix b;
  Matrix out;

  std::int64_t batches() const;
  // The three matrices of one batch, `index` counting in C order.
  struct Place {
    std::int64_t a = 0;
    std::int64_t b = 0;
    std::int64_t out = 0;
  };
  Place place(std::int64_t index) const;
};

// Views of (batch..., m, k), (batch..., k, n) and (batch..., m, n). A batch of a's rows that meet
// one b becomes more rows. REQUIRES: the same batch axes (broadcast ones with stride 0); offsets
// and strides are whole elements; at least one batch.
Problem problem_of(DType dtype, const View& a, const View& b, const View& out);

// The product in three loops: what tests and the start-up check of a device's kernels are judged
// by. The sum runs in `Sum`. REQUIRES: T is the dtype's type.
template <typename T, typename Sum = T>
void multiply_plainly(const Problem& problem, const T* a, const T* b, T* out) {
  for (std::int64_t batch = 0; batch < problem.batches(); ++batch) {
    const Problem::Place at = problem.place(batch);
    for (std::int64_t row = 0; row < problem.m; ++row)
      for (std::int64_t column = 0; column < problem.n; ++column) {
        Sum sum{};
        for (std::int64_t p = 0; p < problem.k; ++p)
          sum +=
              static_cast<Sum>(a[at.a + row * problem.a.row_stride + p * problem.a.column_stride]) *
              static_cast<Sum>(
                  b[at.b + p * problem.b.row_stride + column * problem.b.column_stride]);
        out[at.out + row * problem.out.row_stride + column * problem.out.column_stride] =
            static_cast<T>(sum);
      }
  }
}

}  // namespace arraycore::gemm
