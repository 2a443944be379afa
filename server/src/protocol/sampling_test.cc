// Tests points that are drawn from a space (R60): that they reach both ends of a range and fill a
// space evenly. golden_test.cc checks single points; Python's tests check their distribution.
#include "protocol/sampling.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <set>

#include "protocol/schema/limits.h"
#include "protocol/study_spec.h"

namespace hyperflock::protocol {
namespace {

// The largest coordinate that can be drawn.
constexpr double kAlmostOne = 1 - 0x1p-53;

std::string at(const ValueRange& range, double unit) {
  std::string out;
  append_in_range(out, range, unit);
  return out;
}

TEST(Sampling, R60_BothEndsOfARangeAreReached) {
  const ValueRange stepped{.low = 0, .high = 0.9, .step = 0.1};
  EXPECT_EQ(at(stepped, 0), "0.0");
  EXPECT_EQ(at(stepped, kAlmostOne), "0.9");
  const ValueRange whole{.low = -3, .high = 7, .integer = true, .step = 5};
  EXPECT_EQ(at(whole, 0), "-3");
  EXPECT_EQ(at(whole, kAlmostOne), "7");
  const ValueRange log{.low = 1e-4, .high = 0.1, .log = true};
  EXPECT_EQ(at(log, 0), "0.0001");
  EXPECT_LE(std::stod(at(log, kAlmostOne)), 0.1);
  EXPECT_GT(std::stod(at(log, kAlmostOne)), 0.1 * (1 - 1e-14));
  const ValueRange log_whole{.low = 1, .high = 1024, .integer = true, .log = true};
  EXPECT_EQ(at(log_whole, 0), "1");
  EXPECT_EQ(at(log_whole, kAlmostOne), "1024");
}

TEST(Sampling, R60_ARangeOfOneNumberIsThatNumber) {
  for (const double unit : {0.0, 0.5, kAlmostOne}) {
    EXPECT_EQ(at({.low = 2.5, .high = 2.5}, unit), "2.5");
    EXPECT_EQ(at({.low = 2.5, .high = 2.5, .log = true}, unit), "2.5");
    EXPECT_EQ(at({.low = 2.5, .high = 2.5, .step = 1}, unit), "2.5");
    EXPECT_EQ(at({.low = 2, .high = 2, .integer = true}, unit), "2");
  }
}

TEST(Sampling, R60_TheWidestRangesStayInside) {
  for (const double unit : {0.0, 0.25, 0.999, kAlmostOne}) {
    for (const bool log : {false, true}) {
      const ValueRange range{.low = DBL_TRUE_MIN, .high = DBL_MAX, .log = log};
      const double value = std::strtod(at(range, unit).c_str(), nullptr);
      EXPECT_GE(value, range.low);
      EXPECT_LE(value, range.high);
    }
    const auto most = static_cast<double>(kMaxWireInteger);
    const ValueRange whole{.low = 0, .high = most, .integer = true};
    const std::int64_t value = std::stoll(at(whole, unit));
    EXPECT_GE(value, 0);
    EXPECT_LE(value, kMaxWireInteger);
  }
}

TEST(Sampling, R60_LogarithmAndExponentialAreExactToAFewUnitsInTheLastPlace) {
  for (double x = 1e-300; x < 1e300; x *= 3.7) {
    EXPECT_NEAR(portable_log(x), std::log(x), 4 * DBL_EPSILON * std::abs(std::log(x)));
    const double y = std::log(x);
    EXPECT_NEAR(portable_exp(y) / std::exp(y), 1, 4 * DBL_EPSILON);
  }
  EXPECT_EQ(portable_log(1), 0);
  EXPECT_EQ(portable_exp(0), 1);
}

// In every dimension, [0, 1) has 2^k intervals of length 2^-k. Each contains one of the first 2^k
// points. Scrambling keeps that.
TEST(Sampling, R60_EachIntervalHasOnePointOfASobolSequence) {
  constexpr std::int64_t kPoints = 256;
  for (std::size_t d = 0; d < kMaxDimensions; ++d) {
    std::set<std::int64_t> plain;
    std::set<std::int64_t> scrambled;
    for (std::int64_t n = 0; n < kPoints; ++n) {
      plain.insert(static_cast<std::int64_t>(sobol_bits(n, d) >> (kUnitBits - 8)));
      scrambled.insert(static_cast<std::int64_t>(sobol_unit(7, n, d) * kPoints));
    }
    EXPECT_EQ(plain.size(), kPoints) << d;
    EXPECT_EQ(scrambled.size(), kPoints) << d;
  }
}

TEST(Sampling, R60_TheLastTrialOfTheLongestStudyHasAPoint) {
  StudySpec spec;
  spec.kind = StudyKind::sobol;
  spec.trials = kMaxWireInteger;
  spec.space = {{"\"x\"", {}, ValueRange{.low = 0, .high = 1}}, {"\"c\"", {"1", "2"}}};
  ASSERT_EQ(trial_count(spec), kMaxWireInteger);
  std::set<std::string> seen;
  for (const StudyKind kind : {StudyKind::random, StudyKind::sobol}) {
    spec.kind = kind;
    for (const std::int64_t number : {std::int64_t{0}, kMaxWireInteger - 1}) {
      seen.insert(trial_params(spec, number));
    }
  }
  EXPECT_EQ(seen.size(), 4U);
}

TEST(Points, R30_AListOfPointsKeepsItsOrder) {
  StudySpec spec;
  spec.kind = StudyKind::points;
  spec.space = {{"\"a\"", {"1", "1", "2.0"}}, {"\"b\"", {"[1,{\"()\":[]}]", "null", "\"x\""}}};
  ASSERT_EQ(trial_count(spec), 3);
  EXPECT_EQ(trial_params(spec, 0), "{\"a\":1,\"b\":[1,{\"()\":[]}]}");
  EXPECT_EQ(trial_params(spec, 1), R"({"a":1,"b":null})");
  EXPECT_EQ(trial_params(spec, 2), R"({"a":2.0,"b":"x"})");
}

}  // namespace
}  // namespace hyperflock::protocol
