// Tests of devices that fail one trial after another (R72).
#include "dispatch/breaker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "dispatch/model/scenario.h"

namespace hyperflock::dispatch {
namespace {

using protocol::Cause;
using ::testing::ElementsAre;

const ModelStore::StudyState& stored_study(const Scenario& s, std::int64_t study = 1) {
  return s.store().studies.at(StudyId{study});
}

std::int64_t count(const Scenario& s, storage::TrialState state, std::int64_t study = 1) {
  return std::ranges::count_if(stored_study(s, study).trials,
                               [&](const auto& one) { return one.second.state == state; });
}

// Returns the id of the lease in these messages to the worker; 0: none.
std::int64_t lease_in(const Said& said, const std::string& worker) {
  for (const std::string& one : said) {
    const std::size_t at = one.find("lease #");
    if (one.starts_with(worker + " <") && at != std::string::npos)
      return std::stoll(one.substr(at + 7));
  }
  return 0;
}

// Lets the device fail trials as long as it gets some. Returns how many it failed.
int fail_all(Scenario& s, const std::string& worker, Cause cause = Cause::user_error) {
  int failed = 0;
  std::int64_t lease = lease_in(s.ready(worker), worker);
  while (lease != 0 && failed < 5'000) {
    ++failed;
    lease = lease_in(s.failed(worker, lease, cause, true), worker);
  }
  return failed;
}

// Lets the device complete trials as long as it gets some.
int complete_all(Scenario& s, const std::string& worker) {
  int done = 0;
  std::int64_t lease = lease_in(s.ready(worker), worker);
  while (lease != 0 && done < 5'000) {
    ++done;
    lease = lease_in(s.complete(worker, lease, done, true), worker);
  }
  return done;
}

TEST(LengthThatBars, R72_IsThreeIfOthersFailSeldom) {
  EXPECT_EQ(length_that_bars(0, 0), 3);
  EXPECT_EQ(length_that_bars(9, 9), 3);  // too few results to know
  EXPECT_EQ(length_that_bars(0, 1'000), 3);
  EXPECT_EQ(length_that_bars(50, 1'000), 3);
}

TEST(LengthThatBars, R72_GrowsWithTheShareOfFailures) {
  EXPECT_EQ(length_that_bars(5, 10), 10);  // 2^-10 < 1e-3
  EXPECT_EQ(length_that_bars(9, 10), 66);
  EXPECT_EQ(length_that_bars(99, 100), 100);
  EXPECT_EQ(length_that_bars(10, 10), 100);
}

TEST(BarMs, R72_GrowsUpToTheLongest) {
  EXPECT_EQ(bar_ms(10, 1'000, 1), 10);
  EXPECT_EQ(bar_ms(10, 1'000, 2), 40);
  EXPECT_EQ(bar_ms(10, 1'000, 4), 640);
  EXPECT_EQ(bar_ms(10, 1'000, 5), 1'000);
  EXPECT_EQ(bar_ms(10, 1'000, 1'000'000'000), 1'000);
}

// The attack of the issue: one device fails everything at once, among nine that are honest.
TEST(Breaker, R72_ADeviceThatFailsEverythingSpoilsAtMostFiveTrials) {
  Scenario s;
  s.worker("liar").study({.trials = 3'000, .max_failures = 3});
  for (int i = 0; i < 9; ++i) s.worker("w" + std::to_string(i));
  int failed = fail_all(s, "liar");
  EXPECT_EQ(failed, 3);
  EXPECT_FALSE(stored_study(s).paused);  // R56 has heard of one device only
  std::map<int, std::int64_t> open;
  for (int i = 0; i < 9; ++i) {
    const std::string worker = "w" + std::to_string(i);
    open[i] = lease_in(s.ready(worker), worker);
  }
  double value = 0;
  while (!open.empty()) {
    for (auto one = open.begin(); one != open.end();) {
      const std::string worker = "w" + std::to_string(one->first);
      one->second = lease_in(s.complete(worker, one->second, ++value, true), worker);
      one = one->second == 0 ? open.erase(one) : std::next(one);
    }
    if (open.size() == 9) failed += fail_all(s, "liar");
  }
  EXPECT_LE(failed, 5);
  EXPECT_EQ(count(s, storage::TrialState::complete), 3'000);
  EXPECT_EQ(stored_study(s).state, storage::StudyState::finished);
}

TEST(Breaker, R72_ItsFailedTrialsRunAgainWhenAnotherDeviceHasSucceeded) {
  Scenario s;
  s.worker("a").worker("b").study({.trials = 5, .max_failures = 3});
  EXPECT_EQ(fail_all(s, "a"), 3);
  EXPECT_EQ(count(s, storage::TrialState::failed), 3);
  EXPECT_EQ(complete_all(s, "b"), 5);
  EXPECT_EQ(count(s, storage::TrialState::complete), 5);
  EXPECT_THAT(s.ready("a"), ElementsAre("a < wait no_work"));
}

TEST(Breaker, R72_CodeThatIsWrongEverywhereStillPausesTheStudy) {
  Scenario s;
  s.worker("a").worker("b").study({.trials = 300, .max_failures = 3});
  EXPECT_EQ(fail_all(s, "a"), 3);
  EXPECT_FALSE(stored_study(s).paused);
  EXPECT_LE(fail_all(s, "b"), 2);
  EXPECT_TRUE(stored_study(s).paused);
}

TEST(Breaker, R72_ASingleDeviceIsNeverBarred) {
  Scenario s;
  s.worker("a").study({.trials = 50});
  EXPECT_EQ(fail_all(s, "a"), 50);
}

TEST(Breaker, R72_ADeviceThatCannotRunTheStudyIsNoOtherDevice) {
  Scenario s;
  s.worker("gpu").worker("a").study({.trials = 50, .backend = "webgpu"});
  EXPECT_EQ(fail_all(s, "gpu"), 50);
}

TEST(Breaker, R72_AfterItsBarADeviceGetsOneTrial) {
  Scenario s;
  s.worker("a").worker("b").study(300);
  EXPECT_EQ(fail_all(s, "a"), 3);
  EXPECT_THAT(s.ready("a"), ElementsAre("a < wait no_matching_work"));
  s.after(Settings{}.bar_ms - 1);
  s.worker("a").worker("b");
  EXPECT_EQ(fail_all(s, "a"), 0);
  s.after(1);
  EXPECT_EQ(fail_all(s, "a"), 1);
  s.after(4 * Settings{}.bar_ms - 1);
  s.worker("a").worker("b");
  EXPECT_EQ(fail_all(s, "a"), 0);
  s.after(1);
  EXPECT_EQ(complete_all(s, "a"), 296);  // a success ends its row
}

TEST(Breaker, R72_IfTheOtherDeviceFailsTheTrialTooNobodyIsBarred) {
  Scenario s;
  s.worker("a").worker("b").study(300);
  s.ready("b");
  s.complete("b", 1);
  EXPECT_EQ(fail_all(s, "a"), 3);
  const std::int64_t probe = lease_in(s.ready("b"), "b");
  EXPECT_NE(lease_in(s.failed("b", probe, Cause::user_error), "a"), 0);
}

TEST(Breaker, R72_AllItsTrialsRunAgainWhenTheFailuresAreItsOwn) {
  Scenario s;
  s.worker("a").study(100);
  std::int64_t lease = lease_in(s.ready("a"), "a");
  for (int i = 0; i < 20; ++i)  // alone, it is not barred
    lease = lease_in(s.failed("a", lease, Cause::user_error, true), "a");
  s.release("a", lease);
  s.worker("b");
  EXPECT_EQ(complete_all(s, "b"), 100);
  EXPECT_EQ(count(s, storage::TrialState::complete), 100);
}

TEST(Breaker, R72_IfTheOtherDeviceLeavesForGoodTheStudyStillEnds) {
  Scenario s;
  s.worker("a").worker("b").study(9);
  s.ready("b");
  s.complete("b", 1);
  EXPECT_EQ(fail_all(s, "a"), 3);  // its trials wait for b now
  s.close("b", SessionClosed::How::clean);
  for (int i = 0; i < 20; ++i) {
    for (const auto& [id, row] : s.store().attempts) {
      if (row.state == storage::AttemptState::live)
        s.failed("a", to_int(id), Cause::user_error, true);
    }
  }
  EXPECT_EQ(stored_study(s).state, storage::StudyState::finished);
  EXPECT_EQ(count(s, storage::TrialState::failed), 8);
}

TEST(Breaker, R72_SilenceIsNoFailure) {
  Scenario s;
  s.worker("b").study(50);
  for (int i = 0; i < 5; ++i) {
    s.worker("a").worker("b");
    ASSERT_NE(lease_in(s.ready("a"), "a"), 0);
    s.after(Settings{}.lease_ms + 1);
  }
}

TEST(Breaker, R72_LackOfMemoryBarsADeviceFromThatStudyOnly) {
  Scenario s;
  s.worker("small").worker("b");
  for (int i = 0; i < 4; ++i) s.study({.trials = 50, .priority = 9 - i});
  EXPECT_EQ(fail_all(s, "small", Cause::out_of_memory), 4 * 3);
  EXPECT_NE(lease_in(s.submit({.trials = 5}), "small"), 0);
}

TEST(Breaker, R72_ADeviceThatFailsInThreeStudiesGetsFewAnywhere) {
  Scenario s;
  s.worker("a").worker("b");
  for (int i = 0; i < 6; ++i) s.study({.trials = 50, .priority = 9 - i});
  EXPECT_EQ(fail_all(s, "a"), 9);
  s.study({.trials = 50, .project = "q"});
  s.after(Settings{}.bar_ms);
  s.worker("a").worker("b");
  EXPECT_LE(fail_all(s, "a"), 1);
}

TEST(Breaker, R72_ASuccessInAnotherStudyKeepsADeviceFromBeingBarredEverywhere) {
  Scenario s;
  s.worker("a").worker("b");
  for (int i = 0; i < 2; ++i) s.study({.trials = 50, .priority = 9 - i});
  EXPECT_EQ(fail_all(s, "a"), 6);
  s.complete("a", lease_in(s.submit({.trials = 1}), "a"));
  for (int i = 0; i < 2; ++i) s.study({.trials = 50, .priority = 4 - i});
  EXPECT_EQ(fail_all(s, "a"), 6);
}

TEST(Breaker, R72_WhenTheLastOtherDeviceLeavesABarredOneGoesOn) {
  Scenario s;
  s.worker("a").worker("b").study(300);
  EXPECT_EQ(fail_all(s, "a"), 3);
  EXPECT_NE(lease_in(s.close("b", SessionClosed::How::clean), "a"), 0);
}

TEST(Breaker, R72_OtherCodeEndsTheBar) {
  Scenario s;
  s.worker("a").worker("b").study(300);
  EXPECT_EQ(fail_all(s, "a"), 3);
  EXPECT_NE(lease_in(s.reissue(1, "g"), "a"), 0);
}

TEST(Breaker, R72_TheLimitOfTimeCounts) {
  Scenario s;
  s.worker("b").study({.trials = 300, .time_limit_ms = 1'000});
  int leases = 0;
  for (int i = 0; i < 6; ++i) {
    s.worker("a").worker("b");
    const std::int64_t lease = lease_in(s.ready("a"), "a");
    if (lease == 0) continue;
    ++leases;
    s.beat("a", lease, 1);
    s.after(1'000);
  }
  EXPECT_EQ(leases, 3);
}

}  // namespace
}  // namespace hyperflock::dispatch
