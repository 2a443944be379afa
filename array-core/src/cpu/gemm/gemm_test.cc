// Compares the packed product with three plain loops. The shapes leave every remainder when they
// are divided by the blocks' sizes. The operands have every layout.
#include "cpu/gemm/gemm.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "thread_pool/thread_pool.h"

namespace arraycore::cpu {
namespace {

using gemm::Matrix;
using gemm::Problem;

enum class Layout { rows, columns, gaps, backwards };

// Returns a matrix of `rows` x `columns`. Its storage begins with three other elements.
Matrix matrix(Layout layout, std::int64_t rows, std::int64_t columns, std::int64_t batches,
              bool repeated) {
  constexpr std::int64_t kBefore = 3;
  Matrix m{kBefore, columns, 1, {repeated ? 0 : rows * columns}};
  if (layout == Layout::columns) m = {kBefore, 1, rows, {repeated ? 0 : rows * columns}};
  if (layout == Layout::gaps)
    m = {kBefore, 3 * columns + 1, 2, {repeated ? 0 : 4 * rows * columns}};
  if (layout == Layout::backwards) {
    m = {kBefore + rows * columns - 1, -columns, -1, {repeated ? 0 : rows * columns}};
  }
  if (batches == 1) m.batch.clear();
  return m;
}

std::size_t span_of(const Matrix& m, std::int64_t rows, std::int64_t columns,
                    std::int64_t batches) {
  std::int64_t last = m.offset;
  for (const std::int64_t end : {(rows - 1) * m.row_stride, (columns - 1) * m.column_stride})
    last += std::max<std::int64_t>(end, 0);
  if (!m.batch.empty()) last += (batches - 1) * m.batch[0];
  return static_cast<std::size_t>(last) + 1;
}

// Fills the vector with small integers, whose products and sums are exact in any order.
template <typename T>
std::vector<T> numbers(std::size_t count, int seed) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<T>(static_cast<int>((i * 7 + static_cast<std::size_t>(seed)) % 9) - 4);
  return values;
}

template <typename T>
void check(Gemm& product, std::int64_t m, std::int64_t n, std::int64_t k, Layout a, Layout b,
           Layout out, std::int64_t batches = 1, bool repeat_b = false) {
  Problem problem;
  problem.dtype = sizeof(T) == 4 ? DType::float32 : DType::float64;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  if (batches > 1) problem.batch = {batches};
  problem.a = matrix(a, m, k, batches, false);
  problem.b = matrix(b, k, n, batches, repeat_b);
  problem.out = matrix(out, m, n, batches, false);
  const auto left = numbers<T>(span_of(problem.a, m, k, batches), 1);
  const auto right = numbers<T>(span_of(problem.b, k, n, batches), 2);
  auto want = numbers<T>(span_of(problem.out, m, n, batches), 3);
  auto got = want;
  gemm::multiply_plainly(problem, left.data(), right.data(), want.data());
  const Status done = product.run(problem, reinterpret_cast<const std::byte*>(left.data()),
                                  reinterpret_cast<const std::byte*>(right.data()),
                                  reinterpret_cast<std::byte*>(got.data()));
  ASSERT_TRUE(done) << done.error().message;
  ASSERT_EQ(got, want) << m << " x " << n << " x " << k << ", a " << static_cast<int>(a) << ", b "
                       << static_cast<int>(b) << ", out " << static_cast<int>(out);
}

constexpr Layout kAll[] = {Layout::rows, Layout::columns, Layout::gaps, Layout::backwards};

template <typename T>
void check_everything() {
  Gemm product;
  for (const std::int64_t m : {1, 2, 5, 6, 7, 12, 13, 97})
    for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 17, 33})
      for (const std::int64_t k : {1, 2, 17, 33})
        check<T>(product, m, n, k, Layout::rows, Layout::rows, Layout::rows);
  for (const Layout a : kAll)
    for (const Layout b : kAll)
      for (const Layout out : kAll) {
        check<T>(product, 7, 9, 5, a, b, out);
        check<T>(product, 1, 37, 35, a, b, out);
        check<T>(product, 37, 1, 35, a, b, out);
        check<T>(product, 13, 11, 6, a, b, out, 3);
        check<T>(product, 13, 11, 6, a, b, out, 3, true);
      }
}

TEST(Gemm, Float32EqualsThreeLoopsInEveryShapeAndLayout) { check_everything<float>(); }
TEST(Gemm, Float64EqualsThreeLoopsInEveryShapeAndLayout) { check_everything<double>(); }

// Checks a window with `axes` axes that crosses both edges and, on one axis, takes every second
// position. It is reversed if `backwards` is set.
template <typename T>
void check_window(Gemm& product, int axes, std::int64_t m, std::int64_t columns,
                  std::int64_t outer_columns, std::int64_t outer_terms, std::int64_t batches,
                  bool backwards, bool apart) {
  Problem problem;
  problem.dtype = sizeof(T) == 4 ? DType::float32 : DType::float64;
  gemm::Window window;
  window.used = axes;
  std::int64_t places = 1;
  std::int64_t out_places = 1;
  for (std::size_t i = 3; i > static_cast<std::size_t>(3 - axes); --i) {
    gemm::WindowAxis& axis = window.axes[i - 1];
    axis.columns = i == 3 ? columns : 3;
    axis.terms = i == 3 ? 3 : 2;
    axis.column_step = i == 2 ? 2 : 1;
    axis.term_step = backwards ? -2 : 1;
    axis.origin = backwards ? 2 : -1;
    axis.extent = (axis.columns - 1) * axis.column_step + 2;
    axis.b_stride = places;
    axis.out_stride = (apart ? 2 : 1) * out_places;
    places *= axis.extent;
    out_places *= (apart ? 2 : 1) * axis.columns;
  }
  const std::int64_t terms = window.terms();
  problem.window = window;
  problem.m = m;
  problem.n = outer_columns * window.columns();
  problem.k = outer_terms * terms;
  if (batches > 1) problem.batch = {batches};
  const auto batch = [&](std::int64_t step) { return batches > 1 ? Dims{step} : Dims{}; };
  const std::int64_t of_b = places * outer_terms * outer_columns;
  problem.a = apart ? Matrix{1, terms, terms * m, batch(m * problem.k)}
                    : Matrix{1, problem.k, terms, batch(m * problem.k)};
  problem.b = {2, places, places * outer_terms, batch(of_b)};
  problem.out = {3, out_places, out_places * m, batch(out_places * m * outer_columns)};
  const auto size = [](std::int64_t count) { return static_cast<std::size_t>(count); };
  const auto left = numbers<T>(size(1 + m * problem.k * batches), 1);
  const auto right = numbers<T>(size(2 + of_b * batches), 2);
  auto want = numbers<T>(size(3 + out_places * m * outer_columns * batches), 3);
  auto got = want;
  gemm::multiply_plainly(problem, left.data(), right.data(), want.data());
  const Status done = product.run(problem, reinterpret_cast<const std::byte*>(left.data()),
                                  reinterpret_cast<const std::byte*>(right.data()),
                                  reinterpret_cast<std::byte*>(got.data()));
  ASSERT_TRUE(done) << done.error().message;
  ASSERT_EQ(got, want) << axes << " axes, " << m << " rows, " << columns << " places";
}

template <typename T>
void check_windows() {
  Gemm product;
  for (const int axes : {1, 2, 3})
    for (const std::int64_t m : {1, 5, 6, 13})
      for (const std::int64_t columns : {1, 2, 7, 8, 9, 19})
        for (const bool backwards : {false, true})
          for (const bool apart : {false, true})
            check_window<T>(product, axes, m, columns, 2, 3, 2, backwards, apart);
}

TEST(Gemm, Float32ThroughWindowsEqualsThreeLoops) { check_windows<float>(); }
TEST(Gemm, Float64ThroughWindowsEqualsThreeLoops) { check_windows<double>(); }

TEST(Gemm, WindowsGoBeyondEveryPackedBlock) {
  Gemm product;
  check_window<float>(product, 2, 101, 40, 11, 50, 1, false, false);
  check_window<double>(product, 2, 7, 200, 2, 90, 1, true, true);
}

TEST(Gemm, GoesBeyondEveryPackedBlock) {
  Gemm product;
  check<float>(product, 200, 1030, 300, Layout::rows, Layout::rows, Layout::rows);
  check<double>(product, 100, 1027, 513, Layout::columns, Layout::columns, Layout::gaps);
}

// The thread pool belongs to the process. This test ends the pool's helpers, so it is the last test
// of products.
TEST(Gemm, IsSharedOutAmongThreads) {
  std::vector<std::thread> helpers;
  for (int i = 1; i <= 3; ++i) helpers.emplace_back([i] { thread_pool().serve(i); });
  while (thread_pool().threads() != 4) std::this_thread::yield();
  Gemm product;
  check<float>(product, 200, 1030, 300, Layout::rows, Layout::rows, Layout::rows);
  check<float>(product, 5, 1999, 300, Layout::rows, Layout::columns, Layout::gaps);
  check<float>(product, 1999, 5, 300, Layout::columns, Layout::rows, Layout::backwards);
  check<float>(product, 97, 100, 200, Layout::rows, Layout::rows, Layout::rows, 3);
  check<double>(product, 100, 1027, 513, Layout::columns, Layout::columns, Layout::gaps);
  check_window<float>(product, 1, 64, 900, 2, 20, 1, false, false);
  check_window<float>(product, 2, 70, 40, 5, 30, 1, false, false);
  thread_pool().end();
  for (std::thread& helper : helpers) helper.join();
}

TEST(Problem, ABatchOfRowsThatMeetOneMatrixIsMoreRows) {
  const View a{{5, 3, 4}, {48, 16, 4}, 0};
  const View b{{5, 4, 6}, {0, 24, 4}, 8};
  const View out{{5, 3, 6}, {72, 24, 4}, 0};
  const Problem problem = gemm::problem_of(DType::float32, a, b, out);
  EXPECT_EQ(problem.m, 15);
  EXPECT_EQ(problem.batches(), 1);
  EXPECT_EQ(problem.b, (Matrix{2, 6, 1, {}}));
  // A batch of single rows works too, with any distance between the rows.
  const View vectors{{5, 1, 4}, {80, 0, 4}, 0};
  const View results{{5, 1, 6}, {24, 24, 4}, 0};
  const Problem rows = gemm::problem_of(DType::float32, vectors, b, results);
  EXPECT_EQ(rows.m, 5);
  EXPECT_EQ(rows.a, (Matrix{0, 20, 1, {}}));
}

TEST(Problem, BatchesThatLieOneAfterTheOtherAreOneAxis) {
  const View a{{2, 3, 4, 5}, {240, 80, 20, 4}, 0};
  const View b{{2, 3, 5, 6}, {360, 120, 24, 4}, 0};
  const View out{{2, 3, 4, 6}, {288, 96, 24, 4}, 0};
  const Problem problem = gemm::problem_of(DType::float32, a, b, out);
  EXPECT_EQ(problem.batch, Dims({6}));
  EXPECT_EQ(problem.m, 4);
  EXPECT_EQ(problem.place(5).a, 5 * 20);
}

}  // namespace
}  // namespace arraycore::cpu
