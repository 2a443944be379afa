// Compares convolutions without unfolding with three plain loops. The windows cross every edge, run
// in both directions, are dilated, and have one or two axes. Most images do not consist of
// whole blocks.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "cpu/gemm/direct_forward.h"
#include "cpu/gemm/direct_weights.h"
#include "cpu/gemm/gemm.h"
#include "cpu/gemm/winograd.h"
#include "cpu/gemm/winograd_weights.h"

namespace arraycore::cpu {
namespace {

using gemm::Matrix;
using gemm::Problem;

struct Shape {
  std::int64_t images = 1, channels = 1, results = 1;
  std::int64_t height = 1, width = 1;
  std::int64_t window = 3;
  std::int64_t spread = 1;   // from one of the window's elements to the next; may be negative
  std::int64_t padding = 1;  // at both ends
  std::int64_t groups = 1;
  std::int64_t out_step = 1;

  std::int64_t reach() const { return (window - 1) * std::abs(spread); }
  std::int64_t places(std::int64_t extent) const { return extent + 2 * padding - reach(); }
  std::int64_t origin() const { return (spread < 0 ? reach() : 0) - padding; }
};

// In the Problem of a convolution (`forward`), a column is a position of the result and a term is
// an element of the window. In that of the weights' gradient, it is the other way round.
gemm::WindowAxis axis_of(const Shape& s, std::int64_t extent, std::int64_t window,
                         std::int64_t stride, bool forward) {
  gemm::WindowAxis axis;
  const bool flat = window == 1 && extent == 1;
  axis.columns = flat ? 1 : s.places(extent);
  axis.terms = window;
  axis.column_step = 1;
  axis.term_step = s.spread;
  axis.origin = flat ? 0 : s.origin();
  axis.extent = extent;
  axis.b_stride = stride;
  if (!forward) {
    std::swap(axis.columns, axis.terms);
    std::swap(axis.column_step, axis.term_step);
  }
  return axis;
}

Problem problem_of(const Shape& s, DType dtype, bool forward) {
  Problem p;
  p.dtype = dtype;
  const bool is_row = s.height == 1;
  gemm::Window window;
  window.used = 2;
  window.axes[2] = axis_of(s, s.width, s.window, 1, forward);
  window.axes[1] = axis_of(s, s.height, is_row ? 1 : s.window, s.width + 2, forward);
  const std::int64_t plane = s.height * (s.width + 2) + 1;
  const std::int64_t image = plane * s.channels * s.groups;
  auto& [z, y, x] = window.axes;
  x.out_stride = s.out_step;
  y.out_stride = s.out_step * x.columns;
  const std::int64_t taps = forward ? window.terms() : window.columns();
  const std::int64_t places = forward ? window.columns() : window.terms();
  if (s.groups > 1) p.batch = {s.groups};
  const auto group = [&](std::int64_t step) { return s.groups > 1 ? Dims{step} : Dims{}; };
  p.m = s.results;
  if (forward) {
    p.k = s.channels * taps;
    p.n = s.images * places;
    p.a = {2, p.k, taps, group(s.results * p.k)};
    p.b = {3, plane, image, group(s.channels * plane)};
    const std::int64_t step = places * s.out_step;
    p.out = {1, step, s.results * s.groups * step, group(s.results * step)};
  } else {
    p.k = s.images * places;
    p.n = s.channels * taps;
    p.a = {2, places, s.results * s.groups * places, group(s.results * places)};
    p.b = {3, image, plane, group(s.channels * plane)};
    const std::int64_t step = taps * s.out_step;
    p.out = {1, s.channels * step, step, group(s.results * s.channels * step)};
  }
  p.window = window;
  return p;
}

// Fills the vector with small integers, whose products and sums are exact in any order.
template <typename T>
std::vector<T> numbers(std::int64_t count, int seed) {
  std::vector<T> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>(static_cast<int>((i * 7 + static_cast<std::size_t>(seed)) % 9) - 4);
  return values;
}

// Computes the parts of `threads` threads, one after the other, on this thread.
template <typename Direct, typename T>
void run(const Problem& p, int threads, const T* a, const T* b, T* out) {
  Direct direct(p, threads);
  std::vector<std::int64_t> memory(direct.bytes() / sizeof(std::int64_t) + 1);
  for (std::int64_t index = 0; index < p.batches(); ++index) {
    const Problem::Place at = p.place(index);
    ASSERT_TRUE(
        direct.run(a + at.a, b + at.b, out + at.out, reinterpret_cast<std::byte*>(memory.data())));
  }
}

template <typename T, typename Direct>
void check_by(const Shape& s, bool forward, int threads) {
  const Problem p = problem_of(s, sizeof(T) == 4 ? DType::float32 : DType::float64, forward);
  const auto left = numbers<T>(2 + p.m * p.k * s.groups, 1);
  const auto right =
      numbers<T>(3 + (s.height * (s.width + 2) + 1) * s.channels * s.groups * s.images, 2);
  auto want = numbers<T>(1 + p.m * p.n * s.groups * s.out_step, 3);
  auto got = want;
  gemm::multiply_plainly(p, left.data(), right.data(), want.data());
  run<Direct>(p, threads, left.data(), right.data(), got.data());
  ASSERT_EQ(got, want) << (forward ? "forward " : "weights ") << s.images << " images of "
                       << s.channels << " x " << s.height << " x " << s.width << ", " << s.results
                       << " results, window " << s.window << " by " << s.spread << ", padding "
                       << s.padding;
}

template <typename T>
void check(const Shape& s, bool forward, int threads = 1) {
  if (forward)
    check_by<T, DirectForward<T>>(s, forward, threads);
  else
    check_by<T, DirectWeights<T>>(s, forward, threads);
}

template <typename T>
void check_shapes() {
  for (const bool forward : {true, false})
    for (const std::int64_t results : {1, 4, 7})
      for (const std::int64_t spread : {1, -1, 2})
        for (const std::int64_t window : {2, 3, 5})
          for (const std::int64_t padding : {0, 1, 2}) {
            check<T>({2, 2, results, 10, 13, window, spread, padding}, forward);
            if (padding != 1) continue;
            check<T>({3, 2, results, 11, 17, window, spread, padding, 2}, forward, 3);
            check<T>({2, 2, results, 1, 20, window, spread, padding}, forward);
          }
}

TEST(Direct, Float32EqualsThreeLoops) { check_shapes<float>(); }
TEST(Direct, Float64EqualsThreeLoops) { check_shapes<double>(); }

TEST(Direct, TakesManyImagesAndStridedResults) {
  check<float>({37, 3, 5, 7, 8, 3}, false);
  check<float>({5, 4, 16, 14, 14, 3, 1, 1, 1, 2}, true);
  check<float>({5, 4, 16, 14, 15, 3, 1, 1, 1, 2}, false);
}

// Values after a row's end, and columns in the gaps between rows, must not affect the result.
TEST(Direct, AnInfinityStaysWithItsOwnWindows) {
  for (const bool forward : {true, false}) {
    const Problem p = problem_of({1, 1, 2, 14, 15, 3}, DType::float32, forward);
    auto left = numbers<float>(2 + p.m * p.k, 1);
    auto right = numbers<float>(3 + 14 * 17 + 1, 2);
    for (auto& value : left) value += 5;  // no 0, which would give NaN with infinity
    right[3 + 5 * 17 + 14] = std::numeric_limits<float>::infinity();
    std::vector<float> want(static_cast<std::size_t>(1 + p.m * p.n));
    auto got = want;
    gemm::multiply_plainly(p, left.data(), right.data(), want.data());
    Gemm product;
    ASSERT_TRUE(product.run(p, reinterpret_cast<const std::byte*>(left.data()),
                            reinterpret_cast<const std::byte*>(right.data()),
                            reinterpret_cast<std::byte*>(got.data())));
    EXPECT_EQ(got, want);
  }
}

TEST(Direct, TakesWhatFillsItsBlocks) {
  const auto suits = [](const Shape& s, bool forward) {
    const Problem p = problem_of(s, DType::float32, forward);
    return forward ? DirectForward<float>::suits(p) : DirectWeights<float>::suits(p);
  };
  EXPECT_TRUE(suits({2, 3, 6, 14, 14, 3}, true));
  EXPECT_TRUE(suits({2, 3, 6, 14, 14, 3}, false));
  EXPECT_TRUE(suits({2, 3, 6, 1, 64, 3}, true));
  EXPECT_FALSE(suits({2, 3, 6, 4, 4, 3}, true));  // half of a block would be outside the edge
  EXPECT_TRUE(suits({2, 3, 6, 4, 4, 3}, false));
  EXPECT_FALSE(suits({2, 3, 6, 5, 5, 3}, false));       // 5 elements fill 8 lanes
  EXPECT_FALSE(suits({2, 512, 512, 32, 32, 3}, true));  // no cache holds the weights
}

// Compares Winograd's transforms with plain loops. Quarters occur in the transforms; those of small
// integers are exact.
void check_tiles(const Shape& s, int threads = 1) {
  check_by<float, Winograd>(s, true, threads);
  if (s.spread == 1) check_by<float, WinogradWeights>(s, false, threads);
}

TEST(Winograd, EqualsThreeLoops) {
  for (const std::int64_t results : {1, 6, 7})
    for (const std::int64_t spread : {1, -1})
      for (const std::int64_t padding : {0, 1, 2}) {
        check_tiles({2, 2, results, 10, 13, 3, spread, padding});
        check_tiles({3, 2, results, 11, 17, 3, spread, padding, 2}, 3);
      }
  check_tiles({9, 9, 8, 4, 4, 3});
  check_tiles({5, 4, 8, 7, 7, 3, 1, 1, 1, 2});  // strided results
  check_tiles({5, 4, 8, 7, 7, 3, -1, 1, 1, 2});
  check_tiles({4, 70, 13, 9, 30, 3});   // several chunks of tiles
  check_tiles({1, 512, 200, 4, 4, 3});  // and passes over results
}

TEST(Winograd, TakesWhatRepaysTheTransforms) {
  const auto suits = [](const Shape& s, DType dtype = DType::float32) {
    const bool forward = Winograd::suits(problem_of(s, dtype, true));
    EXPECT_FALSE(Winograd::suits(problem_of(s, dtype, false)));
    EXPECT_FALSE(WinogradWeights::suits(problem_of(s, dtype, true)));
    if (s.spread == 1) EXPECT_EQ(WinogradWeights::suits(problem_of(s, dtype, false)), forward);
    return forward;
  };
  EXPECT_TRUE(suits({2, 16, 16, 10, 12, 3}));
  EXPECT_TRUE(suits({2, 16, 16, 10, 12, 3, -1}));
  EXPECT_TRUE(suits({8, 512, 512, 4, 4, 3}));
  EXPECT_FALSE(suits({2, 16, 16, 10, 12, 3}, DType::float64));
  EXPECT_FALSE(suits({2, 16, 16, 10, 12, 5, 1, 2}));
  EXPECT_FALSE(suits({2, 16, 16, 10, 12, 3, 2}));
  EXPECT_FALSE(suits({2, 4, 16, 10, 12, 3}));
  EXPECT_FALSE(suits({2, 16, 4, 10, 12, 3}));
  EXPECT_FALSE(suits({1, 512, 512, 4, 4, 3}));  // too few positions
  EXPECT_FALSE(suits({9, 16, 16, 5, 5, 3}));    // too many tiles outside the edge
  EXPECT_FALSE(suits({2, 16, 16, 1, 120, 3}));  // one axis
}

// Winograd's transforms lose accuracy, because they multiply larger numbers. But the sums have a
// ninth of the terms, which gains accuracy. With 64 channels, the root mean square error is 0.64
// times that of plain sums whose terms are added in order.
TEST(Winograd, ErrsNoMoreThanSums) {
  const Shape s{1, 64, 12, 20, 24, 3};
  const Problem p = problem_of(s, DType::float32, true);
  std::uint32_t state = 12'345;
  const auto random = [&](std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) {
      state = state * 1'664'525U + 1'013'904'223U;
      value = static_cast<float>(state >> 8) / static_cast<float>(1 << 23) - 1;
    }
    return values;
  };
  const auto left = random(2 + p.m * p.k);
  const auto right = random(3 + (s.height * (s.width + 2) + 1) * s.channels);
  std::vector<float> sums(static_cast<std::size_t>(1 + p.m * p.n));
  std::vector<float> exact = sums;
  std::vector<float> got = sums;
  gemm::multiply_plainly<float, double>(p, left.data(), right.data(), exact.data());
  run<DirectForward<float>>(p, 1, left.data(), right.data(), sums.data());
  run<Winograd>(p, 1, left.data(), right.data(), got.data());
  double of_sums = 0;
  double of_tiles = 0;
  for (std::size_t i = 1; i < exact.size(); ++i) {
    of_sums += std::pow(double{sums[i]} - double{exact[i]}, 2);
    of_tiles += std::pow(double{got[i]} - double{exact[i]}, 2);
  }
  EXPECT_LT(std::sqrt(of_tiles), std::sqrt(of_sums));
  EXPECT_GT(of_tiles, 0);
}

}  // namespace
}  // namespace arraycore::cpu
