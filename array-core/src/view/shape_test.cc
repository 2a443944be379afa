#include "view/shape.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace arraycore {
namespace {

using Axes = std::vector<std::int64_t>;
constexpr std::int64_t kLowestStride = std::numeric_limits<std::int64_t>::min();

template <typename T>
std::string message(const Result<T>& result) {
  return result.ok() ? "no error" : result.error().message;
}

TEST(BroadcastShapes, StretchesOnesAndSpeaksNumpysWords) {
  const std::vector<Dims> fit{{3, 1}, {4}, {}};
  EXPECT_EQ(*broadcast_shapes(fit), (Dims{3, 4}));
  const std::vector<Dims> empty{{1, 0}, {5, 1}};
  EXPECT_EQ(*broadcast_shapes(empty), (Dims{5, 0}));
  const std::vector<Dims> unfit{{2, 3}, {4}};
  EXPECT_EQ(message(broadcast_shapes(unfit)),
            "operands could not be broadcast together with shapes (2,3) (4,)");
  const std::vector<Dims> large{{std::int64_t{1} << 40, 1}, {std::int64_t{1} << 40}};
  EXPECT_EQ(broadcast_shapes(large).error().code, "array_too_big");
}

TEST(BroadcastTo, RepeatsByStrideZero) {
  EXPECT_EQ(*broadcast_to(contiguous({3, 1}, 4), {2, 3, 5}), (View{{2, 3, 5}, {0, 4, 0}, 0}));
  EXPECT_EQ(*broadcast_to(contiguous({}, 4), {2, 0}), (View{{2, 0}, {0, 0}, 0}));
  EXPECT_EQ(message(broadcast_to(contiguous({3}, 4), {4})),
            "operands could not be broadcast together with remapped shapes [original->remapped]: "
            "(3,)  and requested shape (4,)");
  EXPECT_EQ(message(broadcast_to(contiguous({3}, 4), {})),
            "cannot broadcast a non-scalar to a scalar array");
  EXPECT_EQ(broadcast_to(contiguous({1}, 4), {kMaxCount, 2}).error().code, "array_too_big");
}

TEST(BroadcastForAssignment, DropsOnesInFront) {
  EXPECT_EQ(broadcast_for_assignment(contiguous({1, 1, 3}, 4), {2, 3})->strides, (Dims{0, 4}));
  EXPECT_EQ(message(broadcast_for_assignment(contiguous({4}, 4), {2, 3})),
            "could not broadcast input array from shape (4,) into shape (2,3)");
}

TEST(Transpose, PermutesAxesAndNamesMistakes) {
  const View view = contiguous({2, 3, 4}, 1);
  EXPECT_EQ(transpose(view), (View{{4, 3, 2}, {1, 4, 12}, 0}));
  EXPECT_EQ(*transpose(view, Axes{1, -1, 0}), (View{{3, 4, 2}, {4, 1, 12}, 0}));
  EXPECT_EQ(message(transpose(view, Axes{0, 1})), "axes don't match array");
  EXPECT_EQ(message(transpose(view, Axes{0, 0, 1})), "repeated axis in transpose");
  EXPECT_EQ(message(transpose(view, Axes{0, 1, 3})),
            "axis 3 is out of bounds for array of dimension 3");
}

TEST(SwapAndMoveAxes, AreNumpys) {
  const View view = contiguous({2, 3, 4, 5}, 1);
  EXPECT_EQ(swap_axes(view, 0, -1)->shape, (Dims{5, 3, 4, 2}));
  EXPECT_EQ(message(swap_axes(view, 0, 4)),
            "axis2: axis 4 is out of bounds for array of dimension 4");
  EXPECT_EQ(move_axes(view, Axes{0}, Axes{-1})->shape, (Dims{3, 4, 5, 2}));
  EXPECT_EQ(move_axes(view, Axes{0, 3}, Axes{2, 0})->shape, (Dims{5, 3, 2, 4}));
  EXPECT_EQ(message(move_axes(view, Axes{0, 0}, Axes{0, 1})), "repeated axis in `source` argument");
  EXPECT_EQ(message(move_axes(view, Axes{0, 1}, Axes{0})),
            "`source` and `destination` arguments must have the same number of elements");
}

TEST(MoveAxes, TakesMoreDestinationsThanSourcesAsAnError) {
  EXPECT_FALSE(move_axes(contiguous({2, 3}, 1), Axes{}, Axes{0, 1}).ok());
  EXPECT_FALSE(move_axes(contiguous({2, 3}, 1), Axes{0, 1, 0}, Axes{}).ok());
}

TEST(Flip, StartsAtTheOtherEnd) {
  EXPECT_EQ(flip(contiguous({2, 3}, 4)), (View{{2, 3}, {-12, -4}, 20}));
  EXPECT_EQ(*flip(contiguous({2, 3}, 4), Axes{-1}), (View{{2, 3}, {12, -4}, 8}));
  EXPECT_EQ(flip(View{{1, 0}, {kLowestStride, kLowestStride}, 0}).offset, 0);
  EXPECT_EQ(message(flip(contiguous({2}, 4), Axes{0, 0})), "repeated axis");
}

TEST(SqueezeAndExpandDims, RemoveAndAddAxesOfExtentOne) {
  EXPECT_EQ(squeeze(contiguous({1, 3, 1}, 4)).shape, (Dims{3}));
  EXPECT_EQ(squeeze(contiguous({1, 3, 1}, 4), Axes{-1})->shape, (Dims{1, 3}));
  EXPECT_EQ(message(squeeze(contiguous({1, 3}, 4), Axes{1})),
            "cannot select an axis to squeeze out which has size not equal to one");
  EXPECT_EQ(expand_dims(contiguous({3}, 4), Axes{0, -1})->shape, (Dims{1, 3, 1}));
  EXPECT_EQ(message(expand_dims(contiguous({3}, 4), Axes{2})),
            "axis 2 is out of bounds for array of dimension 2");
}

TEST(ExpandDims, StopsAtTheMostDimensions) {
  View view = contiguous({2}, 4);
  for (int i = 1; i < kMaxDims; ++i) view = *expand_dims(view, Axes{0});
  EXPECT_EQ(view.ndim(), kMaxDims);
  EXPECT_EQ(expand_dims(view, Axes{0}).error().code, "too_many_dimensions");
}

TEST(Diagonal, FollowsItsOffset) {
  const View view = contiguous({3, 4}, 4);
  EXPECT_EQ(*diagonal(view, 0, 0, 1), (View{{3}, {20}, 0}));
  EXPECT_EQ(*diagonal(view, 2, 0, 1), (View{{2}, {20}, 8}));
  EXPECT_EQ(*diagonal(view, -1, 0, 1), (View{{2}, {20}, 16}));
  EXPECT_EQ(diagonal(view, 4, 0, 1)->shape, (Dims{0}));
  EXPECT_EQ(diagonal(view, kLowestStride, 0, 1)->shape, (Dims{0}));
  EXPECT_EQ(diagonal(contiguous({2, 3, 4}, 1), 0, 2, 0)->shape, (Dims{3, 2}));
  EXPECT_EQ(message(diagonal(contiguous({3}, 1), 0, 0, 1)),
            "diag requires an array of at least two dimensions");
  EXPECT_EQ(message(diagonal(view, 0, 1, 1)), "axis1 and axis2 cannot be the same");
}

}  // namespace
}  // namespace arraycore
