// Tests studies whose trials come from an owner: claims, demand, new trials and ends (R42 to R46,
// R49 to R51).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/model/scenario.h"

namespace hyperflock::dispatch {
namespace {

using protocol::Cause;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::UnorderedElementsAre;
using How = SessionClosed::How;

// Returns a state with an ask-and-tell study that the owner "nb" has claimed.
Scenario owned(Settings settings = {}) {
  Scenario s(std::move(settings));
  s.study({.directions = 1});
  s.claim("nb", 1);
  return s;
}

TEST(Owners, R42_AClaimIsAnsweredByItsGenerationAfterItsCommit) {
  Scenario s;
  s.study({.directions = 1});
  s.hold();
  EXPECT_THAT(s.claim("nb", 1), IsEmpty());
  EXPECT_THAT(s.commit(), UnorderedElementsAre("nb < generation 1", "study 1 changed"));
  EXPECT_EQ(s.dispatcher().counters().owners, 1);
}

TEST(Owners, R42_TheNewestClaimWins) {
  Scenario s = owned();
  EXPECT_THAT(s.claim("other", 1), UnorderedElementsAre("nb closed 4005 replaced",
                                                        "other < generation 2", "study 1 changed"));
  EXPECT_FALSE(s.session_of("nb").has_value());
  EXPECT_EQ(s.dispatcher().counters().owners, 1);
}

TEST(Owners, R42_AStandbyClaimWaitsForTheOwnerToGo) {
  Scenario s = owned();
  EXPECT_THAT(s.claim("svc", 1, true), ElementsAre("svc < stand by"));
  EXPECT_THAT(s.leave("nb"), Contains("svc < generation 2"));
  EXPECT_THAT(s.claim("nb", 1), IsSupersetOf({"svc < stand by", "nb < generation 3"}));
  EXPECT_THAT(s.leave("nb"), Contains("svc < generation 4"));
}

TEST(Owners, R42_OneThatWentAwayBeforeItsCommitOwnsNothing) {
  Scenario s = owned();
  s.claim("svc", 1, true);
  s.hold();
  s.claim("gone", 1);
  s.leave("gone");
  EXPECT_THAT(s.commit(), Contains("nb closed 4005 replaced"));
  EXPECT_THAT(s.resume(), Contains("svc < generation 3"));
}

TEST(Owners, R42_WhatCannotBeClaimedIsRefusedByItsCode) {
  Scenario s;
  s.study(1).study({.directions = 1});
  EXPECT_THAT(s.claim("nb", 1), ElementsAre("nb < error not_asked"));
  s.cancel(2);
  EXPECT_THAT(s.claim("nb", 2), ElementsAre("nb < error study_cancelled"));
  EXPECT_THAT(s.claim("nb", 9), ElementsAre("nb < error not_asked"));
  EXPECT_THAT(s.says("nb", {}), ElementsAre("nb < error not_owner"));
}

TEST(Owners, R42_AFinishedStudyRunsAgainByAClaim) {
  Scenario s = owned();
  EXPECT_THAT(s.says("nb", {.finish = true}), Contains("nb < error study_stopped"));
  EXPECT_EQ(s.store().studies.at(StudyId{1}).state, storage::StudyState::finished);
  EXPECT_THAT(s.claim("nb", 1), Contains("nb < generation 2"));
  s.worker("a").asks("nb", {0});
  EXPECT_THAT(s.ready("a"), Contains("a < lease #1 trial 0"));
}

TEST(Owners, R43_NothingIsLeasedWithoutAnOwner) {
  Scenario s = owned();
  s.asks("nb", {0, 1});
  s.worker("a").worker("b");
  s.ready("a");
  s.leave("nb");
  EXPECT_THAT(s.ready("b"), ElementsAre("b < wait no_work"));
  EXPECT_THAT(s.release("a", 1), ElementsAre("a < ack #1 seq 2"));
  EXPECT_THAT(s.ready("a"), ElementsAre("a < wait no_work"));
  EXPECT_THAT(s.claim("nb", 1),
              IsSupersetOf({"b < lease #2 trial 0", "a < lease #3 trial 1", "nb < generation 2"}));
}

TEST(Owners, R44_TrialsAreLeasedInTheOrderInWhichTheyWereAskedBehindReissues) {
  Scenario s = owned();
  s.asks("nb", {7, 3});
  s.worker("a");
  EXPECT_THAT(s.ready("a"), Contains("a < lease #1 trial 7"));
  s.release("a", 1);
  EXPECT_THAT(s.ready("a"), Contains("a < lease #2 trial 7"));
  s.worker("b");
  EXPECT_THAT(s.ready("b"), Contains("b < lease #3 trial 3"));
}

TEST(Owners, R44_ANumberThatTheStudyHasIsRefusedAndTheOthersAreTaken) {
  Scenario s = owned();
  s.asks("nb", {0});
  EXPECT_THAT(s.asks("nb", {1, 0, 2}),
              UnorderedElementsAre("nb < error trial_exists t0", "study 1 changed"));
  EXPECT_EQ(s.dispatcher().counters().queued, 3);
}

TEST(Owners, R44_WhatWasAskedWaitsOverARestart) {
  Scenario s = owned();
  s.asks("nb", {4, 2});
  s.restart();
  s.worker("a");
  EXPECT_THAT(s.ready("a"), ElementsAre("a < wait no_work"));
  EXPECT_THAT(s.claim("nb", 1), Contains("a < lease #1 trial 2"));
}

TEST(Owners, R44_EachLeaseCarriesWhatTheTrialWasAskedWith) {
  Scenario s = owned();
  s.worker("a");
  s.says("nb", {.asked = {{TrialNumber{0}, "{}", R"({"user":{"n":1}})"}}});
  EXPECT_THAT(s.ready("a"), Contains(R"(a < lease #1 trial 0 as {"user":{"n":1}})"));
  s.release("a", 1);
  s.restart();
  s.claim("nb", 1);
  s.worker("b");
  EXPECT_THAT(s.ready("b"), Contains(R"(b < lease #2 trial 0 as {"user":{"n":1}})"));
}

TEST(Owners, R45_DemandIsWhatWaitsAndFindsRoom) {
  Scenario s = owned();
  s.worker("a").worker("b").worker("c");
  for (const char* worker : {"a", "b", "c"})
    EXPECT_THAT(s.ready(worker), ElementsAre(std::string(worker) + " < wait no_work"));
  EXPECT_THAT(s.asks("nb", {}, 2), ElementsAre("nb < batch 1 demand 2"));
  EXPECT_THAT(s.asks("nb", {0, 1}, 0),
              IsSupersetOf({"a < lease #1 trial 0", "b < lease #2 trial 1",
                            "nb < batch 2 demand 0: started t0 #1 on a, started t1 #2 on b"}));
  EXPECT_THAT(s.asks("nb", {}, 5), ElementsAre("nb < batch 3 demand 1"));
  EXPECT_THAT(s.asks("nb", {}, 5), IsEmpty());
}

// A worker is no demand until the owner has received the worker's last result. So the owner of a
// study with one device gets each result before the server asks for the next trial.
TEST(Owners, R45_WhoseResultTheOwnerHasNotHeardIsNoDemandYet) {
  Scenario s = owned();
  s.worker("a").worker("b");
  s.asks("nb", {0}, 9);
  EXPECT_THAT(s.ready("a"), Contains("a < lease #1 trial 0"));
  s.asks("nb", {}, 9);
  s.hold();
  EXPECT_THAT(s.complete("a", 1, 0.5, true), IsEmpty());
  EXPECT_THAT(s.ready("b"), Contains("nb < batch 2 demand 1"));
  s.asks("nb", {}, 9);
  EXPECT_THAT(s.resume(), Contains("nb < batch 3 demand 2: finished t0 complete"));
}

TEST(Owners, R45_WhoFailedATrialIsDemandOnceTheOwnerHasHeardOfIt) {
  Scenario s = owned();
  s.worker("a");
  s.asks("nb", {0}, 9);
  s.ready("a");
  s.asks("nb", {}, 9);
  EXPECT_THAT(s.failed("a", 1, Cause::user_error, true),
              Contains("nb < batch 2 demand 1: finished t0 failed code"));
}

TEST(Owners, R45_WhatIsBeingAskedIsNotDemandedAgain) {
  Scenario s = owned();
  s.worker("a").worker("b");
  s.ready("a");
  s.ready("b");
  EXPECT_THAT(s.asks("nb", {}, 9), ElementsAre("nb < batch 1 demand 2"));
  s.hold();
  EXPECT_THAT(s.asks("nb", {0}, 8), IsEmpty());
  s.commit();
  EXPECT_THAT(s.resume(),
              IsSupersetOf({"a < lease #1 trial 0", "nb < batch 2 demand 1: started t0 #1 on a"}));
}

TEST(Owners, R45_AStudyWithRoomTakesPartInTheChoice) {
  Scenario s = owned();
  s.study(2);
  s.worker("a").worker("b");
  s.asks("nb", {}, 1);
  // Neither study runs a trial, so the older one is next. Its owner accepts a request for one trial
  // only, so the second device gets a trial of the other study.
  EXPECT_THAT(s.ready("a"), ElementsAre("a < wait no_work", "nb < batch 1 demand 1"));
  EXPECT_THAT(s.ready("b"), Contains("b < lease #1 trial 0"));
}

TEST(Owners, R53_APausedStudyIsLeasedNothingAndAsksItsOwnerForNothing) {
  Scenario s = owned();
  s.worker("a").worker("b");
  s.asks("nb", {0}, 5);
  s.study(1);
  s.pause(1);
  // The paused study has a waiting trial, and its owner accepts requests for more. Devices
  // nevertheless take work from the other study.
  EXPECT_THAT(s.ready("a"), Contains("a < lease #1 trial 0"));
  EXPECT_EQ(s.last_lease().study, StudyId{2});
  EXPECT_THAT(s.ready("b"), Not(Contains(HasSubstr("demand"))));
  EXPECT_THAT(s.pause(1, false), Contains("b < lease #2 trial 0"));
  EXPECT_EQ(s.last_lease().study, StudyId{1});
}

TEST(Owners, R53_WhoWaitedForAnOwnerIsServedElsewhereOnceItsStudyIsPaused) {
  Scenario s = owned();
  s.worker("a");
  s.asks("nb", {}, 1);
  EXPECT_THAT(s.ready("a"), Contains("nb < batch 1 demand 1"));
  s.study(1);  // it is younger, so the device waits for the owner of study 1
  EXPECT_THAT(s.pause(1), Contains("a < lease #1 trial 0"));
  EXPECT_EQ(s.last_lease().study, StudyId{2});
}

TEST(Owners, R45_WhoWaitsTooLongForAnOwnerTakesOthersWork) {
  Scenario s = owned();
  s.study(2);
  s.worker("a");
  s.asks("nb", {}, 1);
  EXPECT_THAT(s.ready("a"), ElementsAre("a < wait no_work", "nb < batch 1 demand 1"));
  s.after(9'999);
  EXPECT_THAT(s.ready("a"), ElementsAre("a < wait no_work"));
  s.after(1);
  EXPECT_THAT(s.ready("a"), Contains("a < lease #1 trial 0"));
  // The trial that the owner sends late is leased next, although the other study also has a trial
  // that waits.
  s.asks("nb", {0}, 0);
  s.worker("b");
  EXPECT_THAT(s.ready("b"), Contains("b < lease #2 trial 0"));
}

TEST(Owners, R61_WhoWaitsForAnOwnerGetsALowerPriorityOnceTheHigherHasEnded) {
  Scenario s = owned();
  s.worker("x").asks("nb", {0}, 1);
  s.ready("x");
  s.study({.trials = 3, .owner = "eve", .priority = 1}).study({.trials = 1, .owner = "eve"});
  s.worker("y").ready("y");
  EXPECT_EQ(s.last_lease().study, StudyId{2});
  s.worker("a");
  // Studies 1 and 2 run one trial each, so the older one is next. Study 3 does not compete, because
  // its owner's study 2 has a higher priority.
  EXPECT_THAT(s.ready("a"), Contains("a < wait no_work"));
  EXPECT_THAT(s.cancel(2), Contains("a < lease #3 trial 0"));
  EXPECT_EQ(s.last_lease().study, StudyId{3});
}

TEST(Owners, R45_WhoWaitsForTheOwnerGetsWhatIsIssuedAgain) {
  Scenario s = owned();
  s.worker("a").asks("nb", {0}, 5);
  s.ready("a");
  s.worker("b").ready("b");
  s.failed("a", 1, protocol::Cause::device_lost);
  EXPECT_THAT(s.after(1'000), Contains("b < lease #2 trial 0"));
}

TEST(Owners, R45_WhoCannotRunTheStudyIsNoDemand) {
  Scenario s;
  s.study({.backend = "webgpu", .directions = 1});
  s.claim("nb", 1);
  s.worker("a").worker("gpu");
  s.ready("a");
  s.ready("gpu");
  EXPECT_THAT(s.asks("nb", {}, 9), ElementsAre("nb < batch 1 demand 1"));
}

TEST(Owners, R45_WhoLeavesIsDemandNoMore) {
  Scenario s = owned();
  s.worker("a");
  s.ready("a");
  EXPECT_THAT(s.asks("nb", {}, 9), ElementsAre("nb < batch 1 demand 1"));
  EXPECT_THAT(s.close("a", How::lost), IsEmpty());
  EXPECT_THAT(s.asks("nb", {}, 9), IsEmpty());
  s.worker("b");
  EXPECT_THAT(s.ready("b"), Contains("nb < batch 2 demand 1"));
}

TEST(Owners, R46_OneBatchIsOnItsWayAtATime) {
  Scenario s = owned();
  s.worker("a").worker("b");
  s.asks("nb", {0, 1});
  EXPECT_THAT(s.ready("a"), Contains("nb < batch 1 demand 0: started t0 #1 on a"));
  EXPECT_THAT(s.ready("b"), ElementsAre("b < lease #2 trial 1", "study 1 changed"));
  s.report("a", 1, 1, {{1, 0.5}});
  EXPECT_THAT(s.says("nb", {}),
              ElementsAre("nb < batch 2 demand 0: started t1 #2 on b, points t0 #1 1"));
  EXPECT_THAT(s.says("nb", {}), IsEmpty());
}

TEST(Owners, R59_SeriesAreNotSentToAnOwnerAndDoNotRepeatPoints) {
  Scenario s = owned();
  s.worker("a");
  s.asks("nb", {0});
  s.ready("a");
  s.says("nb", {});
  EXPECT_EQ(s.log("a", 1, 1, "loss"), (Said{"a < ack #1 seq 1"}));
  EXPECT_THAT(s.log("a", 1, 2, "loss", {{1, 0.5}}),
              Contains("nb < batch 2 demand 0: points t0 #1 1"));
}

TEST(Owners, R46_ABatchMayBeTakenInBeforeItIsAnswered) {
  Scenario s = owned();
  s.worker("a").worker("b").asks("nb", {0, 1});
  s.ready("a");
  s.ready("b");
  s.says("nb", {});
  s.says("nb", {});
  EXPECT_THAT(s.suggest("a", 1, "x"), ElementsAre("nb < batch 3 demand 0: suggest 1 t0 #1 x"));
  EXPECT_THAT(s.suggest("b", 2, "x"), IsEmpty());
  EXPECT_THAT(s.says("nb", {}), ElementsAre("nb < batch 4 demand 0: suggest 2 t1 #2 x"));
  // The owner confirms batch 3 again while batch 4 is under way.
  EXPECT_THAT(s.says("nb", {.taken = 3, .answers = {{1, "0.5", "", ""}}}),
              ElementsAre("a < reply 0.5", "study 1 changed"));
  EXPECT_THAT(s.suggest("a", 1, "y"), IsEmpty());
  EXPECT_THAT(s.says("nb", {}), ElementsAre("nb < batch 5 demand 0: suggest 3 t0 #1 y"));
}

TEST(Owners, R46_ABatchHasAtMostAThousandItems) {
  Scenario s = owned();
  s.worker("a").asks("nb", {0});
  s.ready("a");
  for (int i = 1; i <= 1'001; ++i) s.report("a", 1, i, {{i, 0.5}});
  s.says("nb", {});
  EXPECT_EQ(s.last_call().calls.size(), 1'000U);
  s.says("nb", {});
  EXPECT_EQ(s.last_call().calls.size(), 1U);
}

TEST(Owners, R46_WhoTakesNothingInIsClosedAsASlowPeer) {
  Scenario s = owned();
  s.worker("a").asks("nb", {0});
  s.ready("a");
  protocol::Report report{AttemptId{1}, 1, {}};
  Said said;
  for (std::int64_t i = 0; i < 1'000 && said.size() < 2; ++i) {
    report.points.clear();
    for (std::int64_t j = 0; j < 1'000; ++j) report.points.push_back({i * 1'000 + j, 0.5});
    said = s.tell("a", report);
  }
  EXPECT_THAT(said, Contains("nb closed 4002 slow_peer"));
  EXPECT_EQ(s.dispatcher().counters().owners, 0);
}

TEST(Owners, R49_TheOutcomeIsToldWithItsPointsAndParameters) {
  Scenario s = owned();
  s.worker("a").asks("nb", {0});
  s.ready("a");
  s.says("nb", {});
  s.suggest("a", 1, "x");
  s.answers("nb", 1, "0.5");
  s.says("nb", {});
  protocol::TrialResult result;
  result.attempt = AttemptId{1};
  result.seq = 1;
  result.values = {0.25};
  result.points = {{3, 0.5}};
  result.attrs = "{}";
  EXPECT_THAT(s.tell("a", result), Contains("nb < batch 3 demand 0: finished t0 complete 3"));
  const auto told = std::get<protocol::FinishedCall>(s.last_call().calls.at(0));
  EXPECT_EQ(told.params, R"({"x":0.5})");
  EXPECT_EQ(told.attrs, "{}");
  EXPECT_EQ(told.attempt, AttemptId{1});
  EXPECT_EQ(told.device, "a");
  EXPECT_THAT(told.values, ElementsAre(0.25));
}

TEST(Owners, R49_AFailureIsToldWhenItsBudgetIsSpent) {
  Scenario s = owned();
  s.worker("a").asks("nb", {0});
  s.ready("a");
  EXPECT_THAT(s.failed("a", 1, Cause::device_lost), Not(Contains(testing::HasSubstr("finished"))));
  s.after(2'000);
  s.ready("a");
  s.says("nb", {});
  s.says("nb", {});
  EXPECT_THAT(s.failed("a", 2, Cause::user_error),
              Contains("nb < batch 3 demand 0: finished t0 failed code"));
}

TEST(Owners, R49_AResultWithAnotherNumberOfValuesFails) {
  Scenario s;
  s.study({.directions = 2});
  s.claim("nb", 1);
  s.worker("a").asks("nb", {0});
  s.ready("a");
  s.says("nb", {});
  EXPECT_THAT(s.complete("a", 1),
              IsSupersetOf({"a < result_ack #1 recorded",
                            "nb < batch 2 demand 0: finished t0 failed values_count"}));
}

TEST(Owners, R49_ALateResultIsToldToo) {
  Scenario s = owned();
  s.worker("a").asks("nb", {0});
  s.ready("a");
  s.after(Settings{}.lease_ms + 1);
  s.says("nb", {});
  EXPECT_THAT(s.complete("a", 1), Contains("nb < batch 2 demand 0: finished t0 complete"));
}

TEST(Owners, R49_WhatASlowOwnerHasNotHeardIsToldBeforeItsStudysEnd) {
  Scenario s = owned();
  s.worker("a").asks("nb", {0});
  s.says("nb", {.finish = true});
  EXPECT_THAT(s.ready("a"), Contains(HasSubstr("nb < batch")));  // stays unconfirmed
  EXPECT_THAT(s.complete("a", 1), IsSupersetOf({HasSubstr("finished t0 complete"),
                                                HasSubstr("nb < error study_stopped")}));
}

TEST(Owners, R50_FinishEndsTheStudyOnceNoTrialIsUnfinished) {
  Scenario s = owned();
  s.worker("a").asks("nb", {0});
  s.ready("a");
  EXPECT_THAT(s.says("nb", {.finish = true}), Not(Contains("nb < error study_stopped")));
  EXPECT_THAT(s.asks("nb", {1}), Contains("nb < error study_stopped"));
  EXPECT_THAT(s.complete("a", 1), Contains("nb < error study_stopped"));
  EXPECT_EQ(s.store().studies.at(StudyId{1}).state, storage::StudyState::finished);
}

TEST(Owners, R50_RoomAfterFinishGoesOn) {
  Scenario s = owned();
  s.worker("a").asks("nb", {0});
  s.ready("a");
  s.says("nb", {.finish = true});
  s.asks("nb", {}, 1);
  s.complete("a", 1);
  EXPECT_EQ(s.store().studies.at(StudyId{1}).state, storage::StudyState::running);
  EXPECT_THAT(s.asks("nb", {1}), Not(Contains("nb < error study_stopped")));
}

TEST(Owners, R50_AStudyWithoutTrialsStaysUntilItsOwnerEndsIt) {
  Scenario s = owned();
  s.worker("a").asks("nb", {0});
  s.ready("a");
  s.complete("a", 1);
  s.restart();
  EXPECT_EQ(s.store().studies.at(StudyId{1}).state, storage::StudyState::running);
  EXPECT_THAT(s.claim("nb", 1), Contains("nb < generation 2"));
}

TEST(Owners, R55_AClaimThatComesAfterTheDeletionIsUnknown) {
  Scenario s;
  s.study({.directions = 1}).study(1);
  s.cancel(1);
  s.cancel(2);
  s.hold();
  s.claim("nb", 1);
  s.claim("svc", 1, true);
  s.claim("grid", 2);
  s.remove(1);
  s.remove(2);
  EXPECT_THAT(s.resume(),
              UnorderedElementsAre("nb < error unknown_study", "svc < error unknown_study",
                                   "grid < error not_asked"));
}

TEST(Owners, R50_ACancelledStudyTellsItsOwner) {
  Scenario s = owned();
  s.worker("a").asks("nb", {0, 1});
  s.ready("a");
  s.claim("svc", 1, true);
  EXPECT_THAT(s.cancel(1), IsSupersetOf({"a < revoke #1 cancelled", "nb < error study_cancelled",
                                         "svc < error study_cancelled"}));
  EXPECT_THAT(s.asks("nb", {2}), ElementsAre("nb < error not_owner"));
  EXPECT_EQ(s.dispatcher().counters().queued, 0);
}

TEST(Owners, R33_FailedTrialsOfAnAskedStudyAreNotReissueed) {
  Scenario s = owned();
  EXPECT_THAT(s.reissue(1), ElementsAre("answer not_a_grid"));
}

TEST(Owners, R51_AskingOfAnEarlierGenerationIsRefusedByStorage) {
  Scenario s = owned();
  s.hold();
  s.claim("other", 1);
  s.asks("nb", {0});
  EXPECT_THAT(s.resume(), IsSupersetOf({"nb closed 4005 replaced", "other < generation 2"}));
  EXPECT_THAT(s.store().studies.at(StudyId{1}).trials, IsEmpty());
}

TEST(Owners, R51_ATrialIsDoubledOnlyWhereThereIsNoRoom) {
  Scenario s = owned();
  s.worker("a").asks("nb", {0, 1, 2});
  for (std::int64_t attempt = 1; attempt <= 2; ++attempt) {
    s.ready("a");
    s.after(30'000);
    s.complete("a", attempt);
  }
  s.worker("b");
  s.ready("b");
  for (int i = 0; i < 4; ++i) {
    s.after(10'000);
    s.beat("b", 3, i);
  }
  s.asks("nb", {}, 1);
  EXPECT_THAT(s.ready("a"), Contains("a < wait no_work"));
  s.asks("nb", {}, 0);
  EXPECT_THAT(s.ready("a"), Contains("a < lease #4 trial 2 again"));
}

TEST(Owners, AFailedBatchClosesOwnersAndTheyClaimAgain) {
  Scenario s = owned();
  s.hold();
  s.asks("nb", {0});
  EXPECT_THAT(s.fail_batch(), Contains("nb closed 1013 storage_unavailable"));
  EXPECT_THAT(s.claim("nb", 1), Contains("nb closed 1013 storage_unavailable"));
  s.restored();
  s.resume();
  EXPECT_THAT(s.claim("nb", 1), Contains("nb < generation 2"));
}

TEST(Owners, R57_ConstraintsAreStoredForTheOwnersGeneration) {
  Scenario s;
  s.study({.directions = 1});
  s.claim("m", 1);
  s.says("m", {.room = 1,
               .asked = {{TrialNumber{0}, "{}", "", true}},
               .constraints = {{TrialNumber{0}, {0.5}}}});
  EXPECT_THAT(s.proposed(), Contains("constraints of trial 0"));
}

}  // namespace
}  // namespace hyperflock::dispatch
