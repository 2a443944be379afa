// Tests of results without points where all others have them (R74).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "dispatch/model/scenario.h"

namespace hyperflock::dispatch {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using How = SessionClosed::How;

constexpr std::array kDevices{"a", "b", "c"};

// Returns the attempt that was leased to the device; 0: none.
std::int64_t leased(const Said& said) {
  for (const std::string& one : said) {
    const std::size_t at = one.find("lease #");
    if (at != std::string::npos) return std::stoll(one.substr(at + 7));
  }
  return 0;
}

std::int64_t lease(Scenario& s, const std::string& device) { return leased(s.ready(device)); }

Said run_with_points(Scenario& s, const std::string& device) {
  const std::int64_t attempt = lease(s, device);
  s.report(device, attempt, 1, {{1, 0.5}});
  return s.complete(device, attempt, static_cast<double>(attempt));
}

std::int64_t suspects(const Scenario& s) {
  return std::ranges::count_if(s.store().attempts, [](const auto& one) {
    return one.second.failure && one.second.failure->code == "no_points";
  });
}

// Returns a study of 100 trials of which these devices have completed 21 with points.
Scenario with_points(const std::vector<std::string>& devices = {"a", "b", "c"}) {
  Scenario s;
  for (const char* device : kDevices) s.worker(device);
  s.study({.trials = 100});
  for (std::size_t i = 0; i < 21; ++i) run_with_points(s, devices[i % devices.size()]);
  return s;
}

TEST(Points, R74_AResultWithoutPointsIsASuspectAndTheTrialRunsOnAnotherDevice) {
  Scenario s = with_points();
  const std::int64_t first = lease(s, "a");
  EXPECT_THAT(s.complete("a", first, 0.5), Contains(HasSubstr("recorded")));
  const storage::AttemptRow& row = s.store().attempts.at(AttemptId{first});
  EXPECT_EQ(row.state, storage::AttemptState::failed);
  EXPECT_THAT(row.values, ElementsAre(0.5));  // kept as evidence
  ASSERT_TRUE(row.failure);
  EXPECT_EQ(row.failure->code, "no_points");
  EXPECT_THAT(s.ready("a"), Not(Contains(HasSubstr("trial 21"))));
  EXPECT_THAT(s.ready("b"), Contains(HasSubstr("trial 21")));
}

TEST(Points, R74_PointsThatComeWithTheResultCount) {
  Scenario s = with_points();
  protocol::TrialResult result;
  result.attempt = AttemptId{lease(s, "a")};
  result.seq = 1;
  result.values = {0.5};
  result.points = {{1, 0.5}};
  EXPECT_THAT(s.tell("a", result), Contains(HasSubstr("accepted")));
}

TEST(Points, R74_PointsForWhichTheDiskHasNoRoomCount) {
  Scenario s = with_points();
  const std::int64_t attempt = lease(s, "a");
  s.room(false);
  s.report("a", attempt, 1, {{1, 0.5}});
  EXPECT_THAT(s.complete("a", attempt, 0.5), Contains(HasSubstr("accepted")));
}

TEST(Points, R74_ASecondDeviceWithoutPointsIsBelievedAndNothingIsDoubtedAnyMore) {
  Scenario s = with_points();
  s.complete("a", lease(s, "a"), 0.5);
  EXPECT_THAT(s.complete("b", lease(s, "b"), 0.5), Contains(HasSubstr("accepted")));
  EXPECT_THAT(s.complete("a", lease(s, "a"), 0.5), Contains(HasSubstr("accepted")));
  s.restart();
  for (const char* device : kDevices) s.worker(device);
  EXPECT_THAT(s.complete("c", lease(s, "c"), 0.5), Contains(HasSubstr("accepted")));
}

TEST(Points, R74_TwoDevicesAreTooFewToDoubtAThird) {
  Scenario s = with_points({"a", "b"});
  EXPECT_THAT(s.complete("c", lease(s, "c"), 0.5), Contains(HasSubstr("accepted")));
}

TEST(Points, R74_ADeviceAloneIsBelieved) {
  Scenario s = with_points();
  s.close("b", How::lost);
  s.close("c", How::lost);
  EXPECT_THAT(s.complete("a", lease(s, "a"), 0.5), Contains(HasSubstr("accepted")));
}

TEST(Points, R74_ADeviceWhoseSuspicionNobodyCanCheckAnyMoreIsBelieved) {
  Scenario s = with_points();
  s.complete("a", lease(s, "a"), 0.5);
  s.close("b", How::lost);
  s.close("c", How::lost);
  const std::int64_t again = lease(s, "a");
  EXPECT_THAT(s.complete("a", again, 0.5), Contains(HasSubstr("accepted")));
  // It was the same device, so results without points are odd as before.
  s.worker("b");
  EXPECT_THAT(s.complete("a", lease(s, "a"), 0.5), Contains(HasSubstr("recorded")));
}

TEST(Points, R74_AStudyWithoutPointsIsNeverDoubted) {
  Scenario s;
  for (const char* device : kDevices) s.worker(device);
  s.study({.trials = 60});
  for (std::size_t i = 0; i < 60; ++i) {
    const char* device = kDevices.at(i % 3);
    const auto value = static_cast<double>(i);
    EXPECT_THAT(s.complete(device, lease(s, device), value), Contains(HasSubstr("accepted")));
  }
  EXPECT_EQ(s.accepted(), 60);
}

// An objective may report points for some parameters only. It costs such a study one run.
TEST(Points, R74_AStudyOfWhichSomeTrialsReportNothingRunsOneTrialTwice) {
  Scenario s = with_points();
  for (std::size_t i = 0; i < 400 && s.accepted() < 100; ++i) {
    const char* device = kDevices.at(i % 3);
    if (const std::int64_t attempt = lease(s, device); attempt != 0)
      s.complete(device, attempt, static_cast<double>(i));
  }
  EXPECT_EQ(s.accepted(), 100);
  EXPECT_EQ(suspects(s), 1);
}

// The attack: a device answers all trials of a study at once, without computing them.
TEST(Points, R74_ADeviceThatAnswersAllTrialsAtOnceGetsNoValueIn) {
  Scenario s = with_points();
  std::int64_t attempt = lease(s, "a");
  while (attempt != 0) attempt = leased(s.complete("a", attempt, -1e308, true));
  EXPECT_EQ(s.accepted(), 21);
  EXPECT_EQ(suspects(s), 79);
  for (std::size_t i = 0; i < 79; ++i) run_with_points(s, i % 2 == 0 ? "b" : "c");
  EXPECT_EQ(s.accepted(), 100);
}

TEST(Points, R74_WhatOthersReportedIsKnownAfterARestart) {
  Scenario s = with_points();
  const std::int64_t before = lease(s, "b");
  s.restart();
  for (const char* device : kDevices) s.worker(device);
  // Nobody knows whether this attempt reported points before the restart.
  EXPECT_THAT(s.complete("b", before, 0.5), Contains(HasSubstr("accepted")));
  EXPECT_THAT(s.complete("a", lease(s, "a"), 0.5), Contains(HasSubstr("recorded")));
}

TEST(Points, R74_AnAttemptThatBeganWithACheckpointIsBelieved) {
  Scenario s = with_points();
  const std::int64_t first = lease(s, "a");
  s.report("a", first, 1, {{1, 0.5}});
  s.checkpoint("a", first, 1);
  s.release("a", first, protocol::ReleaseReason::stopped);
  EXPECT_THAT(s.complete("b", lease(s, "b"), 0.5), Contains(HasSubstr("accepted")));
}

TEST(Points, R74_OtherCodeMayReportNothing) {
  Scenario s = with_points();
  const std::int64_t attempt = lease(s, "a");
  s.failed("a", attempt, protocol::Cause::user_error);
  s.reissue(1, "g");
  EXPECT_THAT(s.complete("b", lease(s, "b"), 0.5), Contains(HasSubstr("accepted")));
}

TEST(Points, R74_ADeviceCannotReportTheFailureItself) {
  Scenario s = with_points();
  protocol::TrialResult result;
  result.attempt = AttemptId{lease(s, "a")};
  result.seq = 1;
  result.outcome = protocol::Outcome::failed;
  result.failure = protocol::Failure{protocol::Cause::user_error, "no_points", "mine", ""};
  s.tell("a", result);
  EXPECT_EQ(suspects(s), 0);
}

}  // namespace
}  // namespace hyperflock::dispatch
