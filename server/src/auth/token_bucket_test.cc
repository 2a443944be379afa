// Tests the rate limiter: bursts, the long-term rate, separate keys, and bounded memory.
#include "auth/token_bucket.h"

#include <gtest/gtest.h>

namespace hyperflock::auth {
namespace {

int allowed(RateLimiter& limiter, std::string_view key, Instant now, int tries) {
  int count = 0;
  for (int i = 0; i < tries; ++i) count += limiter.allow(key, now) ? 1 : 0;
  return count;
}

TEST(RateLimiter, AllowsABurstAndThenItsRate) {
  RateLimiter limiter({.burst = 3, .per_second = 2, .max_keys = 10});
  EXPECT_EQ(allowed(limiter, "a", Instant{1'000}, 10), 3);
  EXPECT_EQ(allowed(limiter, "a", Instant{1'499}, 10), 0);
  EXPECT_EQ(allowed(limiter, "a", Instant{1'500}, 10), 1);
  EXPECT_EQ(allowed(limiter, "a", Instant{2'500}, 10), 2);
}

TEST(RateLimiter, TellsHowLongUntilTheNext) {
  RateLimiter limiter({.burst = 1, .per_second = 0.3, .max_keys = 10});
  EXPECT_EQ(limiter.wait_ms("a", Instant{1'000}), 0);
  EXPECT_TRUE(limiter.allow("a", Instant{1'000}));
  EXPECT_EQ(limiter.wait_ms("a", Instant{1'000}), 3'334);
  EXPECT_EQ(limiter.wait_ms("a", Instant{4'000}), 334);
  EXPECT_FALSE(limiter.allow("a", Instant{4'333}));
  EXPECT_TRUE(limiter.allow("a", Instant{4'334}));
}

TEST(RateLimiter, FillsNoHigherThanItsBurst) {
  RateLimiter limiter({.burst = 3, .per_second = 2, .max_keys = 10});
  EXPECT_EQ(allowed(limiter, "a", Instant{0}, 10), 3);
  EXPECT_EQ(allowed(limiter, "a", Instant{1'000'000}, 10), 3);
}

TEST(RateLimiter, KeepsKeysApart) {
  RateLimiter limiter({.burst = 1, .per_second = 1, .max_keys = 10});
  EXPECT_TRUE(limiter.allow("a", Instant{0}));
  EXPECT_FALSE(limiter.allow("a", Instant{0}));
  EXPECT_TRUE(limiter.allow("b", Instant{0}));
}

TEST(RateLimiter, ForgetsTheKeyNotUsedForLongest) {
  RateLimiter limiter({.burst = 1, .per_second = 0.001, .max_keys = 2});
  EXPECT_TRUE(limiter.allow("a", Instant{0}));
  EXPECT_TRUE(limiter.allow("b", Instant{1}));
  EXPECT_FALSE(limiter.allow("a", Instant{2}));
  EXPECT_TRUE(limiter.allow("c", Instant{3}));  // replaces "b"
  EXPECT_EQ(limiter.keys(), 2U);
  EXPECT_FALSE(limiter.allow("a", Instant{4}));
  EXPECT_TRUE(limiter.allow("b", Instant{5}));
  EXPECT_EQ(limiter.keys(), 2U);
}

TEST(RateLimiter, StaysBoundedUnderManyKeys) {
  RateLimiter limiter({.burst = 1, .per_second = 1, .max_keys = 100});
  for (int i = 0; i < 10'000; ++i) limiter.allow(std::to_string(i), Instant{i});
  EXPECT_EQ(limiter.keys(), 100U);
}

TEST(RateLimiter, ClockThatStandsStillGivesNothing) {
  RateLimiter limiter({.burst = 1, .per_second = 1'000, .max_keys = 10});
  EXPECT_TRUE(limiter.allow("a", Instant{500}));
  EXPECT_FALSE(limiter.allow("a", Instant{500}));
  EXPECT_FALSE(limiter.allow("a", Instant{400}));
}

}  // namespace
}  // namespace hyperflock::auth
