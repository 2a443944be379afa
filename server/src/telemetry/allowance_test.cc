#include "telemetry/allowance.h"

#include <gtest/gtest.h>

namespace hyperflock::telemetry {
namespace {

TEST(Allowance, AdmitsABurstAndThenOneAtATime) {
  Allowance lines(3, 100);
  const Instant start{1'000'000};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(lines.admit(start), 0);
  EXPECT_EQ(lines.admit(start), std::nullopt);
  EXPECT_EQ(lines.admit(start + 99), std::nullopt);
  EXPECT_EQ(lines.admit(start + 100), 2);  // says how many were left out
  EXPECT_EQ(lines.admit(start + 100), std::nullopt);
}

TEST(Allowance, SavesNoMoreThanTheBurst) {
  Allowance lines(2, 100);
  const Instant late{1'000'000'000};
  EXPECT_EQ(lines.admit(Instant{0}), 0);
  EXPECT_EQ(lines.admit(late), 0);
  EXPECT_EQ(lines.admit(late), 0);
  EXPECT_EQ(lines.admit(late), std::nullopt);
}

}  // namespace
}  // namespace hyperflock::telemetry
