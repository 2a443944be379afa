#include "view/overlap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace arraycore {
namespace {

TEST(Overlap, SeesThroughInterleavedColumns) {
  const View left{{4, 2}, {16, 4}, 0};
  const View right{{4, 2}, {16, 4}, 8};
  EXPECT_EQ(overlap(left, 4, right, 4), Overlap::disjoint);
  EXPECT_EQ(overlap(left, 4, left, 4), Overlap::same);
  EXPECT_EQ(overlap(left, 4, {{4, 2}, {16, 4}, 4}, 4), Overlap::partial);
}

TEST(Overlap, EvenAndOddElementsAreDisjoint) {
  EXPECT_EQ(overlap({{10}, {8}, 0}, 4, {{10}, {-8}, 76}, 4), Overlap::disjoint);
  EXPECT_EQ(overlap({{10}, {8}, 0}, 4, {{10}, {-8}, 72}, 4), Overlap::partial);
}

TEST(Overlap, WithoutElementsThereIsNone) {
  EXPECT_EQ(overlap({{0}, {4}, 0}, 4, {{5}, {4}, 0}, 4), Overlap::disjoint);
  EXPECT_EQ(overlap({{3, 0}, {4, 4}, 4}, 4, {{3, 0}, {4, 4}, 4}, 4), Overlap::disjoint);
}

TEST(Overlap, StridesOfSingleElementsDoNotMatter) {
  EXPECT_EQ(overlap({{1, 3}, {7, 4}, 0}, 4, {{1, 3}, {INT64_MIN, 4}, 0}, 4), Overlap::same);
}

TEST(Overlap, OtherItemSizesAreNeverTheSame) {
  EXPECT_EQ(overlap({{4}, {8}, 0}, 4, {{4}, {8}, 0}, 8), Overlap::partial);
}

TEST(Overlap, ASearchTooLongSaysPartial) {
  // Large coprime strides have no common element, but many candidates.
  constexpr std::int64_t kItem = 16;
  const View a{{40, 40, 40}, {1000003 * kItem, 1000033 * kItem, 999983 * kItem}, 0};
  const View b{{40, 40, 40}, {1000037 * kItem, 999979 * kItem, 1000039 * kItem}, 8};
  EXPECT_EQ(overlap(a, 4, b, 4, 1), Overlap::partial);
}

View random_view(std::mt19937& random) {
  View view;
  const int ndim = static_cast<int>(random() % 4);
  for (int axis = 0; axis < ndim; ++axis) {
    view.shape.push_back(static_cast<std::int64_t>(random() % 5));
    view.strides.push_back(static_cast<std::int64_t>(random() % 41) - 20);
  }
  view.offset = 200 + static_cast<std::int64_t>(random() % 60);
  return view;
}

std::vector<bool> touched(const View& view, std::size_t item_size) {
  std::vector<bool> bytes(600, false);
  std::vector<std::int64_t> starts;
  if (view.count() > 0) starts.push_back(view.offset);
  for (int axis = 0; axis < view.ndim(); ++axis) {
    std::vector<std::int64_t> next;
    for (const std::int64_t start : starts)
      for (std::int64_t i = 0; i < view.shape[axis]; ++i)
        next.push_back(start + i * view.strides[axis]);
    starts = next;
  }
  for (const std::int64_t start : starts)
    for (std::size_t byte = 0; byte < item_size; ++byte)
      bytes[static_cast<std::size_t>(start) + byte] = true;
  return bytes;
}

TEST(Overlap, IsExactOnRandomViews) {
  std::mt19937 random(20261121);
  int shared = 0;
  for (int i = 0; i < 20000; ++i) {
    const View a = random_view(random);
    const View b = random_view(random);
    const std::size_t a_size = std::size_t{1} << random() % 5;
    const std::size_t b_size = std::size_t{1} << random() % 5;
    const auto in_a = touched(a, a_size);
    const auto in_b = touched(b, b_size);
    bool expected = false;
    for (std::size_t byte = 0; byte < in_a.size(); ++byte)
      expected = expected || (in_a[byte] && in_b[byte]);
    shared += expected ? 1 : 0;
    ASSERT_EQ(overlap(a, a_size, b, b_size, 1'000'000) != Overlap::disjoint, expected) << i;
    // A search that gives up early may report an overlap that does not exist, but never miss one.
    ASSERT_TRUE(!expected || overlap(a, a_size, b, b_size, 3) != Overlap::disjoint) << i;
  }
  EXPECT_GT(shared, 2000);
  EXPECT_LT(shared, 18000);
}

}  // namespace
}  // namespace arraycore
