#include "gemm/problem.h"

#include <array>
#include <cstddef>

#include "view/collapse.h"

namespace arraycore::gemm {

namespace {

// Returns the view without its last two axes.
View batch_of(const View& view) {
  View batch = view;
  batch.shape.resize(view.ndim() - 2);
  batch.strides.resize(view.ndim() - 2);
  return batch;
}

Matrix matrix_of(const View& view, const View& batch, std::int64_t item) {
  Matrix matrix;
  matrix.offset = batch.offset / item;
  matrix.row_stride = view.strides[view.ndim() - 2] / item;
  matrix.column_stride = view.strides[view.ndim() - 1] / item;
  for (const std::int64_t stride : batch.strides) matrix.batch.push_back(stride / item);
  return matrix;
}

}  // namespace

std::int64_t Problem::batches() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : batch) count *= extent;
  return count;
}

Problem::Place Problem::place(std::int64_t index) const {
  Place place{a.offset, b.offset, out.offset};
  for (int axis = batch.size() - 1; axis >= 0; --axis) {
    const std::int64_t i = index % batch[axis];
    index /= batch[axis];
    place.a += i * a.batch[axis];
    place.b += i * b.batch[axis];
    place.out += i * out.batch[axis];
  }
  return place;
}

std::int64_t Problem::a_at(std::int64_t row, std::int64_t term) const {
  if (!window) return row * a.row_stride + term * a.column_stride;
  const std::int64_t inner = window->terms();
  return row * a.row_stride + term / inner * a.column_stride + term % inner;
}

std::optional<std::int64_t> Problem::b_at(std::int64_t term, std::int64_t column) const {
  if (!window) return term * b.row_stride + column * b.column_stride;
  std::int64_t at = 0;
  for (auto axis = window->axes.rbegin(); axis != window->axes.rend(); ++axis) {
    const std::int64_t x = column % axis->columns * axis->column_step +
                           term % axis->terms * axis->term_step + axis->origin;
    if (x < 0 || x >= axis->extent) return std::nullopt;
    at += x * axis->b_stride;
    column /= axis->columns;
    term /= axis->terms;
  }
  return at + term * b.row_stride + column * b.column_stride;
}

std::int64_t Problem::out_at(std::int64_t row, std::int64_t column) const {
  std::int64_t at = row * out.row_stride;
  if (!window) return at + column * out.column_stride;
  for (auto axis = window->axes.rbegin(); axis != window->axes.rend(); ++axis) {
    at += column % axis->columns * axis->out_stride;
    column /= axis->columns;
  }
  return at + column * out.column_stride;
}

Problem problem_of(DType dtype, const View& a, const View& b, const View& out) {
  const auto item = static_cast<std::int64_t>(size_of(dtype));
  Problem problem;
  problem.dtype = dtype;
  problem.m = a.shape[a.ndim() - 2];
  problem.k = a.shape[a.ndim() - 1];
  problem.n = b.shape[b.ndim() - 1];
  // The batch axes may be walked in any order, so they are sorted by their strides in the result.
  std::array<View, 3> batches{batch_of(out), batch_of(a), batch_of(b)};
  collapse(batches, AxisOrder::any);
  problem.batch = batches[0].shape;
  problem.out = matrix_of(out, batches[0], item);
  problem.a = matrix_of(a, batches[1], item);
  problem.b = matrix_of(b, batches[2], item);

  const int last = problem.batch.size() - 1;
  if (last < 0 || problem.b.batch[last] != 0) return problem;
  if (problem.m == 1) {  // with one row, the step of the batch becomes the step of rows
    problem.a.row_stride = problem.a.batch[last];
    problem.out.row_stride = problem.out.batch[last];
  }
  if (problem.a.batch[last] == problem.m * problem.a.row_stride &&
      problem.out.batch[last] == problem.m * problem.out.row_stride) {
    problem.m *= problem.batch[last];
    for (Dims* dims : {&problem.batch, &problem.a.batch, &problem.b.batch, &problem.out.batch})
      dims->resize(last);
  }
  return problem;
}

}  // namespace arraycore::gemm
