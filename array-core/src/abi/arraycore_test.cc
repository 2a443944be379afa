// Tests the C interface as its callers see it: the negative numbers and texts of errors, the count
// of calls, and calls that also free arrays.
#include "arraycore/arraycore.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>

namespace {

struct CInterface : testing::Test {
  CInterface() { EXPECT_EQ(ac_open(AC_BACKEND_CPU, 0), 0); }
  ~CInterface() override { ac_close(); }

  static int32_t pair(float first, float second) {
    const std::array<int64_t, 1> shape{2};
    const std::array<float, 2> data{first, second};
    return ac_create(10, 1, shape.data(), data.data());
  }
  static int32_t add() { return ac_ufunc_number("add"); }
  static double crossings() { return ac_counter(AC_CROSSINGS); }
};

TEST_F(CInterface, AnOperationThatFreesTwoArraysIsOneCrossing) {
  const int32_t a = pair(1, 2), b = pair(10, 20), c = pair(0, 0), d = pair(0, 0);
  const double before = crossings();
  const int32_t sum = ac_binary(add(), a, b, c, d);
  EXPECT_EQ(crossings() - before, 1);
  EXPECT_EQ(ac_counter(AC_LIVE_ARRAYS), 3);
  std::array<float, 2> out{};
  ASSERT_EQ(ac_read(sum, out.data(), sizeof out), 0);
  EXPECT_EQ(out, (std::array<float, 2>{11, 22}));
}

TEST_F(CInterface, DescribesDtypeShapeAndStridesInOneCrossing) {
  const std::array<int64_t, 3> shape{2, 3, 4};
  const int32_t id = ac_create(11, 3, shape.data(), nullptr);
  std::array<int64_t, AC_DESCRIPTION_WORDS> words{};
  const double before = crossings();
  ASSERT_EQ(ac_describe(id, words.data()), 0);
  EXPECT_EQ(crossings() - before, 1);
  const std::array<int64_t, 8> expected{11, 3, 2, 3, 4, 96, 32, 8};
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), words.begin()));
}

TEST_F(CInterface, FailuresAreMinusTheKindWithCodeAndSentence) {
  const int32_t a = pair(1, 2);
  EXPECT_EQ(ac_free(1, &a), 0);
  EXPECT_EQ(ac_binary(add(), a, a, 0, 0), -1);
  EXPECT_EQ(ac_error_kind(), 1);
  EXPECT_STREQ(ac_error_code(), "array_freed");
  EXPECT_EQ(ac_binary(999, a, a, 0, 0), -11);
  EXPECT_STREQ(ac_error_message(), "There is no ufunc 999.");
  EXPECT_EQ(ac_unary(add(), a, 0, 0), -11);
  EXPECT_EQ(ac_call(999, nullptr, 0, 0, 0), -11);
  EXPECT_STREQ(ac_error_message(), "There is no operation 999.");
  EXPECT_EQ(ac_create(14, 0, nullptr, nullptr), -2);
  EXPECT_EQ(ac_create(10, 33, nullptr, nullptr), -1);
  EXPECT_STREQ(ac_error_code(), "too_many_dimensions");
}

TEST_F(CInterface, WordsThatAreNoCallAreRefusedBeforeAnythingIsDone) {
  const int32_t a = pair(1, 2);
  const std::array<int32_t, 10> call{add(), 0, 3, 0, 0, 0, -1, a, -1, a};
  const auto run = [&](std::size_t count) {
    return ac_call(AC_CALL_UFUNC, call.data(), static_cast<int32_t>(count), 0, 0);
  };
  for (std::size_t count = 0; count < call.size(); ++count) {
    EXPECT_EQ(run(count), -11) << count;
    EXPECT_STREQ(ac_error_code(), "bad_call");
  }
  EXPECT_EQ(ac_counter(AC_LIVE_ARRAYS), 1);
  EXPECT_EQ(ac_counter(AC_DISPATCHES), 0);
}

TEST_F(CInterface, ACallByWordsWritesToOutWhereThatIsGiven) {
  const int32_t a = pair(1, 2), b = pair(10, 20), target = pair(0, 0);
  const std::array<int32_t, 10> call{add(), 0, 3, 0, target, 0, -1, a, -1, b};
  EXPECT_EQ(ac_call(AC_CALL_UFUNC, call.data(), 10, 0, 0), 0);
  std::array<float, 2> out{};
  ASSERT_EQ(ac_read(target, out.data(), sizeof out), 0);
  EXPECT_EQ(out, (std::array<float, 2>{11, 22}));
}

TEST_F(CInterface, ASecondResultWaitsToBeAskedFor) {
  const int32_t a = pair(7, -7), b = pair(2, 2);
  const int32_t quotient = ac_binary(ac_ufunc_number("divmod"), a, b, 0, 0);
  const int32_t rest = ac_call(AC_CALL_RESULT, nullptr, 0, 0, 0);
  EXPECT_EQ(ac_call(AC_CALL_RESULT, nullptr, 0, 0, 0), 0);
  std::array<float, 2> out{};
  ASSERT_EQ(ac_read(quotient, out.data(), sizeof out), 0);
  EXPECT_EQ(out, (std::array<float, 2>{3, -4}));
  ASSERT_EQ(ac_read(rest, out.data(), sizeof out), 0);
  EXPECT_EQ(out, (std::array<float, 2>{1, 1}));
}

TEST_F(CInterface, ReadingIntoMemoryOfAnotherSizeIsRefused) {
  const int32_t a = pair(1, 2);
  std::array<float, 3> out{7, 7, 7};
  EXPECT_EQ(ac_read(a, out.data(), sizeof out), -11);
  EXPECT_EQ(out, (std::array<float, 3>{7, 7, 7}));
}

TEST_F(CInterface, AnIdOfBeforeACloseNamesNothingAfterIt) {
  const int32_t before = pair(1, 2);
  ASSERT_EQ(ac_close(), 0);
  EXPECT_EQ(ac_counter(AC_LIVE_ARRAYS), -1);
  EXPECT_EQ(ac_binary(add(), before, before, 0, 0), -11);
  EXPECT_STREQ(ac_error_code(), "not_open");
  ASSERT_EQ(ac_open(AC_BACKEND_CPU, 0), 0);
  const int32_t after = pair(3, 4);
  EXPECT_NE(before, after);
  EXPECT_EQ(ac_binary(add(), after, after, before, 0) > 0, true);
  EXPECT_EQ(ac_counter(AC_LIVE_ARRAYS), 2);
}

TEST_F(CInterface, OpeningRefusesWhatItCannotDo) {
  EXPECT_EQ(ac_open(AC_BACKEND_CPU, 0), -1);
  EXPECT_STREQ(ac_error_code(), "already_open");
  ac_close();
  EXPECT_EQ(ac_open(AC_BACKEND_WEBGPU, 0), -5);
  EXPECT_EQ(ac_open(7, 0), -1);
  EXPECT_STREQ(ac_error_code(), "unknown_backend");
  for (const double budget : {-1.0, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(ac_open(AC_BACKEND_CPU, budget), -1);
    EXPECT_STREQ(ac_error_code(), "bad_budget");
  }
}

TEST_F(CInterface, TheBudgetHolds) {
  ac_close();
  ASSERT_EQ(ac_open(AC_BACKEND_CPU, 16), 0);
  const int32_t a = pair(1, 2);
  EXPECT_GT(a, 0);
  EXPECT_GT(ac_binary(add(), a, a, 0, 0), 0);
  EXPECT_EQ(ac_binary(add(), a, a, 0, 0), -4);
  EXPECT_EQ(ac_counter(AC_PEAK_BYTES), 16);
}

}  // namespace
