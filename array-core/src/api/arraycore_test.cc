// The C interface as its callers see it: negative numbers and texts, crossings, carried-along
// frees.
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
  static double crossings() { return ac_counter(AC_CROSSINGS); }
};

TEST_F(CInterface, AnOperationThatFreesTwoArraysIsOneCrossing) {
  const int32_t a = pair(1, 2), b = pair(10, 20), c = pair(0, 0), d = pair(0, 0);
  const double before = crossings();
  const int32_t sum = ac_binary(AC_ADD, a, b, c, d);
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
  EXPECT_EQ(ac_binary(AC_ADD, a, a, 0, 0), -1);
  EXPECT_EQ(ac_error_kind(), 1);
  EXPECT_STREQ(ac_error_code(), "array_freed");
  EXPECT_EQ(ac_binary(99, a, a, 0, 0), -11);
  EXPECT_STREQ(ac_error_message(), "There is no binary operation 99.");
  EXPECT_EQ(ac_create(14, 0, nullptr, nullptr), -2);
  EXPECT_EQ(ac_create(10, 33, nullptr, nullptr), -1);
  EXPECT_STREQ(ac_error_code(), "too_many_dimensions");
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
  EXPECT_EQ(ac_binary(AC_ADD, before, before, 0, 0), -11);
  EXPECT_STREQ(ac_error_code(), "not_open");
  ASSERT_EQ(ac_open(AC_BACKEND_CPU, 0), 0);
  const int32_t after = pair(3, 4);
  EXPECT_NE(before, after);
  EXPECT_EQ(ac_binary(AC_ADD, after, after, before, 0) > 0, true);
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
  EXPECT_GT(ac_binary(AC_ADD, a, a, 0, 0), 0);
  EXPECT_EQ(ac_binary(AC_ADD, a, a, 0, 0), -4);
  EXPECT_EQ(ac_counter(AC_PEAK_BYTES), 16);
}

}  // namespace
