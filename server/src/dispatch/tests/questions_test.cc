// Tests of calls that a study's owner answers: suggestions, pruning and curves (R43, R47, R48).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/model/scenario.h"

namespace hyperflock::dispatch {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

// Returns a state in which "nb" owns a study and worker a runs its trial 0 as attempt 1. The owner
// has confirmed all batches.
Scenario running() {
  Scenario s;
  s.study({.directions = 1});
  s.claim("nb", 1);
  s.worker("a").asks("nb", {0});
  s.ready("a");
  s.says("nb", {});
  return s;
}

// Returns the state of running(), but worker b also runs the trial, as the speculative attempt 4.
Scenario doubled() {
  Scenario s;
  s.study({.directions = 1});
  s.claim("nb", 1);
  s.worker("a").asks("nb", {1, 2, 0});
  for (std::int64_t attempt = 1; attempt <= 2; ++attempt) {
    s.ready("a");
    s.after(30'000);
    s.complete("a", attempt);
  }
  s.ready("a");
  for (int i = 0; i < 4; ++i) {
    s.after(10'000);
    s.beat("a", 3, i);
  }
  s.worker("b");
  s.ready("b");
  s.says("nb", {});
  s.says("nb", {});
  return s;
}

TEST(Questions, R47_ASuggestionIsDurableBeforeTheDeviceHearsOfIt) {
  Scenario s = running();
  EXPECT_THAT(s.suggest("a", 1, "x"), ElementsAre("nb < batch 2 demand 0: suggest 1 t0 #1 x"));
  EXPECT_EQ(s.dispatcher().counters().calls_waiting, 1);
  s.hold();
  EXPECT_THAT(s.answers("nb", 1, "0.5"), IsEmpty());
  EXPECT_THAT(s.proposed(), ElementsAre("suggest trial 0 x=0.5"));
  EXPECT_THAT(s.commit(), ElementsAre("a < reply 0.5", "study 1 changed"));
  EXPECT_EQ(s.dispatcher().counters().calls_waiting, 0);
}

TEST(Questions, R47_ALoggedNameIsAnsweredAtOnceAndByOneDistributionOnly) {
  Scenario s = running();
  s.suggest("a", 1, "x", "d");
  s.answers("nb", 1, "0.5");
  s.leave("nb");
  EXPECT_THAT(s.suggest("a", 1, "x", "d"), ElementsAre("a < reply 0.5"));
  EXPECT_THAT(s.suggest("a", 1, "x", "e"), ElementsAre("a < error suggest_mismatch"));
}

TEST(Questions, R47_ALaterAttemptGetsTheLogWithItsLease) {
  Scenario s = running();
  s.suggest("a", 1, "x", "d");
  s.answers("nb", 1, "0.5");
  s.suggest("a", 1, "é\"", "{\"low\": 1}");
  s.answers("nb", 2, "\"relu\"");
  EXPECT_EQ(s.last_lease().suggested, "");
  s.release("a", 1);
  s.restart();
  s.claim("nb", 1);
  s.worker("a").ready("a");
  EXPECT_EQ(s.last_lease().suggested, R"({"x":["d","0.5"],"é\"":["{\"low\": 1}","\"relu\""]})");
  EXPECT_EQ(s.last_lease().params, R"({"x":0.5,"é\"":"relu"})");
  EXPECT_TRUE(s.last_lease().asked);
  EXPECT_EQ(s.last_lease().directions, 1);
}

TEST(Questions, R47_TwoAttemptsThatAskTheSameNameWaitForOneAnswer) {
  Scenario s = doubled();
  EXPECT_THAT(s.suggest("a", 3, "x"), Contains(testing::HasSubstr("suggest 1 t0 #3 x")));
  EXPECT_THAT(s.suggest("b", 4, "x"), IsEmpty());
  EXPECT_THAT(s.suggest("b", 4, "x", "e"), ElementsAre("b < error suggest_mismatch"));
  EXPECT_THAT(s.answers("nb", 1, "0.5"),
              ElementsAre("a < reply 0.5", "b < reply 0.5", "study 1 changed"));
}

TEST(Questions, R47_AnAnswerServesTheNextAttemptWhereTheFirstIsOver) {
  Scenario s = running();
  s.suggest("a", 1, "x");
  s.release("a", 1);
  EXPECT_THAT(s.answers("nb", 1, "0.5"), ElementsAre("study 1 changed"));
  s.ready("a");
  EXPECT_EQ(s.last_lease().suggested, R"({"x":["d","0.5"]})");
}

TEST(Questions, R47_AnOwnersErrorReachesTheDevice) {
  Scenario s = running();
  s.suggest("a", 1, "x");
  EXPECT_THAT(s.says("nb", {.answers = {{1, "", "ValueError", "low > high"}}}),
              ElementsAre("a < error owner_error"));
  EXPECT_THAT(s.suggest("a", 1, "x"), Contains(testing::HasSubstr("suggest 2 t0 #1 x")));
}

TEST(Questions, R47_WhatATrialIsSuggestedHasALimit) {
  Scenario s = running();
  const std::string wide(16 << 10, 'd');
  std::int64_t asked = 0;
  Said said;
  while (asked < 20) {
    said = s.suggest("a", 1, "x" + std::to_string(asked), wide);
    if (said == Said{"a < error too_long"}) break;
    s.answers("nb", ++asked, "1");
  }
  EXPECT_EQ(asked, 15);  // 256 KiB
  s.suggest("a", 1, "long");
  EXPECT_THAT(s.answers("nb", asked + 1, std::string(64 << 10, '1')),
              ElementsAre("a < error too_long"));
}

TEST(Questions, R47_ASuggestionNeedsAnAskedStudyAndAnAttemptThatRuns) {
  Scenario s = running();
  s.study(1);
  s.worker("b").ready("b");
  EXPECT_THAT(s.suggest("b", 2, "x"), ElementsAre("b < error unknown_method"));
  s.release("a", 1);
  EXPECT_THAT(s.suggest("a", 1, "x"), ElementsAre("a < error unknown_attempt"));
  s.ready("a");
  s.complete("a", 3);
  EXPECT_THAT(s.suggest("a", 3, "x"), ElementsAre("a < error study_stopped"));
}

TEST(Questions, R47_AnAttemptHasAtMostSixteenCallsThatWait) {
  Scenario s = running();
  for (int i = 0; i < 16; ++i) s.suggest("a", 1, "x" + std::to_string(i));
  EXPECT_THAT(s.suggest("a", 1, "more"), ElementsAre("a < error rate_limited"));
}

TEST(Questions, R43_CallsWaitForTheNextOwnerInTheirOrder) {
  Scenario s = running();
  s.suggest("a", 1, "x");
  s.leave("nb");
  s.suggest("a", 1, "y");
  EXPECT_THAT(s.claim("nb", 1),
              Contains("nb < batch 1 demand 0: suggest 1 t0 #1 x, suggest 2 t0 #1 y"));
}

TEST(Questions, R43_ACallThatWaitedAMinuteWithoutAnOwnerIsNoOwner) {
  Scenario s = running();
  s.suggest("a", 1, "x");
  s.after(40'000);
  s.leave("nb");
  s.beat("a", 1, 0, protocol::PulseState::waiting_call);
  s.after(30'000);
  s.beat("a", 1, 0, protocol::PulseState::waiting_call);
  EXPECT_THAT(s.after(29'999), IsEmpty());
  EXPECT_THAT(s.after(1), ElementsAre("a < error no_owner"));
  EXPECT_THAT(s.release("a", 1, protocol::ReleaseReason::no_owner),
              ElementsAre("a < ack #1 seq 2"));
  EXPECT_EQ(s.dispatcher().counters().calls_waiting, 0);
}

TEST(Questions, R43_AnOwnerThatIsThereMayThinkForLonger) {
  Scenario s = running();
  s.suggest("a", 1, "x");
  for (int i = 0; i < 20; ++i) {
    s.after(10'000);
    s.beat("a", 1, 0, protocol::PulseState::waiting_call);
  }
  EXPECT_THAT(s.answers("nb", 1, "0.5"), Contains("a < reply 0.5"));
}

TEST(Questions, R48_PointsAreDurableBeforeTheCallThatCameWithThem) {
  Scenario s = running();
  s.hold();
  EXPECT_THAT(s.should_prune("a", 1, {{1, 0.5}}), IsEmpty());
  EXPECT_THAT(s.resume(), ElementsAre("nb < batch 2 demand 0: prune 1 t0 #1 1"));
  EXPECT_THAT(s.answers("nb", 1, "true"), ElementsAre("a < reply prune"));
}

TEST(Questions, R48_TheAnswerIsTheOwnersOrAnError) {
  Scenario s = running();
  s.should_prune("a", 1, {{1, 0.5}});
  EXPECT_THAT(s.answers("nb", 1, "false"), ElementsAre("a < reply go on"));
  s.should_prune("a", 1, {{2, 0.5}});
  EXPECT_THAT(s.answers("nb", 2, "maybe"), ElementsAre("a < error owner_error"));
}

TEST(Questions, R48_OnlyTheLeadFeedsThePruner) {
  Scenario s = doubled();
  EXPECT_THAT(s.should_prune("b", 4, {{1, 0.5}}), ElementsAre("b < reply go on"));
  EXPECT_THAT(s.report("b", 4, 1, {{2, 0.5}}), ElementsAre("b < ack #4 seq 1"));
}

TEST(Questions, R48_WhoTakesTheLeadIsToldFromItsBeginning) {
  Scenario s = doubled();
  s.report("a", 3, 1, {{1, 0.5}});
  s.report("b", 4, 1, {{1, 0.25}, {2, 0.5}});
  s.says("nb", {});
  s.should_prune("a", 3, {{2, 0.5}});
  EXPECT_THAT(s.release("a", 3), Contains("a < ack #3 seq 2"));
  EXPECT_THAT(s.says("nb", {}), Contains(testing::HasSubstr("resumed t0 #4, points t0 #4 1 2")));
  s.says("nb", {});
  EXPECT_THAT(s.should_prune("b", 4, {{3, 0.5}}), Contains(testing::HasSubstr("t0 #4 3")));
}

TEST(Questions, R48_AResultOfAnotherThanTheLeadBringsItsOwnCurve) {
  Scenario s = doubled();
  s.report("a", 3, 1, {{1, 0.5}});
  s.report("b", 4, 1, {{1, 0.25}});
  s.says("nb", {});
  EXPECT_THAT(s.complete("b", 4),
              Contains(testing::HasSubstr("resumed t0 #4, points t0 #4 1, finished t0 complete")));
}

TEST(Questions, R48_AnAttemptThatBeginsFromACheckpointSupersedesWhatCameAfterIt) {
  Scenario s = running();
  s.report("a", 1, 1, {{1, 0.5}, {2, 0.5}});
  s.says("nb", {});
  s.checkpoint("a", 1, 7);  // saved at step 1
  s.release("a", 1);
  EXPECT_THAT(s.ready("a"), Contains("nb < batch 3 demand 0: started t0 #2 on a, resumed t0 #2 1"));
}

TEST(Questions, R48_TheNextOwnerIsToldWhatRunsHasReported) {
  Scenario s = running();
  s.report("a", 1, 1, {{1, 0.5}});
  s.leave("nb");
  s.report("a", 1, 2, {{2, 0.5}});
  EXPECT_THAT(s.claim("nb", 1), Contains("nb < batch 1 demand 0: points t0 #1 1 2"));
}

TEST(Questions, R48_AnEndedAttemptAsksNothingMore) {
  Scenario s = running();
  s.should_prune("a", 1, {{1, 0.5}});
  s.release("a", 1);
  EXPECT_EQ(s.dispatcher().counters().calls_waiting, 0);
  EXPECT_THAT(s.answers("nb", 1, "true"), IsEmpty());
}

TEST(Questions, R51_AnAnswerOfAnEarlierGenerationIsAskedForAgain) {
  Scenario s = running();
  s.suggest("a", 1, "x");
  s.hold();
  s.claim("other", 1);
  s.answers("nb", 1, "0.5");
  EXPECT_THAT(s.resume(), Contains("other < batch 1 demand 0: suggest 1 t0 #1 x"));
  EXPECT_THAT(s.answers("other", 1, "0.75"), Contains("a < reply 0.75"));
}

}  // namespace
}  // namespace hyperflock::dispatch
