// Tests the dispatcher when storage answers superseded or conflict, when a batch fails, and after a
// restart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/model/scenario.h"

namespace hyperflock::dispatch {
namespace {

using protocol::Cause;
using storage::Applied;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using How = SessionClosed::How;

TEST(Conflict, R15_AnotherTrialIsTriedWhenTheLeaseLoses) {
  Scenario s;
  s.worker("a").study(3);
  s.inject<storage::StartAttempt>(Applied::conflict);
  EXPECT_EQ(s.ready("a"), (Said{"a < lease #2 trial 1", "study 1 changed"}));
  s.complete("a", 2);
  s.after(1'000);  // the trial of the lost lease is issued again after its back-off
  EXPECT_THAT(s.ready("a"), Contains("a < lease #3 trial 0"));
}

TEST(Conflict, R15_ResultIsAcknowledgedWithoutALeaseAndAnotherFollows) {
  Scenario s;
  s.worker("a").study(3);
  s.ready("a");
  s.inject<storage::StartAttempt>(Applied::conflict);
  EXPECT_EQ(s.complete("a", 1, 0.5, true), (Said{"a < result_ack #1 accepted", "study 1 changed",
                                                 "a < lease #3 trial 2", "study 1 changed"}));
}

TEST(Conflict, R15_WaitFollowsAfterAFewTries) {
  Scenario s;
  s.worker("a").study(100);
  s.hold();
  s.ready("a");
  Said said;
  for (int i = 0; i < 10 && s.held_batches() > 0; ++i) {
    s.inject<storage::StartAttempt>(Applied::conflict);
    for (std::string& line : s.commit(1)) said.push_back(std::move(line));
  }
  EXPECT_THAT(said, ElementsAre("a < wait no_matching_work"));
}

TEST(Conflict, SupersededLeaseMeansThatTheTrialIsFinishedElsewhere) {
  Scenario s;
  s.worker("a").study(2);
  s.inject<storage::StartAttempt>(Applied::superseded);
  EXPECT_THAT(s.ready("a"), Contains("a < lease #2 trial 1"));
  s.complete("a", 2);
  EXPECT_EQ(s.proposed(), (Said{"store #2", "end study 1 finished"}));
}

TEST(Conflict, ResultOfALiveAttemptThatConflictsIsAnErrorAndTheTrialGoesOn) {
  Scenario s;
  s.worker("a").worker("b").study(1);
  s.ready("a");
  s.inject<storage::StoreResult>(Applied::conflict);
  EXPECT_EQ(s.complete("a", 1), (Said{"a < error unknown_attempt"}));
  EXPECT_THAT(s.ready("b"), Contains("b < lease #2 trial 0"));
}

TEST(Conflict, FailTrialThatConflictsIsTriedAgain) {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  s.inject<storage::FailTrial>(Applied::conflict);
  s.failed("a", 1, Cause::user_error);
  s.ready("a");
  EXPECT_THAT(s.after(1'000), Contains("a < lease #2 trial 0"));
  s.failed("a", 2, Cause::user_error);
  EXPECT_EQ(s.store().studies.at(StudyId{1}).trials.at(0).state, storage::TrialState::failed);
}

TEST(Conflict, EndStudyThatConflictsIsProposedAgain) {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  s.inject<storage::EndStudy>(Applied::conflict);
  s.complete("a", 1);
  EXPECT_EQ(s.proposed(), (Said{"store #1", "end study 1 finished", "end study 1 finished"}));
  EXPECT_EQ(s.store().studies.at(StudyId{1}).state, storage::StudyState::finished);
}

TEST(Conflict, StudyThatIsNotStoredIsRefused) {
  Scenario s;
  s.inject<storage::CreateStudy>(Applied::conflict);
  EXPECT_EQ(s.submit({}), (Said{"answer storage_unavailable"}));
}

TEST(Failure, SessionsAreClosedAndRequestsAnswered) {
  Scenario s;
  s.worker("a").worker("b").study(3);
  s.ready("a");
  s.hold();
  s.complete("a", 1);
  s.submit({});
  s.cancel(1);
  EXPECT_THAT(s.fail_batch(), ::testing::UnorderedElementsAre("answer storage_unavailable",
                                                              "answer storage_unavailable",
                                                              "a closed 1013 storage_unavailable",
                                                              "b closed 1013 storage_unavailable"));
  EXPECT_TRUE(s.dispatcher().counters().read_only);
  EXPECT_EQ(s.dispatcher().counters().workers, 0);
  EXPECT_FALSE(s.dispatcher().next_deadline().has_value());
}

TEST(Failure, NothingIsTakenUntilRestored) {
  Scenario s;
  s.study(3);
  s.hold();
  s.fail_batch();
  EXPECT_EQ(s.open("a"), (Said{"a closed 1013 storage_unavailable"}));
  EXPECT_EQ(s.submit({}), (Said{"answer storage_unavailable"}));
  EXPECT_EQ(s.cancel(1), (Said{"answer storage_unavailable"}));
  EXPECT_EQ(s.held_batches(), 0U);
}

TEST(Failure, WorkGoesOnAfterRestoredWithoutALoss) {
  Scenario s;
  s.worker("a").worker("b").study(3);
  s.ready("a");
  s.ready("b");
  s.hold();
  s.complete("a", 1, 0.5, true);  // neither committed nor acknowledged
  s.fail_batch();
  s.resume();
  s.restored();
  EXPECT_FALSE(s.dispatcher().counters().read_only);
  EXPECT_EQ(s.open("b", {AttemptId{2}}), (Said{"b < welcome #2"}));
  EXPECT_EQ(s.open("a", {AttemptId{1}}), (Said{"a < welcome #1"}));
  EXPECT_THAT(s.complete("a", 1, 0.5, true),
              Contains(HasSubstr("a < result_ack #1 accepted + lease")));
  EXPECT_EQ(s.last_lease().trial, TrialNumber{2});
}

TEST(Failure, OutcomesOfForgottenProposalsAreIgnored) {
  Scenario s;
  s.worker("a").study(1);
  s.hold();
  s.ready("a");
  s.fail_batch();
  s.restored();
  EXPECT_THAT(s.event(BatchCommitted{
                  {{TransitionId{2}, storage::Outcome{}}, {TransitionId{99}, storage::Outcome{}}}}),
              IsEmpty());
}

TEST(Restart, ReissuesWhatNobodyRuns) {
  Scenario s;
  s.worker("a").worker("b").study(4);
  s.ready("a");
  s.ready("b");
  s.release("b", 2);
  s.restart();
  s.worker("c").worker("d");
  EXPECT_THAT(s.ready("c"), Contains("c < lease #3 trial 1"));
  EXPECT_THAT(s.ready("d"), Contains("d < lease #4 trial 2"));
}

TEST(Restart, FindsATrialThatMetAConflictAndHasNoRow) {
  Scenario s;
  s.worker("a").worker("b").study(4);
  s.inject<storage::StartAttempt>(Applied::conflict);
  s.ready("a");
  ASSERT_EQ(s.last_lease().trial, TrialNumber{1});
  s.ready("b");
  s.complete("a", 2);
  s.restart();
  s.open("b", {AttemptId{3}});
  s.worker("a");
  s.ready("a");
  EXPECT_EQ(s.last_lease().trial, TrialNumber{0});
  s.complete("a", to_int(s.last_lease().attempt), 0.5, true);
  EXPECT_EQ(s.last_lease().trial, TrialNumber{3});
  s.complete("b", 3);
  s.complete("a", to_int(s.last_lease().attempt));
  EXPECT_EQ(s.accepted(), 4);
  EXPECT_EQ(s.store().studies.at(StudyId{1}).state, storage::StudyState::finished);
}

TEST(Restart, KeepsBudgets) {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  s.failed("a", 1, Cause::out_of_memory);
  s.restart();
  s.worker("a");
  s.ready("a");
  s.failed("a", 2, Cause::out_of_memory);
  EXPECT_EQ(s.store().studies.at(StudyId{1}).trials.at(0).state, storage::TrialState::failed);
}

TEST(Restart, R18_LateFailuresAreNotCountedAfterIt) {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  s.close("a", SessionClosed::How::lost);
  s.after(Settings{}.lease_ms + 1);
  s.worker("a").worker("b");
  s.failed("a", 1, Cause::user_error);  // late: its lease has expired
  s.ready("b");
  s.release("b", 2);
  s.failed("b", 2, Cause::user_error);  // late: it was released
  s.restart();
  EXPECT_EQ(s.store().studies.at(StudyId{1}).trials.at(0).state, storage::TrialState::running);
  s.worker("a");
  EXPECT_THAT(s.ready("a"), Contains("a < lease #3 trial 0"));
}

TEST(Restart, DrawsTheConsequenceOfAStoredFailure) {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  s.hold();
  s.failed("a", 1, Cause::user_error);
  s.commit(1);  // the failure is stored, FailTrial is not
  Scenario& later = s;
  later.restart();
  EXPECT_EQ(later.proposed(), (Said{"fail trial 0 user_error"}));
  later.resume();
  EXPECT_EQ(later.store().studies.at(StudyId{1}).state, storage::StudyState::finished);
}

TEST(Restart, R19_EndsAStudyWhoseLastResultWasStored) {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  s.hold();
  s.complete("a", 1);
  s.commit(1);
  s.restart();
  EXPECT_EQ(s.proposed(), (Said{"end study 1 finished"}));
}

TEST(Restart, R13_AResultThatWasStoredIsAcknowledgedAgain) {
  Scenario s;
  s.worker("a").study(2);
  s.ready("a");
  s.complete("a", 1, 0.9);
  s.restart();
  s.open("a", {AttemptId{1}});
  EXPECT_EQ(s.complete("a", 1, 0.9, true),
            (Said{"a < result_ack #1 accepted + lease #2 trial 1", "study 1 changed"}));
}

}  // namespace
}  // namespace hyperflock::dispatch
