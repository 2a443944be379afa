#include "view/view.h"

#include <gtest/gtest.h>

#include <limits>

#include "view/reinterpret.h"

namespace arraycore {
namespace {

constexpr std::int64_t kLowestInteger = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighestInteger = std::numeric_limits<std::int64_t>::max();

TEST(Contiguous, StridesAreCOrderedBytes) {
  EXPECT_EQ(contiguous({2, 3, 4}, 4), (View{{2, 3, 4}, {48, 16, 4}, 0}));
  EXPECT_EQ(contiguous({}, 8), (View{{}, {}, 0}));
}

TEST(Contiguous, IgnoresAxesOfExtentOneAndViewsWithoutElements) {
  EXPECT_TRUE(is_c_contiguous({{2, 1, 3}, {12, 999, 4}, 0}, 4));
  EXPECT_TRUE(is_f_contiguous({{2, 1, 3}, {4, 999, 8}, 0}, 4));
  EXPECT_FALSE(is_c_contiguous({{2, 3}, {4, 8}, 0}, 4));
  EXPECT_TRUE(is_c_contiguous({{2, 0}, {5, 7}, 0}, 4));
  EXPECT_TRUE(is_f_contiguous({{2, 0}, {5, 7}, 0}, 4));
  EXPECT_TRUE(is_c_contiguous({{}, {}, 12}, 4));
  EXPECT_FALSE(is_c_contiguous({{3}, {-4}, 8}, 4));
}

TEST(Contiguous, TakesThirtyTwoAxes) {
  Dims shape;
  shape.resize(kMaxDims, 1);
  shape[0] = 2;
  shape[31] = 3;
  const View view = contiguous(shape, 2);
  EXPECT_EQ(view.strides[0], 6);
  EXPECT_EQ(view.count(), 6);
  EXPECT_TRUE(is_c_contiguous(view, 2));
}

TEST(CheckedBytes, RefusesWhatOverflowsEvenBesideAnExtentOfZero) {
  EXPECT_EQ(*checked_bytes({2, 3}, 8), 48);
  EXPECT_EQ(*checked_bytes({0, 3}, 8), 0);
  EXPECT_EQ(*checked_count({kMaxCount}), kMaxCount);
  EXPECT_EQ(checked_count({kMaxCount + 1}).error().code, "array_too_big");
  EXPECT_EQ(checked_count({std::int64_t{1} << 40, std::int64_t{1} << 40}).error().code,
            "array_too_big");
  EXPECT_EQ(checked_count({kHighestInteger, 0, kHighestInteger}).error().code, "array_too_big");
  EXPECT_EQ(checked_bytes({3, -1}, 8).error().code, "negative_dimension");
  EXPECT_EQ(checked_bytes({3, -1}, 8).error().kind, ErrorKind::value);
}

TEST(ByteExtent, CoversNegativeStridesAndBroadcasts) {
  EXPECT_EQ(byte_extent({{3, 2}, {-8, 4}, 16}, 4), (ByteExtent{0, 24}));
  EXPECT_EQ(byte_extent({{1000}, {0}, 4}, 4), (ByteExtent{4, 8}));
  EXPECT_EQ(byte_extent({{0, 5}, {4, 4}, 4}, 4), (ByteExtent{4, 4}));
  EXPECT_EQ(byte_extent({{1}, {kLowestInteger}, 4}, 4), (ByteExtent{4, 8}));
}

TEST(CheckView, AcceptsWhatLiesInsideAndNothingElse) {
  EXPECT_TRUE(check_view({{3}, {4}, 0}, 4, 12).ok());
  EXPECT_FALSE(check_view({{3}, {4}, 0}, 4, 11).ok());
  EXPECT_FALSE(check_view({{3}, {-4}, 4}, 4, 100).ok());
  EXPECT_FALSE(check_view({{3}, {4}, -4}, 4, 100).ok());
  EXPECT_FALSE(check_view({{3}, {}, 0}, 4, 100).ok());
  EXPECT_FALSE(check_view({{-3}, {4}, 0}, 4, 100).ok());
  EXPECT_TRUE(check_view({{1, 3}, {kHighestInteger, 4}, 0}, 4, 12).ok());
  EXPECT_TRUE(check_view({{0}, {kLowestInteger}, 0}, 4, 0).ok());
  EXPECT_FALSE(check_view({{0}, {4}, 1}, 4, 0).ok());
  EXPECT_FALSE(check_view({{3}, {kHighestInteger}, 0}, 4, 100).ok());
  EXPECT_FALSE(check_view({{2}, {kLowestInteger}, 0}, 4, 100).ok());
  EXPECT_FALSE(check_view({{}, {}, kHighestInteger}, 4, kHighestInteger).ok());
}

TEST(Reinterpret, ChangesTheLastAxisAsNumpyDoes) {
  const View view = contiguous({2, 4}, 4);
  EXPECT_EQ(*reinterpret(view, DType::float32, DType::int16), (View{{2, 8}, {16, 2}, 0}));
  EXPECT_EQ(*reinterpret(view, DType::float32, DType::complex64), (View{{2, 2}, {16, 8}, 0}));
  EXPECT_EQ(*reinterpret(view, DType::float32, DType::int32), view);
  EXPECT_FALSE(reinterpret(contiguous({3}, 4), DType::float32, DType::float64).ok());
  EXPECT_FALSE(reinterpret({{3}, {8}, 0}, DType::float32, DType::int8).ok());
  EXPECT_FALSE(reinterpret({{}, {}, 0}, DType::float32, DType::int8).ok());
  EXPECT_TRUE(reinterpret({{}, {}, 0}, DType::float32, DType::uint32).ok());
}

TEST(Reinterpret, RefusesMoreElementsThanAnyArrayHas) {
  const View broadcast{{kMaxCount, 1}, {0, 4}, 0};
  EXPECT_EQ(reinterpret(broadcast, DType::float32, DType::int8).error().code, "array_too_big");
}

TEST(ComplexParts, LieBesideEachOther) {
  const View view = contiguous({3}, 16);
  EXPECT_EQ(real_part(view, DType::complex128), view);
  EXPECT_EQ(imag_part(view, DType::complex128), (View{{3}, {16}, 8}));
  EXPECT_EQ(imag_part(contiguous({3}, 8), DType::complex64).offset, 4);
  EXPECT_EQ(imag_part(contiguous({0}, 8), DType::complex64).offset, 0);
}

}  // namespace
}  // namespace arraycore
