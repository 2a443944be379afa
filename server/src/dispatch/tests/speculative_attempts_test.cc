// Tests of speculative attempts: which running trial an idle worker runs a second time (R36).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/model/scenario.h"

namespace hyperflock::dispatch {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Millis kRunMs = 30'000;

// Returns a study of three trials: worker a finished two, in 30 s each, and `slow` runs one.
Scenario with_slow_run(const std::string& slow = "b") {
  Scenario s;
  s.worker("a").study(3);
  for (std::int64_t attempt = 1; attempt <= 2; ++attempt) {
    s.ready("a");
    s.after(kRunMs);
    s.complete("a", attempt, static_cast<double>(attempt));
  }
  s.worker(slow);
  s.ready(slow);
  return s;
}

// Lets `ms` milliseconds pass, with a heartbeat of the attempt every 10 s.
void run_for(Scenario& s, const std::string& worker, std::int64_t attempt, Millis ms) {
  for (Millis t = 0; t < ms; t += 10'000) {
    s.after(std::min<Millis>(10'000, ms - t));
    s.beat(worker, attempt, t / 10'000);
  }
}

TEST(SpeculativeAttempts, R36_ARunThatIsLateIsDoubled) {
  Scenario s = with_slow_run();
  run_for(s, "b", 3, kRunMs);
  EXPECT_THAT(s.ready("a"), ElementsAre("a < wait no_work"));
  run_for(s, "b", 3, 10'000);
  EXPECT_THAT(s.ready("a"), ElementsAre("a < lease #4 trial 2 again", "study 1 changed"));
  EXPECT_EQ(s.store().attempts.at(AttemptId{4}).kind, protocol::AttemptKind::duplicate);
}

TEST(SpeculativeAttempts, R36_TheFirstResultCountsAndTheOtherRunIsRevoked) {
  Scenario s = with_slow_run();
  run_for(s, "b", 3, kRunMs + 10'000);
  s.ready("a");
  EXPECT_THAT(s.complete("a", 4), Contains("b < revoke #3 superseded"));
  EXPECT_THAT(s.complete("b", 3), Contains("b < result_ack #3 evidence"));
  EXPECT_EQ(s.accepted(), 3);
  EXPECT_EQ(s.store().studies.at(StudyId{1}).state, storage::StudyState::finished);
}

TEST(SpeculativeAttempts, R53_APausedStudyGetsNone) {
  Scenario s = with_slow_run();
  run_for(s, "b", 3, kRunMs + 10'000);
  s.pause(1);
  EXPECT_THAT(s.ready("a"), ElementsAre("a < wait no_work"));
  s.pause(1, false);
  EXPECT_THAT(s.ready("a"), Contains("a < lease #4 trial 2 again"));
}

TEST(SpeculativeAttempts, R36_OneDuplicateATrial) {
  Scenario s = with_slow_run();
  run_for(s, "b", 3, kRunMs + 10'000);
  s.ready("a");
  s.worker("e");
  run_for(s, "b", 3, 40'000);
  EXPECT_THAT(s.ready("e"), ElementsAre("e < wait no_work"));
  s.release("a", 4);  // the first run goes on as the only one
  EXPECT_THAT(s.ready("e"), ElementsAre("e < wait no_work"));
}

TEST(SpeculativeAttempts, R36_ADuplicateThatIsLeftAloneIsIssuedAgainWhenItIsLost) {
  Scenario s = with_slow_run();
  run_for(s, "b", 3, kRunMs + 10'000);
  s.ready("a");
  EXPECT_THAT(s.release("b", 3), ElementsAre("b < ack #3 seq 2"));  // the duplicate goes on
  EXPECT_THAT(s.ready("b"), ElementsAre("b < wait no_work"));
  EXPECT_THAT(s.release("a", 4), Contains("b < lease #5 trial 2"));
}

TEST(SpeculativeAttempts, R36_AStudyThatDoesNotKnowItsPaceHasNoDuplicates) {
  Scenario s;
  s.worker("a").worker("b").study(2);
  s.ready("a");
  s.ready("b");
  s.complete("a", 1);
  run_for(s, "b", 2, 500'000);
  EXPECT_THAT(s.ready("a"), ElementsAre("a < wait no_work"));
}

TEST(SpeculativeAttempts, R36_ASlowClassOfDevicesIsDoubledByAFastOneAtOnce) {
  Scenario s;
  s.worker("a").worker("c").study(5);  // c is a phone
  s.ready("c");
  for (std::int64_t attempt = 2; attempt <= 3; ++attempt) {
    s.ready("a");
    run_for(s, "c", 1, kRunMs);
    s.complete("a", attempt, static_cast<double>(attempt));
  }
  run_for(s, "c", 1, 300'000);
  s.complete("c", 1);
  s.ready("a");
  s.ready("c");
  s.after(5'000);
  // The phone began a moment ago and will need six minutes; this desktop needs 30 s.
  EXPECT_THAT(s.complete("a", 4, 4, true),
              Contains("a < result_ack #4 accepted + lease #6 trial 4 again"));
}

TEST(SpeculativeAttempts, R36_NewWorkGoesFirst) {
  Scenario s = with_slow_run();
  run_for(s, "b", 3, kRunMs + 10'000);
  s.study(1);
  EXPECT_THAT(s.ready("a"), Contains("a < lease #4 trial 0"));
}

TEST(SpeculativeAttempts, R36_AWorkerThatLostTheTrialOrCannotRunTheStudyGetsNoDuplicate) {
  Scenario lost = with_slow_run();
  lost.after(Settings{}.lease_ms);  // the lease of b expires
  EXPECT_THAT(lost.ready("a"), Contains("a < lease #4 trial 2"));
  run_for(lost, "a", 4, 200'000);
  EXPECT_THAT(lost.ready("b"), ElementsAre("b < wait no_work"));

  Scenario refused = with_slow_run();
  refused.worker("e");
  refused.study(1);
  refused.ready("e");
  refused.release("e", 4, protocol::ReleaseReason::cannot_run);
  EXPECT_EQ(refused.last_lease().study, StudyId{2});
}

TEST(SpeculativeAttempts, R36_ARestartKnowsOfTheDuplicate) {
  Scenario s = with_slow_run();
  run_for(s, "b", 3, kRunMs + 10'000);
  s.ready("a");
  s.restart();
  s.open("a", {AttemptId{4}});
  s.open("b", {AttemptId{3}});
  EXPECT_THAT(s.complete("b", 3), Contains("a < revoke #4 superseded"));
  EXPECT_EQ(s.accepted(), 3);
}

TEST(SpeculativeAttempts, R36_ADrainingServerDoublesNothing) {
  Scenario s = with_slow_run();
  run_for(s, "b", 3, kRunMs + 10'000);
  s.drain();
  EXPECT_THAT(s.ready("a"), ElementsAre("a < wait draining"));
}

TEST(SpeculativeAttempts, R36_ADuplicateWhoseTrialIsFinishedMeanwhileIsNotSent) {
  Scenario s = with_slow_run();
  run_for(s, "b", 3, kRunMs + 10'000);
  s.hold();
  s.complete("b", 3);
  EXPECT_THAT(s.ready("a"), ElementsAre("a < wait no_work"));  // the run of b has ended
  s.resume();
  EXPECT_EQ(s.accepted(), 3);
  EXPECT_THAT(s.troubles(), IsEmpty());
}

}  // namespace
}  // namespace hyperflock::dispatch
