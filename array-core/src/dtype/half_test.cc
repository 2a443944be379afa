#include "dtype/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace arraycore {
namespace {

// Returns the value of a finite half, computed from its definition.
double value_of(std::uint16_t half) {
  const int exponent = (half >> 10) & 0x1f;
  const int mantissa = half & 0x3ff;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

bool is_finite(std::uint16_t half) { return (half & 0x7c00) != 0x7c00; }

template <typename F>
class Half : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Half, Floats);

TYPED_TEST(Half, WidensEveryFiniteValueExactly) {
  for (std::uint32_t h = 0; h < 0x10000; ++h) {
    const auto half = static_cast<std::uint16_t>(h);
    if (!is_finite(half)) continue;
    ASSERT_EQ(from_half<TypeParam>(half), static_cast<TypeParam>(value_of(half))) << h;
    ASSERT_EQ(std::signbit(from_half<TypeParam>(half)), (half & 0x8000) != 0) << h;
  }
}

TYPED_TEST(Half, RoundTripsAllBitPatternsNanPayloadsIncluded) {
  for (std::uint32_t h = 0; h < 0x10000; ++h) {
    const auto half = static_cast<std::uint16_t>(h);
    ASSERT_EQ(to_half(from_half<TypeParam>(half)), half) << h;
    ASSERT_EQ(std::isnan(from_half<TypeParam>(half)), (half & 0x7fff) > 0x7c00) << h;
    ASSERT_EQ(std::isinf(from_half<TypeParam>(half)), (half & 0x7fff) == 0x7c00) << h;
  }
}

TYPED_TEST(Half, RoundsToNearestAndTiesToEvenBetweenAllNeighbours) {
  for (std::uint16_t low = 0; low < 0x7bff; ++low) {
    const auto high = static_cast<std::uint16_t>(low + 1);
    // The midpoint of two neighbouring halves has one bit more than a half, so float and double
    // hold it exactly.
    const auto middle = static_cast<TypeParam>((value_of(low) + value_of(high)) / 2);
    const TypeParam infinity = std::numeric_limits<TypeParam>::infinity();
    ASSERT_EQ(to_half(middle), (low & 1) == 0 ? low : high) << low;
    ASSERT_EQ(to_half(std::nextafter(middle, TypeParam{0})), low) << low;
    ASSERT_EQ(to_half(std::nextafter(middle, infinity)), high) << low;
    ASSERT_EQ(to_half(-middle), to_half(middle) | 0x8000) << low;
  }
}

TYPED_TEST(Half, BecomesInfinityFrom65520On) {
  EXPECT_EQ(to_half(TypeParam{65504}), 0x7bff);
  EXPECT_EQ(to_half(std::nextafter(TypeParam{65520}, TypeParam{0})), 0x7bff);
  EXPECT_EQ(to_half(TypeParam{65520}), 0x7c00);
  EXPECT_EQ(to_half(TypeParam{65536}), 0x7c00);
  EXPECT_EQ(to_half(std::numeric_limits<TypeParam>::max()), 0x7c00);
  EXPECT_EQ(to_half(-std::numeric_limits<TypeParam>::infinity()), 0xfc00);
}

TYPED_TEST(Half, TinyValuesBecomeSignedZeroOrTheSmallestSubnormal) {
  const TypeParam half_unit = std::ldexp(TypeParam{1}, -25);
  EXPECT_EQ(to_half(half_unit), 0);
  EXPECT_EQ(to_half(-half_unit), 0x8000);
  EXPECT_EQ(to_half(std::nextafter(half_unit, TypeParam{1})), 1);
  EXPECT_EQ(to_half(std::numeric_limits<TypeParam>::denorm_min()), 0);
  EXPECT_EQ(to_half(TypeParam{-0.0}), 0x8000);
}

TEST(HalfNan, KeepsSignAndTopPayloadAndNeverBecomesInfinity) {
  EXPECT_EQ(to_half(std::bit_cast<float>(0x7fc00000U)), 0x7e00);
  EXPECT_EQ(to_half(std::bit_cast<float>(0xffc02000U)), 0xfe01);
  EXPECT_EQ(to_half(std::bit_cast<float>(0x7f800001U)), 0x7c01);
  EXPECT_EQ(to_half(std::bit_cast<double>(0x7ff0000000000001U)), 0x7c01);
  EXPECT_EQ(to_half(std::bit_cast<double>(0xfff8000000000000U)), 0xfe00);
}

TEST(HalfRounding, IsOnceFromDouble) {
  // If this number were rounded to float first, it would be the tie 1 + 2^-11, which rounds to 1.
  const double above_tie = 1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
  EXPECT_EQ(to_half(above_tie), 0x3c01);
}

static_assert(to_half(1.0F) == 0x3c00 && from_half<float>(0xc000) == -2.0F);

}  // namespace
}  // namespace arraycore
