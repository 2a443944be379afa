// Tests what one device may make the server store, whichever attempts it takes (R66).
#include "hub/device_budget.h"

#include <gtest/gtest.h>

namespace hyperflock::hub {
namespace {

constexpr Instant kStart{1'000'000};

class DeviceBudgetTest : public ::testing::Test {
 protected:
  // Returns the wait after `ready`; 0 if the device may have a trial.
  Millis wait_ms(const std::string& device, Instant now = kStart) {
    protocol::ClientMessage message = protocol::Ready{};
    const auto kept = budget_.keep(device, message, now);
    EXPECT_EQ(kept.passes, !kept.answer);
    return kept.answer ? std::get<protocol::Wait>(*kept.answer).delay_ms : 0;
  }
  void start(const std::string& device) {
    storage::StartAttempt begun;
    begun.device = device;
    budget_.note(begun, {}, kStart);
  }
  void end(const std::string& device, protocol::Verdict verdict,
           std::optional<protocol::Cause> cause = {}) {
    storage::StoreResult stored{device, {}};
    if (cause) stored.result.failure = protocol::Failure{*cause, "code", "message", ""};
    storage::Outcome outcome;
    outcome.verdict = verdict;
    budget_.note(stored, outcome, kStart);
  }
  // Returns how many points of a report with `count` points are within the budget.
  std::size_t points_left(const std::string& device, std::size_t count, Instant now = kStart) {
    protocol::ClientMessage message =
        protocol::Report{AttemptId{7}, 1, std::vector<protocol::Point>(count)};
    const auto kept = budget_.keep(device, message, now);
    EXPECT_TRUE(kept.passes);
    const auto& report = std::get<protocol::Report>(message);
    EXPECT_EQ(report.points.empty(), kept.answer.has_value());
    if (kept.answer) {
      const auto& error = std::get<protocol::ErrorMessage>(*kept.answer);
      EXPECT_EQ(error.code, "points_quota");
      EXPECT_EQ(error.attempt, AttemptId{7});
    }
    return report.points.size();
  }

  // Each device may have three attempts without a result, and 4 KiB of points and series.
  DeviceBudget budget_{
      {.attempts_burst = 3, .attempts_per_s = 0.5, .kib_burst = 4, .kib_per_s = 1}};
};

TEST_F(DeviceBudgetTest, R66_AttemptsThatBringNothingRunOut) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(wait_ms("phone"), 0);
    start("phone");
  }
  EXPECT_EQ(wait_ms("phone"), 2'000);
  EXPECT_EQ(wait_ms("laptop"), 0);
  EXPECT_EQ(wait_ms("phone", kStart + 2'000), 0);
}

TEST_F(DeviceBudgetTest, R66_AnAttemptWithAResultCostsNothing) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(wait_ms("phone"), 0);
    start("phone");
    if (i % 2 == 0) {
      end("phone", protocol::Verdict::accepted);
    } else {
      end("phone", protocol::Verdict::recorded, protocol::Cause::user_error);
    }
  }
}

TEST_F(DeviceBudgetTest, R66_FailuresThatCanBeRepeatedCost) {
  for (int i = 0; i < 3; ++i) {
    start("phone");
    end("phone", protocol::Verdict::recorded, protocol::Cause::cancelled);
  }
  EXPECT_GT(wait_ms("phone"), 0);
}

TEST_F(DeviceBudgetTest, R66_EarlierResultsAreNotSaved) {
  for (int i = 0; i < 10; ++i) end("phone", protocol::Verdict::accepted);
  for (int i = 0; i < 3; ++i) start("phone");
  EXPECT_GT(wait_ms("phone"), 0);
}

TEST_F(DeviceBudgetTest, R66_AResultPassesWithoutTheWishForATrial) {
  for (int i = 0; i < 3; ++i) start("phone");
  protocol::TrialResult result;
  result.next = true;
  protocol::ClientMessage message = result;
  const auto kept = budget_.keep("phone", message, kStart);
  EXPECT_TRUE(kept.passes);
  EXPECT_FALSE(kept.answer.has_value());
  EXPECT_FALSE(std::get<protocol::TrialResult>(message).next);
}

TEST_F(DeviceBudgetTest, R66_PointsRunOutAndComeBack) {
  EXPECT_EQ(points_left("phone", 160), 160U);  // 3,840 bytes
  EXPECT_EQ(points_left("phone", 40), 0U);
  EXPECT_EQ(points_left("laptop", 40), 40U);
  EXPECT_EQ(points_left("phone", 40, kStart + 500), 0U);
  EXPECT_EQ(points_left("phone", 40, kStart + 1'000), 40U);
}

TEST_F(DeviceBudgetTest, R66_ValuesOfSeriesCountWithPoints) {
  protocol::Report report{AttemptId{7}, 1, {{0, 0.5}}};
  report.series = protocol::Series{{}, {{"loss", std::vector<std::optional<double>>(256)}}};
  protocol::ClientMessage message = report;
  EXPECT_TRUE(budget_.keep("phone", message, kStart).answer.has_value());
  EXPECT_TRUE(std::get<protocol::Report>(message).points.empty());
  EXPECT_FALSE(std::get<protocol::Report>(message).series.has_value());
}

TEST_F(DeviceBudgetTest, R66_ACallPassesWithoutItsPoints) {
  EXPECT_EQ(points_left("phone", 160), 160U);
  protocol::ClientMessage message = protocol::Call{.id = 1,
                                                   .attempt = AttemptId{7},
                                                   .method = "should_prune",
                                                   .step = {},
                                                   .name = {},
                                                   .distribution = {},
                                                   .points = std::vector<protocol::Point>(40)};
  const auto kept = budget_.keep("phone", message, kStart);
  EXPECT_TRUE(kept.passes);
  EXPECT_TRUE(kept.answer.has_value());
  EXPECT_TRUE(std::get<protocol::Call>(message).points.empty());
}

constexpr std::size_t kKiB = 1'024;

TEST(MessageBudget, R1_ADevicesBytesAreLimitedByRate) {
  MessageBudget budget({.kib_burst = 2'048, .kib_per_s = 100});
  EXPECT_TRUE(budget.admit("phone", 1'024 * kKiB, kStart));
  EXPECT_TRUE(budget.admit("phone", 1'000 * kKiB, kStart));
  EXPECT_FALSE(budget.admit("phone", 100 * kKiB, kStart));
  EXPECT_TRUE(budget.admit("phone", 24 * kKiB, kStart));  // what was refused costs nothing
  EXPECT_TRUE(budget.admit("laptop", 1'024 * kKiB, kStart));
  EXPECT_FALSE(budget.admit("phone", 101 * kKiB, kStart + 1'000));
  EXPECT_TRUE(budget.admit("phone", 100 * kKiB, kStart + 1'000));
}

// The device sends ten reports of 64 KiB each second. Every ten seconds it also sends 920 KiB that
// it kept while it was offline.
TEST(MessageBudget, R1_ADeviceThatReportsAsOftenAsItMayIsNeverRefused) {
  MessageBudget budget(MessageLimits{});
  for (int tenth = 0; tenth < 36'000; ++tenth) {
    const Instant now = kStart + tenth * 100;
    ASSERT_TRUE(budget.admit("phone", 64 * kKiB, now));
    if (tenth % 100 == 0) ASSERT_TRUE(budget.admit("phone", 920 * kKiB, now));
  }
}

}  // namespace
}  // namespace hyperflock::hub
