// Tests the durations of a study's runs, and the limit for stalls that follows from them (R23).
#include "dispatch/runtime_stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/model/scenario.h"

namespace hyperflock::dispatch {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

TEST(RuntimeStats, PatienceIsLongestUntilEnoughMovesWereSeen) {
  RuntimeStats stats;
  for (int i = 0; i < kMovesToKnow - 1; ++i) learn_gap(stats, 1'000);
  EXPECT_EQ(patience(stats), kMostPatienceMs);
  learn_gap(stats, 1'000);
  EXPECT_EQ(patience(stats), kLeastPatienceMs);
}

TEST(RuntimeStats, PatienceIsTwentyGapsBetweenItsBounds) {
  RuntimeStats stats;
  for (int i = 0; i < kMovesToKnow; ++i) learn_gap(stats, 10'000);
  EXPECT_EQ(patience(stats), 200'000);
  learn_gap(stats, 60'000);  // a longer gap counts at once
  EXPECT_EQ(patience(stats), 1'200'000);
  learn_gap(stats, 600'000);
  EXPECT_EQ(patience(stats), kMostPatienceMs);
  for (int i = 0; i < 200; ++i) learn_gap(stats, 1'000);  // shorter gaps count slowly
  EXPECT_EQ(patience(stats), kLeastPatienceMs);
}

TEST(RuntimeStats, AStallMakesTheNextPatienceFiveTimesAsLong) {
  RuntimeStats stats;
  for (int i = 0; i < kMovesToKnow; ++i) learn_gap(stats, 100);
  learn_stall(stats, patience(stats));
  EXPECT_EQ(patience(stats), 5 * kLeastPatienceMs);
}

TEST(RuntimeStats, NewerRunsCountMore) {
  RuntimeStats stats;
  learn_run(stats, 1'000);
  EXPECT_EQ(stats.run_ms, 1'000);
  learn_run(stats, 2'000);
  EXPECT_EQ(stats.run_ms, 1'250);
}

// Sends a heartbeat every 10 s for `duration`. The progress grows each time if `moves` is true.
Said beats(Scenario& s, const std::string& worker, std::int64_t attempt, Millis duration,
           bool moves) {
  static std::int64_t progress = 0;
  Said said;
  for (Millis t = 0; t < duration; t += 10'000) {
    for (std::string& line : s.after(10'000)) said.push_back(std::move(line));
    if (moves) ++progress;
    for (std::string& line : s.beat(worker, attempt, progress)) {
      if (line != worker + " < ack") said.push_back(std::move(line));
    }
  }
  return said;
}

Scenario first_leased(std::int64_t trials = 1) {
  Scenario s;
  s.worker("a").worker("b").worker("c").study(trials);
  s.ready("a");
  return s;
}

TEST(Clocks, R23_SilenceFarBeyondTheLearntGapIsStalledAndIssuedAgain) {
  Scenario s = first_leased();
  EXPECT_THAT(beats(s, "a", 1, 100'000, true), IsEmpty());  // gaps of 10 s: patience 200 s
  s.ready("b");
  EXPECT_THAT(beats(s, "a", 1, 190'000, false), IsEmpty());
  EXPECT_THAT(beats(s, "a", 1, 20'000, false),
              ::testing::IsSupersetOf({"a < revoke #1 stalled", "b < lease #2 trial 0"}));
  const auto& failure = s.store().attempts.at(AttemptId{1}).failure;
  EXPECT_EQ(failure->cause, protocol::Cause::worker_lost);
  EXPECT_EQ(failure->code, "stalled");
  // The limit may have been too short, so the next attempt gets more time.
  EXPECT_THAT(beats(s, "b", 2, 20'000, true), IsEmpty());
  EXPECT_THAT(beats(s, "b", 2, 600'000, false), IsEmpty());
}

TEST(Clocks, R23_AStudyThatHasNotLearntYetWaitsAnHour) {
  Scenario s = first_leased();
  EXPECT_THAT(beats(s, "a", 1, 3'590'000, false), IsEmpty());
  EXPECT_THAT(beats(s, "a", 1, 30'000, false), Contains("a < revoke #1 stalled"));
}

TEST(Clocks, R23_EachClassOfDevicesIsLearntByItself) {
  Scenario s = first_leased(2);
  beats(s, "a", 1, 100'000, true);
  s.ready("c");  // a phone, a class without statistics
  for (int i = 0; i < 30; ++i) {
    s.after(10'000);
    s.beat("a", 1, 1'000 + i);
    s.beat("c", 2, 1);
  }
  EXPECT_EQ(s.store().attempts.at(AttemptId{2}).state, storage::AttemptState::live);
}

TEST(Clocks, R23_ACallOrALoadIsNoSilence) {
  for (const auto state : {protocol::PulseState::loading, protocol::PulseState::waiting_call}) {
    Scenario s = first_leased();
    beats(s, "a", 1, 100'000, true);
    for (int i = 0; i < 40; ++i) {
      s.after(10'000);
      s.beat("a", 1, 7, state);
    }
    EXPECT_EQ(s.store().attempts.at(AttemptId{1}).state, storage::AttemptState::live);
  }
}

TEST(Clocks, R23_ThreeDevicesThatStallMakeATrialPoison) {
  Scenario s = first_leased();
  beats(s, "a", 1, 100'000, true);
  std::int64_t attempt = 1;
  for (const std::string worker : {"a", "b", "e"}) {
    if (worker == "e") s.worker("e");
    if (attempt > 1) s.ready(worker);
    for (int i = 0;
         i < 400 && s.store().attempts.at(AttemptId{attempt}).state == storage::AttemptState::live;
         ++i) {
      s.after(10'000);
      s.beat(worker, attempt, 5'000);
    }
    s.after(10'000);  // waits for the back-off
    ++attempt;
  }
  EXPECT_EQ(s.store().studies.at(StudyId{1}).trials.at(0).failure.value().code, "poison");
}

}  // namespace
}  // namespace hyperflock::dispatch
