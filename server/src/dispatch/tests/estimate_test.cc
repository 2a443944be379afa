// Tests the estimate of how long a study will still take (R63): the formula, and the numbers that
// the dispatcher collects for it.
#include "dispatch/estimate.h"

#include <gtest/gtest.h>

#include "dispatch/model/scenario.h"

namespace hyperflock::dispatch {
namespace {

constexpr Millis kMinute = 60'000;
constexpr Instant kNow{100 * kMinute};

// Returns the devices of a class at work. A run usually takes `run_ms`; `ages` has the time since
// each device's lease.
WorkOfClass at_work(Millis run_ms, const std::vector<Millis>& ages) {
  WorkOfClass work{.devices = static_cast<std::int64_t>(ages.size()), .run_ms = run_ms};
  for (const Millis age : ages) {
    work.since_sum += kNow.ms - age;
    work.newest = std::max(work.newest, Instant{kNow.ms - age});
  }
  return work;
}

TEST(Estimate, R63_NothingIsKnownBeforeTheFirstRun) {
  const StudyWork work{.classes = {at_work(0, {kMinute})}};
  const Estimate one = estimate(work, 10, kNow);
  EXPECT_EQ(one, (Estimate{.runs = 0, .devices = 1}));
}

TEST(Estimate, R63_WithoutADeviceOnlyTheTimeOfDevicesIsKnown) {
  const StudyWork work{.runs = 3, .run_ms = 2 * kMinute};
  EXPECT_EQ(estimate(work, 10, kNow), (Estimate{.runs = 3, .device_ms = 20 * kMinute}));
}

TEST(Estimate, R63_EqualDevicesShareWhatWaits) {
  // Two devices have just begun. Eight trials wait: each device takes four more.
  const StudyWork work{.runs = 1, .run_ms = 3 * kMinute, .classes = {at_work(3 * kMinute, {0, 0})}};
  EXPECT_EQ(
      estimate(work, 10, kNow),
      (Estimate{.runs = 1, .devices = 2, .left_ms = 15 * kMinute, .device_ms = 30 * kMinute}));
}

TEST(Estimate, R63_WhatIsDoneOfRunningTrialsCounts) {
  const StudyWork work{
      .runs = 5, .run_ms = 4 * kMinute, .classes = {at_work(4 * kMinute, {kMinute, 3 * kMinute})}};
  // The running trials have 3 minutes and 1 minute left. Two more trials wait, and each will take 4
  // minutes. Together this is 12 minutes of work for two devices.
  EXPECT_EQ(estimate(work, 4, kNow),
            (Estimate{.runs = 5, .devices = 2, .left_ms = 6 * kMinute, .device_ms = 12 * kMinute}));
}

TEST(Estimate, R63_TheStudyEndsWithTheTrialThatBeganLast) {
  const StudyWork work{
      .runs = 5, .run_ms = 4 * kMinute, .classes = {at_work(4 * kMinute, {0, 3 * kMinute})}};
  EXPECT_EQ(estimate(work, 2, kNow),
            (Estimate{.runs = 5, .devices = 2, .left_ms = 4 * kMinute, .device_ms = 5 * kMinute}));
}

TEST(Estimate, R63_ATrialThatTakesLongerThanUsualIsHalfDone) {
  const StudyWork work{
      .runs = 5, .run_ms = 4 * kMinute, .classes = {at_work(4 * kMinute, {7 * kMinute})}};
  EXPECT_EQ(estimate(work, 1, kNow),
            (Estimate{.runs = 5, .devices = 1, .left_ms = 7 * kMinute, .device_ms = 7 * kMinute}));
}

TEST(Estimate, R63_FasterDevicesTakeMore) {
  // In 6 minutes, the computer takes three trials and the phone one.
  const StudyWork work{.runs = 9,
                       .run_ms = 3 * kMinute,
                       .classes = {at_work(2 * kMinute, {0}), at_work(6 * kMinute, {0})}};
  EXPECT_EQ(estimate(work, 4, kNow),
            (Estimate{.runs = 9, .devices = 2, .left_ms = 6 * kMinute, .device_ms = 12 * kMinute}));
}

TEST(Estimate, R63_SpeculativeAttemptsAreNoMoreTrials) {
  const StudyWork work{
      .runs = 9, .run_ms = 4 * kMinute, .classes = {at_work(4 * kMinute, {kMinute, kMinute})}};
  EXPECT_EQ(estimate(work, 1, kNow).left_ms, 3 * kMinute);
}

// ---- estimates from the state of a dispatcher

TEST(Estimate, R63_TheServerLearnsFromResults) {
  Scenario s;
  s.worker("a").worker("b").study(10);
  EXPECT_EQ(s.estimate(1, 10), Estimate{});
  s.ready("a");
  s.ready("b");
  EXPECT_EQ(s.estimate(1, 10), (Estimate{.runs = 0, .devices = 2}));
  s.beat("a", 1, 1);
  s.beat("b", 2, 1);
  s.after(20'000);
  s.beat("a", 1, 2);
  s.beat("b", 2, 2);
  s.after(20'000);
  s.complete("a", 1, 0.5, true);  // and it gets the next trial at once
  // A run takes 40 s. Device b is about to end one, device a has just begun one, and 7 trials wait.
  EXPECT_EQ(s.estimate(1, 9),
            (Estimate{.runs = 1, .devices = 2, .left_ms = 160'000, .device_ms = 320'000}));
  s.after(10'000);
  EXPECT_EQ(s.estimate(1, 9).left_ms, 150'000);
}

TEST(Estimate, R63_ClassesOfDevicesAreLearntApart) {
  Scenario s;
  s.worker("a").worker("c").study(30);  // a computer and a phone
  s.ready("a");
  s.ready("c");
  s.after(10'000);
  s.complete("a", 1, 0.5, true);
  s.beat("c", 2, 1);
  s.after(30'000);
  s.complete("c", 2);
  s.complete("a", 3, 0.5);
  EXPECT_EQ(s.estimate(1, 27).devices, 0);
  s.ready("a");
  // The study's runs took 10 s and 30 s. Their usual duration is 15 s, because a new run counts a
  // quarter (runtime_stats.h).
  // Device a has begun one trial, and three wait.
  EXPECT_EQ(s.estimate(1, 4).left_ms, 4 * 15'000);
}

TEST(Estimate, R63_DevicesThatLeaveAreNotCounted) {
  Scenario s;
  s.worker("a").worker("b").study(5);
  s.ready("a");
  s.ready("b");
  s.release("a", 1);
  EXPECT_EQ(s.estimate(1, 5).devices, 1);
  s.close("b", SessionClosed::How::lost);
  s.after(Settings{}.lease_ms + 1);  // its lease expires
  EXPECT_EQ(s.estimate(1, 5).devices, 0);
}

TEST(Estimate, R63_AfterItsEndAndARestartNothingIsKnown) {
  Scenario s;
  s.worker("a").study(1).study(3);
  s.ready("a");
  s.after(5'000);
  s.complete("a", 1, 0.5, true);
  EXPECT_EQ(s.estimate(1, 0), Estimate{});
  s.after(5'000);
  s.complete("a", 2);
  EXPECT_EQ(s.estimate(2, 2), (Estimate{.runs = 1, .device_ms = 10'000}));
  s.restart();
  EXPECT_EQ(s.estimate(2, 2), Estimate{});
}

}  // namespace
}  // namespace hyperflock::dispatch
