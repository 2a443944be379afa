// Tests whether a trial meets the constraints in its attributes (R57).
#include "protocol/trial_attrs.h"

#include <gtest/gtest.h>

#include <string>

namespace hyperflock::protocol {
namespace {

TEST(Constraints, R57_WithoutConstraintsATrialMeetsThem) {
  for (const std::string attrs :
       {"", "{}", R"({"user":{"constraints":[1]}})", R"({"user":{"constraints:a":1},"system":{}})",
        R"({"system":{"constraints":null}})", R"({"system":{"constraints":[]}})",
        R"({"system":{"other":"constraints:"}})"}) {
    EXPECT_TRUE(meets_constraints(attrs)) << attrs;
  }
}

TEST(Constraints, R57_ZeroAndLessIsMet) {
  EXPECT_TRUE(meets_constraints(R"({"system":{"constraints:a":0,"constraints:b":-0.5}})"));
  EXPECT_FALSE(meets_constraints(R"({"system":{"constraints:a":0,"constraints:b":1e-9}})"));
  EXPECT_TRUE(meets_constraints(R"({"system":{"constraints":[0.0,-1]}})"));
  EXPECT_FALSE(meets_constraints(R"({"system":{"constraints":[-1,2]}})"));
}

TEST(Constraints, R57_ANamedOneReplacesTheOneOfTheListWithItsIndex) {
  EXPECT_TRUE(meets_constraints(R"({"system":{"constraints":[1],"constraints:0":-1}})"));
  EXPECT_FALSE(meets_constraints(R"({"system":{"constraints:0":-1,"constraints":[1,1]}})"));
}

TEST(Constraints, R57_PythonsInfinityIsRead) {
  EXPECT_FALSE(meets_constraints(R"({"system":{"constraints:a":Infinity}})"));
  EXPECT_TRUE(meets_constraints(R"({"system":{"constraints:a":-Infinity}})"));
  EXPECT_FALSE(
      meets_constraints(R"({"user":{"x":NaN,"s":"NaN\"Infinity"},"system":{"constraints:a":1}})"));
}

TEST(Constraints, R57_ATextThatNobodyCanReadHasNone) {
  for (const std::string attrs :
       {R"("constraints)", R"({"system":{"constraints:a":1)", R"(["constraints:"])",
        R"({"system":["constraints:"]})", R"({"constraints:\)"}) {
    EXPECT_TRUE(meets_constraints(attrs)) << attrs;
  }
  EXPECT_FALSE(meets_constraints(R"({"system":{"constraints:a":"-1"}})"));
}

}  // namespace
}  // namespace hyperflock::protocol
