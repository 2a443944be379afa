// Tests of devices that give the same value for one trial after another (R75).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "dispatch/breaker.h"
#include "dispatch/model/scenario.h"

namespace hyperflock::dispatch {
namespace {

using protocol::Cause;
using ::testing::ElementsAre;
using How = SessionClosed::How;
using Objective = std::function<double(std::int64_t trial)>;

constexpr double kLie = -1e308;

// An honest objective whose value depends on the trial.
double honest(std::int64_t trial) { return 1.0 + static_cast<double>(trial); }
// One that gives up on most trials, such as a network that diverges.
double flat(std::int64_t trial) { return trial % 5 == 4 ? honest(trial) : 0.1; }
double lie(std::int64_t) { return kLie; }

// Returns the id of the lease in these messages to the worker; 0: none.
std::int64_t offered_in(const Said& said, const std::string& worker) {
  for (const std::string& one : said) {
    const std::size_t at = one.find("lease #");
    if (one.starts_with(worker + " <") && at != std::string::npos)
      return std::stoll(one.substr(at + 7));
  }
  return 0;
}

std::int64_t take(Scenario& s, const std::string& worker) {
  return offered_in(s.ready(worker), worker);
}

// Returns the device's attempt, which it may have got while it waited; else asks for one. 0: none.
std::int64_t next_of(Scenario& s, const std::string& worker) {
  const auto& all = s.store().attempts;
  const auto live = std::ranges::find_if(all, [&](const auto& one) {
    return one.second.device == worker && one.second.state == storage::AttemptState::live;
  });
  return live == all.end() ? take(s, worker) : to_int(live->first);
}

// Completes the attempt and returns the next lease; 0: none.
std::int64_t answer(Scenario& s, const std::string& worker, std::int64_t attempt,
                    const Objective& objective) {
  const TrialNumber trial = s.store().attempts.at(AttemptId{attempt}).trial.number;
  return offered_in(s.complete(worker, attempt, objective(to_int(trial)), true), worker);
}

// Lets the device complete trials as long as it gets some, at most `most`. Returns how many.
int answer_all(Scenario& s, const std::string& worker, const Objective& objective,
               int most = 5'000) {
  int done = 0;
  std::int64_t attempt = take(s, worker);
  while (attempt != 0 && done < most) {
    ++done;
    attempt = answer(s, worker, attempt, objective);
  }
  if (attempt != 0) s.release(worker, attempt);
  return done;
}

// Lets these devices complete trials by turns until none gets one.
void answer_by_turns(Scenario& s, const std::vector<std::string>& workers,
                     const Objective& objective) {
  for (const std::string& worker : workers) take(s, worker);
  bool any = true;
  while (std::exchange(any, false)) {
    for (const std::string& worker : workers) {
      const std::int64_t attempt = next_of(s, worker);
      if (attempt == 0) continue;
      any = true;
      answer(s, worker, attempt, objective);
    }
  }
}

const ModelStore::StudyState& first_study(const Scenario& s) {
  return s.store().studies.at(StudyId{1});
}

std::int64_t rejected_attempts(const Scenario& s) {
  return std::ranges::count_if(s.store().attempts,
                               [](const auto& one) { return one.second.rejection.has_value(); });
}

// Returns how many trials have the value as their result.
std::int64_t results_with(const Scenario& s, double value) {
  return std::ranges::count_if(s.store().attempts, [&](const auto& one) {
    return one.second.state == storage::AttemptState::accepted && one.second.values[0] == value;
  });
}

// The attack of the issue: one device answers everything at once, before anybody else is ready.
TEST(Repeats, R75_ADeviceThatGivesOneValueForAllTrialsSpoilsNone) {
  Scenario s;
  s.worker("liar").study({.trials = 3'000});
  for (int i = 0; i < 9; ++i) s.worker("w" + std::to_string(i));
  EXPECT_EQ(answer_all(s, "liar", lie), 3);
  std::vector<std::string> others;
  for (int i = 0; i < 9; ++i) others.push_back("w" + std::to_string(i));
  answer_by_turns(s, others, honest);
  EXPECT_EQ(answer_all(s, "liar", lie), 0);
  EXPECT_EQ(results_with(s, kLie), 0);
  EXPECT_EQ(s.accepted(), 3'000);
  EXPECT_EQ(first_study(s).state, storage::StudyState::finished);
}

TEST(Repeats, R75_AValueThatItIsFoundToInventNeverCountsWhileOthersAreThere) {
  Scenario s;
  s.worker("liar").worker("b").study(300);
  EXPECT_EQ(answer_all(s, "liar", lie), 3);
  EXPECT_EQ(answer_all(s, "b", honest, 10), 10);
  EXPECT_EQ(results_with(s, kLie), 0);
  s.after(Settings{}.bar_ms);
  s.worker("liar").worker("b");
  EXPECT_EQ(answer_all(s, "liar", lie), 1);  // after its bar it gets one trial
  EXPECT_EQ(results_with(s, kLie), 0);
  answer_all(s, "b", honest);
  EXPECT_EQ(s.accepted(), 300);
  EXPECT_EQ(results_with(s, kLie), 0);
}

TEST(Repeats, R75_WhatADeviceAloneHasInventedRunsAgainWhenAnotherComes) {
  Scenario s;
  s.worker("liar").study(100);
  EXPECT_EQ(answer_all(s, "liar", lie, 20), 20);
  s.worker("b");
  EXPECT_EQ(answer_all(s, "b", honest), 100);
  EXPECT_EQ(results_with(s, kLie), 0);
}

TEST(Repeats, R75_ADeviceCannotEndASmallStudyAtOnce) {
  Scenario s;
  s.worker("liar").worker("b").study(3);
  EXPECT_EQ(answer_all(s, "liar", lie), 3);
  EXPECT_EQ(first_study(s).state, storage::StudyState::running);
  EXPECT_EQ(answer_all(s, "b", honest), 3);
  EXPECT_EQ(first_study(s).state, storage::StudyState::finished);
  EXPECT_EQ(results_with(s, kLie), 0);
}

TEST(Repeats, R75_ASingleDeviceIsNeverBarred) {
  Scenario s;
  s.worker("a").study(50);
  EXPECT_EQ(answer_all(s, "a", lie), 50);
  EXPECT_EQ(first_study(s).state, storage::StudyState::finished);
  EXPECT_EQ(rejected_attempts(s), 0);
}

TEST(Repeats, R75_WhenTheLastOtherDeviceLeavesABarredOneGoesOn) {
  Scenario s;
  s.worker("a").worker("b").study(300);
  EXPECT_EQ(answer_all(s, "a", lie), 3);
  EXPECT_NE(offered_in(s.close("b", How::clean), "a"), 0);
}

// An honest device in a region where the objective is flat: another one gives the same value.
TEST(Repeats, R75_AValueThatAnotherDeviceGivesTooIsDoubtedNoMore) {
  Scenario s;
  s.worker("a").worker("b").worker("c").study(300);
  EXPECT_EQ(answer_all(s, "a", flat), 3);
  s.complete("b", take(s, "b"), 0.1);
  const std::int64_t probe = take(s, "b");
  const std::int64_t next = offered_in(s.complete("b", probe, 0.1), "a");
  EXPECT_NE(next, 0);  // a waited for work
  s.release("a", next);
  answer_by_turns(s, {"a", "b", "c"}, flat);
  EXPECT_EQ(s.accepted(), 300);
  EXPECT_EQ(rejected_attempts(s), 3);  // such a value costs three runs in the whole study
}

// A graphics processor and a CPU round differently.
TEST(Repeats, R75_RoundingIsNoOtherValue) {
  Scenario s;
  s.worker("gpu").worker("b").study(300);
  EXPECT_EQ(answer_all(s, "gpu", [](std::int64_t) { return 2.302585; }), 3);
  s.complete("b", take(s, "b"), 2.302586);
  const std::int64_t probe = take(s, "b");
  EXPECT_NE(offered_in(s.complete("b", probe, 2.302586), "gpu"), 0);
}

TEST(AreAlike, R75_AllowsForRoundingOnly) {
  EXPECT_TRUE(are_alike({2.302585}, {2.302586}));
  EXPECT_TRUE(are_alike({0}, {1e-15}));
  EXPECT_FALSE(are_alike({0.98}, {0.981}));
  EXPECT_FALSE(are_alike({-1e308}, {1e308}));
  EXPECT_FALSE(are_alike({1, 2}, {1, 3}));
}

TEST(Repeats, R75_AStudyWhoseValuesAreAllTheSameCostsFewRuns) {
  Scenario s;
  s.worker("a").worker("b").worker("c").study(200);
  answer_by_turns(s, {"a", "b", "c"}, [](std::int64_t) { return 0.0; });
  EXPECT_EQ(s.accepted(), 200);
  EXPECT_LE(rejected_attempts(s), 3 * 3);
  EXPECT_EQ(first_study(s).state, storage::StudyState::finished);
}

// An accuracy of a few steps, which differs from device to device as on graphics processors: the
// other devices seldom give the same value for a trial.
double coarse(std::int64_t trial, std::size_t device) {
  std::uint64_t state = static_cast<std::uint64_t>(trial) * 31 + device;
  return 0.5 + 0.1 * static_cast<double>(splitmix64(state) % 3);
}

TEST(Repeats, R75_AMetricOfThreeValuesLosesNoStudyEvenIfDevicesDisagree) {
  Scenario s;
  const std::vector<std::string> workers{"a", "b", "c"};
  for (const std::string& worker : workers) s.worker(worker);
  s.study(1'000);
  for (const std::string& worker : workers) take(s, worker);
  for (int round = 0; round < 1'000; ++round) {
    for (std::size_t i = 0; i < workers.size(); ++i) {
      if (const std::int64_t attempt = next_of(s, workers[i]); attempt != 0)
        answer(s, workers[i], attempt, [&](std::int64_t n) { return coarse(n, i); });
    }
  }
  EXPECT_EQ(first_study(s).state, storage::StudyState::finished);
  EXPECT_EQ(s.accepted(), 1'000);
  EXPECT_LE(rejected_attempts(s), 50);
}

// Each point of the space is computed 30 times, and the objective uses no random number.
TEST(Repeats, R75_WhereOthersRepeatTheirValuesARowMustBeLonger) {
  Scenario s;
  s.worker("a").worker("b").worker("c").study(600);
  answer_by_turns(s, {"a", "b", "c"}, [](std::int64_t n) { return honest(n / 30); });
  EXPECT_EQ(s.accepted(), 600);
  EXPECT_LE(rejected_attempts(s), 3 * 6);
}

// One trial of the row may really have the value.
TEST(Repeats, R75_ALiarWhoRepeatsTheValueOfATrialThatItHasComputedIsFoundOut) {
  Scenario s;
  s.worker("liar").worker("b").study(300);
  EXPECT_EQ(answer_all(s, "liar", [](std::int64_t) { return honest(0); }), 3);
  EXPECT_EQ(answer_all(s, "b", honest), 300);
  EXPECT_EQ(results_with(s, honest(0)), 1);
  EXPECT_EQ(rejected_attempts(s), 3);
}

TEST(Repeats, R75_TwoOfThreeProbesDecide) {
  for (const bool is_usual : {false, true}) {
    Scenario s;
    s.worker("a").worker("b").study(300);
    EXPECT_EQ(answer_all(s, "a", lie), 3);
    s.complete("b", take(s, "b"), kLie);
    s.complete("b", take(s, "b"), 1.0);
    EXPECT_EQ(take(s, "a"), 0);
    const std::int64_t third = take(s, "b");
    const Said said = s.complete("b", third, is_usual ? kLie : 2.0);
    EXPECT_EQ(offered_in(said, "a") != 0, is_usual);
  }
}

TEST(Repeats, R75_AProbeThatFailsShowsNothing) {
  Scenario s;
  s.worker("a").worker("b").study(300);
  answer_all(s, "a", lie);
  s.failed("b", take(s, "b"), Cause::user_error);
  s.complete("b", take(s, "b"), 1.0);
  s.complete("b", take(s, "b"), kLie);
  s.after(Settings{}.bar_ms);
  s.worker("a").worker("b");
  EXPECT_EQ(answer_all(s, "a", lie), 1);
  EXPECT_EQ(results_with(s, kLie), 1);  // b's; that of a is the third probe now
  s.complete("b", take(s, "b"), 9.0);
  EXPECT_EQ(rejected_attempts(s), 4);
}

TEST(Repeats, R75_IfNobodyElseIsLeftToRunTheProbesTheDeviceRunsThemItself) {
  Scenario s;
  s.worker("a").worker("b").study(9);
  EXPECT_EQ(answer_all(s, "a", lie), 3);  // its trials wait for b now
  std::int64_t attempt = offered_in(s.close("b", How::clean), "a");
  while (attempt != 0) attempt = answer(s, "a", attempt, lie);
  EXPECT_EQ(first_study(s).state, storage::StudyState::finished);
  EXPECT_EQ(s.accepted(), 9);
}

TEST(Repeats, R75_AnotherValueEndsARow) {
  Scenario s;
  s.worker("a").worker("b").study(300);
  EXPECT_EQ(answer_all(s, "a", [](std::int64_t n) { return honest(n / 2); }), 300);
  EXPECT_EQ(rejected_attempts(s), 0);
}

TEST(Repeats, R75_AnotherValueLiftsNoBarThatIsNotJudged) {
  Scenario s;
  s.worker("a").worker("b").study(300);
  EXPECT_EQ(answer_all(s, "a", lie), 3);
  s.after(Settings{}.bar_ms);
  s.worker("a").worker("b");
  EXPECT_EQ(answer_all(s, "a", honest), 1);
}

// A device holds a probe until the first row is judged, and the next one, too.
TEST(Repeats, R75_AProbeSaysNothingAboutTheNextValueOfItsDevice) {
  Scenario s;
  s.worker("a").worker("b").worker("slow").study(300);
  EXPECT_EQ(answer_all(s, "a", lie), 3);
  const std::int64_t held = take(s, "slow");
  ASSERT_LT(to_int(s.store().attempts.at(AttemptId{held}).trial.number), 3);
  EXPECT_EQ(answer_all(s, "b", honest, 2), 2);  // the first value is a's own
  s.close("b", How::clean);
  std::int64_t attempt = offered_in(s.close("slow", How::lost), "a");
  std::set<std::int64_t> flat_trials;
  for (int i = 0; i < 3; ++i) {
    ASSERT_NE(attempt, 0);
    flat_trials.insert(to_int(s.store().attempts.at(AttemptId{attempt}).trial.number));
    attempt = answer(s, "a", attempt, [](std::int64_t) { return 0.1; });
  }
  if (attempt != 0) s.release("a", attempt);
  s.worker("b");
  s.open("slow", {AttemptId{held}});
  const auto flat_there = [&](std::int64_t n) { return flat_trials.contains(n) ? 0.1 : honest(n); };
  EXPECT_EQ(answer_all(s, "b", flat_there, 20), 20);  // b has the second value, too
  s.complete("slow", held, honest(0));
  EXPECT_EQ(answer_all(s, "a", flat_there), 300 - 2 - 20 - 1);
  EXPECT_EQ(first_study(s).state, storage::StudyState::finished);
  EXPECT_EQ(s.troubles(), Said{});
}

TEST(Repeats, R75_OtherCodeEndsTheBar) {
  Scenario s;
  s.worker("a").worker("b").study(300);
  s.failed("b", take(s, "b"), Cause::user_error);
  EXPECT_EQ(answer_all(s, "a", lie), 3);
  EXPECT_NE(offered_in(s.reissue(1, "g"), "a"), 0);
}

TEST(Repeats, R75_AnAskAndTellStudyMayAskForTheSamePointAgain) {
  Scenario s;
  s.worker("a").worker("b").study({.directions = 1});
  s.claim("m", 1);
  s.asks("m", {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(answer_all(s, "a", lie), 6);
}

}  // namespace
}  // namespace hyperflock::dispatch
