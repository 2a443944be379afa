#include "view/reshape.h"

#include <gtest/gtest.h>

#include <vector>

#include "view/shape.h"

namespace arraycore {
namespace {

using Shape = std::vector<std::int64_t>;

std::string message(const View& view, const Shape& shape) {
  const auto result = reshape(view, shape, 4);
  return result.ok() ? "no error" : result.error().message;
}

TEST(Reshape, OfContiguousViewsIsAView) {
  const View view = contiguous({2, 6}, 4);
  EXPECT_EQ(reshape(view, Shape{3, -1}, 4)->view, contiguous({3, 4}, 4));
  EXPECT_EQ(reshape(view, Shape{1, 12, 1}, 4)->view, contiguous({1, 12, 1}, 4));
  EXPECT_EQ(reshape(contiguous({}, 4), Shape{1, 1}, 4)->view, contiguous({1, 1}, 4));
}

TEST(Reshape, SplitsAndJoinsStridedAxesWhereStridesCanSayIt) {
  const View every_second{{4, 6}, {96, 8}, 4};
  EXPECT_EQ(reshape(every_second, Shape{2, 2, 3, 2}, 4)->view,
            (View{{2, 2, 3, 2}, {192, 96, 16, 8}, 4}));
  EXPECT_EQ(reshape(every_second, Shape{24}, 4)->view, std::nullopt);
  EXPECT_EQ(reshape(transpose(contiguous({2, 3}, 4)), Shape{6}, 4)->view, std::nullopt);
  EXPECT_EQ(reshape({{2, 3}, {24, 8}, 0}, Shape{6}, 4)->view, (View{{6}, {8}, 0}));
  EXPECT_EQ(reshape({{3}, {0}, 8}, Shape{3, 1}, 4)->view, (View{{3, 1}, {0, 0}, 8}));
}

TEST(Reshape, NamesMistakesInNumpysWords) {
  const View view = contiguous({6}, 4);
  EXPECT_EQ(message(view, {4}), "cannot reshape array of size 6 into shape (4,)");
  EXPECT_EQ(message(view, {4, -1}), "cannot reshape array of size 6 into shape (4,newaxis)");
  EXPECT_EQ(message(view, {-1, -1}), "can only specify one unknown dimension");
  EXPECT_EQ(message(contiguous({0}, 4), {0, -1}),
            "cannot reshape array of size 0 into shape (0,newaxis)");
  const std::int64_t large = std::int64_t{1} << 62;
  EXPECT_EQ(reshape(view, Shape{large, large}, 4).error().code, "cannot_reshape");
  EXPECT_EQ(reshape(contiguous({0}, 4), Shape{0, large}, 4).error().code, "array_too_big");
  EXPECT_EQ(reshape(view, Shape(33, 1), 4).error().code, "too_many_dimensions");
}

TEST(Reshape, OfNothingGivesAnyEmptyShape) {
  EXPECT_EQ(reshape(contiguous({0, 3}, 4), Shape{5, 0}, 4)->shape, (Dims{5, 0}));
  EXPECT_EQ(reshape(contiguous({0, 3}, 4), Shape{5, -1}, 4)->shape, (Dims{5, 0}));
}

TEST(Ravel, IsAViewOfContiguousElementsOnly) {
  EXPECT_EQ(ravel(contiguous({2, 3}, 4), 4).view, contiguous({6}, 4));
  EXPECT_EQ(ravel({{3}, {8}, 0}, 4).view, std::nullopt);
  EXPECT_EQ(ravel({{3}, {8}, 0}, 4).shape, (Dims{3}));
}

}  // namespace
}  // namespace arraycore
