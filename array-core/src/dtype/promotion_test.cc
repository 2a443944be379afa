// Tests some cases of the rules. array-core/tests/native compares every pair and triple of dtypes
// with NumPy itself.
#include "dtype/promotion.h"

#include <gtest/gtest.h>

#include <vector>

namespace arraycore {
namespace {

using enum DType;
using Scalars = std::vector<ScalarOperand>;

DType result(PromotionMode mode, std::vector<DType> arrays, const Scalars& scalars) {
  return result_type(mode, arrays, scalars);
}
constexpr auto kNumpy2 = PromotionMode::numpy2;
constexpr auto kCupy = PromotionMode::cupy;

TEST(Promote, MixedSignsTakeTheNextWiderSignedThenFloat64) {
  EXPECT_EQ(promote(int8, uint8), int16);
  EXPECT_EQ(promote(int64, uint32), int64);
  EXPECT_EQ(promote(int64, uint64), float64);
}

TEST(Promote, FloatsHoldTheIntegersTheyMeet) {
  EXPECT_EQ(promote(float16, int8), float16);
  EXPECT_EQ(promote(float16, int16), float32);
  EXPECT_EQ(promote(float32, int32), float64);
  EXPECT_EQ(promote(complex64, int32), complex128);
  EXPECT_EQ(promote(complex64, float16), complex64);
}

TEST(ResultType, DoesNotDependOnTheOrderOfOperands) {
  EXPECT_EQ(result(kNumpy2, {int16, uint16, float32}, {}), float32);
  EXPECT_EQ(result(kNumpy2, {float32, int16, uint16}, {}), float32);
}

TEST(ResultType, PythonScalarsAreWeak) {
  EXPECT_EQ(result(kNumpy2, {float32}, {ScalarOperand::of(PythonScalar::floating)}), float32);
  EXPECT_EQ(result(kNumpy2, {uint8}, {ScalarOperand::of(PythonScalar::integer)}), uint8);
  EXPECT_EQ(result(kNumpy2, {int8}, {ScalarOperand::of(PythonScalar::floating)}), float64);
  EXPECT_EQ(result(kNumpy2, {boolean}, {ScalarOperand::of(PythonScalar::integer)}), int64);
  EXPECT_EQ(result(kNumpy2, {float16}, {ScalarOperand::of(PythonScalar::complex)}), complex64);
  EXPECT_EQ(result(kNumpy2, {}, {ScalarOperand::of(PythonScalar::integer)}), int64);
}

TEST(ResultType, NumpyScalarsAreStrongInNumpy2AndWeakInCupy) {
  const Scalars float64_scalar{ScalarOperand::of(float64)};
  EXPECT_EQ(result(kNumpy2, {float32}, float64_scalar), float64);
  EXPECT_EQ(result(kCupy, {float32}, float64_scalar), float32);
  EXPECT_EQ(result(kCupy, {float32}, {ScalarOperand::of(complex128)}), complex64);
  EXPECT_EQ(result(kCupy, {int8}, {ScalarOperand::of(int64)}), int8);
}

TEST(ResultType, CupysScalarsOfAHigherCategoryCountInFull) {
  EXPECT_EQ(result(kCupy, {int8}, {ScalarOperand::of(float32)}), float32);
  EXPECT_EQ(result(kCupy, {boolean}, {ScalarOperand::of(int8)}), int8);
  EXPECT_EQ(result(kCupy, {}, {ScalarOperand::of(float32), ScalarOperand::of(int8)}), float32);
}

TEST(ResultType, IntegersGiveWayToFloatsInCupyAlone) {
  EXPECT_EQ(result(kCupy, {float32, int32}, {}), float32);
  EXPECT_EQ(result(kCupy, {uint64, float16}, {}), float16);
  EXPECT_EQ(result(kCupy, {int64, complex64}, {}), complex64);
  EXPECT_EQ(result(kCupy, {float32, float64, int8}, {}), float64);
  EXPECT_EQ(result(kCupy, {int32, uint32}, {}), int64);
  EXPECT_EQ(result(kNumpy2, {float32, int32}, {}), float64);
}

TEST(CanCast, FollowsTheFiveRules) {
  EXPECT_FALSE(can_cast(int8, int16, Casting::no));
  EXPECT_TRUE(can_cast(int8, int16, Casting::safe));
  EXPECT_FALSE(can_cast(int32, float32, Casting::safe));
  EXPECT_TRUE(can_cast(int32, float32, Casting::same_kind));
  EXPECT_TRUE(can_cast(uint64, int8, Casting::same_kind));
  EXPECT_FALSE(can_cast(int8, uint64, Casting::same_kind));
  EXPECT_FALSE(can_cast(float32, int64, Casting::same_kind));
  EXPECT_TRUE(can_cast(complex128, boolean, Casting::unsafe));
}

TEST(CheckFits, RefusesWhatTheDtypeCannotHold) {
  const auto fits = [](bool negative, std::uint64_t magnitude, DType dtype) {
    return check_fits({negative, magnitude, false}, dtype).ok();
  };
  EXPECT_TRUE(fits(false, 255, uint8));
  EXPECT_FALSE(fits(false, 256, uint8));
  EXPECT_FALSE(fits(true, 1, uint64));
  EXPECT_TRUE(fits(true, 0, uint64));
  EXPECT_TRUE(fits(true, 128, int8));
  EXPECT_FALSE(fits(true, 129, int8));
  EXPECT_TRUE(fits(false, ~std::uint64_t{0}, uint64));
  EXPECT_FALSE(fits(false, std::uint64_t{1} << 63, int64));
  EXPECT_TRUE(fits(true, std::uint64_t{1} << 63, int64));
  EXPECT_TRUE(fits(false, 100000, float16));
  EXPECT_FALSE(check_fits({false, 0, true}, uint64).ok());
}

TEST(CheckFits, SpeaksNumpysWords) {
  const Status status = check_fits({false, 300, false}, uint8);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::value);
  EXPECT_EQ(status.error().message, "Python integer 300 out of bounds for uint8");
}

}  // namespace
}  // namespace arraycore
