// Tests of results (accepted or kept as evidence), repeated messages and failures: R10 to R19.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/model/scenario.h"

namespace hyperflock::dispatch {
namespace {

using protocol::Cause;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Not;
using How = SessionClosed::How;

// "a" holds attempt 1 of trial 0 until its lease expires. Then "b" holds attempt 2 of that trial.
Scenario two_attempts_of_one_trial() {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  s.close("a", How::lost);
  s.after(kLeaseMs + 1);
  s.worker("b");
  EXPECT_EQ(s.ready("b"), (Said{"b < lease #2 trial 0", "study 1 changed"}));
  s.worker("a");
  return s;
}

// Worker "a" asks for work and waits for the end of the back-off, if any. Returns its new attempt.
std::int64_t lease_after_back_off(Scenario& s) {
  s.ready("a");
  if (s.dispatcher().counters().leased == 0)
    s.after(s.dispatcher().next_deadline().value() - s.now());
  return to_int(s.last_lease().attempt);
}

TEST(Attempt, R10_AttemptIdsAreNeverReused) {
  Scenario s;
  s.worker("a").study(3);
  EXPECT_THAT(s.ready("a"), Contains("a < lease #1 trial 0"));
  s.release("a", 1);
  EXPECT_THAT(s.ready("a"), Contains("a < lease #2 trial 0"));
  s.restart();
  s.worker("a");
  EXPECT_THAT(s.ready("a"), Contains("a < lease #3 trial 0"));
}

TEST(Attempt, R11_FirstResultIsAcceptedAndItsTrialFinished) {
  Scenario s;
  s.worker("a").study(2);
  s.ready("a");
  EXPECT_EQ(s.complete("a", 1, 0.9), (Said{"a < result_ack #1 accepted", "study 1 changed"}));
  EXPECT_EQ(s.store().studies.at(StudyId{1}).trials.at(0).accepted, AttemptId{1});
}

TEST(Attempt, R11_APrunedResultCountsToo) {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  protocol::TrialResult pruned;
  pruned.attempt = AttemptId{1};
  pruned.seq = 1;
  pruned.outcome = protocol::Outcome::pruned;
  EXPECT_THAT(s.tell("a", pruned), Contains("a < result_ack #1 accepted"));
  EXPECT_EQ(s.store().studies.at(StudyId{1}).state, storage::StudyState::finished);
}

TEST(Attempt, R12_LateResultIsAcceptedWhileTheTrialHasNone) {
  Scenario s = two_attempts_of_one_trial();
  EXPECT_THAT(s.complete("a", 1, 0.9),
              ElementsAre("b < revoke #2 superseded", "a < result_ack #1 accepted",
                          "study 1 changed", "study 1 changed"));
  EXPECT_EQ(s.accepted(), 1);
}

TEST(Attempt, R12_LateResultTakesAWaitingTrialOutOfTheQueue) {
  Scenario s;
  s.worker("a").study(2);
  s.ready("a");
  s.close("a", How::lost);
  s.after(kLeaseMs + 1);
  EXPECT_EQ(s.dispatcher().counters().queued, 1);
  s.worker("a");
  s.complete("a", 1);
  EXPECT_EQ(s.dispatcher().counters().queued, 0);
  EXPECT_THAT(s.ready("a"), Contains("a < lease #2 trial 1"));
}

TEST(Attempt, R13_SecondResultIsEvidenceAndNoError) {
  Scenario s = two_attempts_of_one_trial();
  EXPECT_THAT(s.complete("b", 2, 0.7), Contains("b < result_ack #2 accepted"));
  EXPECT_EQ(s.complete("a", 1, 0.9), (Said{"a < result_ack #1 evidence"}));
  EXPECT_EQ(s.accepted(), 1);
}

TEST(Attempt, R13_AFailureIsRecorded) {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  EXPECT_THAT(s.failed("a", 1, Cause::device_lost), Contains("a < result_ack #1 recorded"));
}

TEST(Attempt, R14_SameResultAgainGetsTheSameAnswerAndChangesNothing) {
  Scenario s;
  s.worker("a").study(2);
  s.ready("a");
  s.complete("a", 1, 0.9);
  EXPECT_EQ(s.complete("a", 1, 0.1), (Said{"a < result_ack #1 accepted"}));
  EXPECT_EQ(s.store().attempts.at(AttemptId{1}).values, std::vector<double>{0.9});
}

TEST(Attempt, R14_SameResultAgainBeforeTheCommit) {
  Scenario s;
  s.worker("a").study(2);
  s.ready("a");
  s.hold();
  EXPECT_THAT(s.complete("a", 1), IsEmpty());
  EXPECT_THAT(s.complete("a", 1), IsEmpty());
  EXPECT_EQ(s.resume(),
            (Said{"a < result_ack #1 accepted", "study 1 changed", "a < result_ack #1 accepted"}));
}

TEST(Attempt, R14_NoPromiseLeavesBeforeItsCommit) {
  Scenario s;
  s.worker("a").worker("b").study(3);
  s.hold();
  EXPECT_THAT(s.ready("a"), IsEmpty());
  EXPECT_EQ(s.commit(), (Said{"a < lease #1 trial 0", "study 1 changed"}));
  EXPECT_THAT(s.report("a", 1, 1, {{0, 0.5}}), IsEmpty());
  EXPECT_EQ(s.commit(), (Said{"a < ack #1 seq 1"}));
  EXPECT_THAT(s.complete("a", 1, 0.5, true), IsEmpty());
  EXPECT_EQ(s.commit(), (Said{"a < result_ack #1 accepted + lease #2 trial 1", "study 1 changed"}));
  EXPECT_THAT(s.release("a", 2), IsEmpty());
  EXPECT_EQ(s.commit(), (Said{"a < ack #2 seq 2"}));
}

TEST(Attempt, R14_SameReportAndReleaseAgain) {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  EXPECT_EQ(s.report("a", 1, 1, {{0, 0.5}}), (Said{"a < ack #1 seq 1"}));
  EXPECT_EQ(s.report("a", 1, 1, {{0, 0.75}}), (Said{"a < ack #1 seq 1"}));
  EXPECT_EQ(s.store().points.at(AttemptId{1}).at(0), 0.5);
  EXPECT_EQ(s.release("a", 1), (Said{"a < ack #1 seq 2"}));
  EXPECT_EQ(s.release("a", 1), (Said{"a < ack #1 seq 2"}));
  EXPECT_EQ(s.report("a", 1, 2, {{1, 0.5}}), (Said{"a < ack #1 seq 2"}));
}

TEST(Attempt, R59_SeriesAreAcknowledgedAfterTheirCommitAlsoWithoutPoints) {
  Scenario s;
  s.worker("a").worker("b").study(2);
  s.ready("a");
  s.hold();
  EXPECT_THAT(s.log("a", 1, 1, "loss"), IsEmpty());
  EXPECT_EQ(s.commit(), (Said{"a < ack #1 seq 1"}));
  s.resume();
  EXPECT_EQ(s.log("a", 1, 1, "loss"), (Said{"a < ack #1 seq 1"}));
  EXPECT_EQ(s.store().logged.at(AttemptId{1}), std::set<std::int64_t>{1});
  EXPECT_EQ(s.log("b", 1, 1, "loss"), (Said{"b < error unknown_attempt"}));
}

TEST(Attempt, R59_SeriesAboveALimitAreRefusedAndThePointsKept) {
  Scenario s;
  s.worker("a").study(2);
  s.ready("a");
  EXPECT_EQ(s.log("a", 1, 1, kSeriesAboveLimit, {{0, 0.5}}), (Said{"a < error series_count"}));
  EXPECT_EQ(s.store().points.at(AttemptId{1}).at(0), 0.5);
  EXPECT_EQ(s.complete("a", 1), (Said{"a < result_ack #1 accepted", "study 1 changed"}));
}

TEST(Attempt, R15_NextLeaseComesWithTheAcknowledgementAndInOneBatch) {
  Scenario s;
  s.worker("a").study(2);
  s.ready("a");
  EXPECT_EQ(s.complete("a", 1, 0.5, true),
            (Said{"a < result_ack #1 accepted + lease #2 trial 1", "study 1 changed"}));
  EXPECT_EQ(s.proposed(), (Said{"store #1", "start #2 trial 1 on a"}));
}

TEST(Attempt, R15_WaitFollowsWhereNothingIsLeft) {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  EXPECT_EQ(s.complete("a", 1, 0.5, true), (Said{"a < result_ack #1 accepted", "a < wait no_work",
                                                 "study 1 changed", "study 1 changed"}));
}

TEST(Attempt, R15_AFailureMayAskForTheNextLeaseToo) {
  Scenario s;
  s.worker("a").study(2);
  s.ready("a");
  EXPECT_EQ(s.failed("a", 1, Cause::out_of_memory, true),
            (Said{"a < result_ack #1 recorded + lease #2 trial 1", "study 1 changed"}));
}

TEST(Attempt, R15_WorkThatTheResultItselfFreesIsLeasedAfterIt) {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  EXPECT_EQ(s.failed("a", 1, Cause::cancelled, true),
            (Said{"a < result_ack #1 recorded", "a < lease #2 trial 0", "study 1 changed"}));
}

TEST(Attempt, R16_AttemptOfAnotherDeviceOrOfNobodyIsUnknown) {
  Scenario s;
  s.worker("a").worker("b").study(1);
  s.ready("a");
  for (const std::int64_t attempt : {1, 77}) {
    EXPECT_EQ(s.complete("b", attempt), (Said{"b < error unknown_attempt"}));
    EXPECT_EQ(s.report("b", attempt, 1, {{0, 1}}), (Said{"b < error unknown_attempt"}));
    EXPECT_EQ(s.report("b", attempt, 1, {}), (Said{"b < error unknown_attempt"}));
    EXPECT_EQ(s.should_prune("b", attempt, {}), (Said{"b < error unknown_attempt"}));
    EXPECT_EQ(s.release("b", attempt), (Said{"b < error unknown_attempt"}));
  }
  s.complete("a", 1);
  EXPECT_EQ(s.complete("b", 1), (Said{"b < error unknown_attempt"}));
  EXPECT_EQ(s.release("b", 1), (Said{"b < error unknown_attempt"}));
  EXPECT_EQ(s.accepted(), 1);
}

TEST(Attempt, R16_AnAttemptThatIsOpenHereIsRefusedWithoutAskingStorage) {
  Scenario s;
  s.worker("a").worker("b").study(2);
  s.ready("a");
  EXPECT_EQ(s.complete("b", 1), (Said{"b < error unknown_attempt"}));
  EXPECT_THAT(s.proposed(), IsEmpty());
  s.hold();
  s.ready("b");
  EXPECT_EQ(s.complete("b", 2), (Said{"b < error unknown_attempt"}));  // a guess
  EXPECT_THAT(s.resume(), Contains("b < lease #2 trial 1"));
}

TEST(Attempt, R16_UnknownAttemptWithNextIsAnErrorAndStillGetsWork) {
  Scenario s;
  s.worker("a").study(1);
  EXPECT_EQ(s.complete("a", 77, 0.5, true),
            (Said{"a < error unknown_attempt", "a < lease #1 trial 0", "study 1 changed"}));
}

TEST(Attempt, R16_AFloodOfUnknownAttemptsIsLimitedWhileNothingCommits) {
  Scenario s;
  s.worker("a");
  s.hold();
  for (int i = 0; i < 64; ++i) EXPECT_THAT(s.complete("a", 100 + i), IsEmpty());
  EXPECT_EQ(s.complete("a", 200), (Said{"a < error rate_limited"}));
  EXPECT_EQ(s.report("a", 200, 1, {{0, 1}}), (Said{"a < error rate_limited"}));
  EXPECT_EQ(s.held_batches(), 64U);
  s.commit();
  EXPECT_THAT(s.complete("a", 200), IsEmpty());
  EXPECT_EQ(s.held_batches(), 1U);
}

TEST(Attempt, R17_OtherAttemptIsRevokedAndItsWorkerGoesOn) {
  Scenario s = two_attempts_of_one_trial();
  s.complete("a", 1);
  EXPECT_EQ(s.store().attempts.at(AttemptId{2}).state, storage::AttemptState::revoked);
  EXPECT_EQ(s.complete("b", 2), (Said{"b < result_ack #2 evidence"}));
  s.study(1);
  EXPECT_THAT(s.ready("b"), Contains("b < lease #3 trial 0"));
}

TEST(Attempt, R17_LeaseOnItsWayIsWithdrawnWhenTheTrialIsAccepted) {
  Scenario s;
  s.worker("a").worker("b").study(1);
  s.ready("a");
  s.close("a", How::lost);
  s.after(kLeaseMs + 1);
  s.worker("a");
  s.hold();
  s.complete("a", 1);  // is stored before the lease of "b"
  s.ready("b");        // the trial is still in the queue
  EXPECT_EQ(s.proposed(), (Said{"start #2 trial 0 on b"}));
  EXPECT_EQ(s.resume(), (Said{"a < result_ack #1 accepted", "study 1 changed", "b < wait no_work",
                              "study 1 changed"}));
  EXPECT_FALSE(s.store().attempts.contains(AttemptId{2}));
  EXPECT_EQ(s.dispatcher().counters().leased, 0);
}

struct Budget {
  Cause cause;
  int attempts;
};

class Budgets : public ::testing::TestWithParam<Budget> {};
INSTANTIATE_TEST_SUITE_P(Causes, Budgets,
                         ::testing::Values(Budget{Cause::worker_lost, 20},
                                           Budget{Cause::user_error, 1},
                                           Budget{Cause::out_of_memory, 2},
                                           Budget{Cause::device_lost, 3}, Budget{Cause::timeout, 1},
                                           Budget{Cause::invalid, 1}));

TEST_P(Budgets, R18_TheAttemptThatExhaustsItFailsTheTrialWithItsError) {
  Scenario s;
  s.worker("a").study(1);
  for (int nth = 1; nth <= GetParam().attempts; ++nth) {
    ASSERT_EQ(lease_after_back_off(s), nth);
    ASSERT_EQ(s.store().studies.at(StudyId{1}).trials.at(0).state, storage::TrialState::running)
        << nth;
    s.failed("a", nth, GetParam().cause);
  }
  const auto& trial = s.store().studies.at(StudyId{1}).trials.at(0);
  EXPECT_EQ(trial.state, storage::TrialState::failed);
  EXPECT_EQ(trial.failure, (protocol::Failure{GetParam().cause, "code", "message", "traceback"}));
  EXPECT_EQ(s.store().studies.at(StudyId{1}).state, storage::StudyState::finished);
}

TEST(Attempt, R18_CancelledDoesNotCount) {
  Scenario s;
  s.worker("a").study(1);
  for (int nth = 1; nth <= 30; ++nth) {
    ASSERT_EQ(lease_after_back_off(s), nth);
    s.failed("a", nth, Cause::cancelled);
    ASSERT_EQ(s.store().studies.at(StudyId{1}).trials.at(0).state, storage::TrialState::running);
  }
}

TEST(Attempt, R18_BackOffDoublesFromOneSecondToAMinuteWithJitter) {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  std::vector<Millis> delays;
  for (int nth = 1; nth <= 9; ++nth) {
    s.failed("a", nth, Cause::cancelled);  // this cause has no budget
    EXPECT_THAT(s.ready("a"), Contains(HasSubstr(nth == 1 ? "lease" : "wait"))) << nth;
    if (nth == 1) continue;
    const Instant due = s.dispatcher().next_deadline().value();
    delays.push_back(due - s.now());
    EXPECT_THAT(s.after(delays.back()), Contains(HasSubstr("lease")));
  }
  const std::vector<Millis> longest{1'000, 2'000, 4'000, 8'000, 16'000, 32'000, 60'000, 60'000};
  ASSERT_EQ(delays.size(), longest.size());
  for (std::size_t i = 0; i < delays.size(); ++i)
    EXPECT_THAT(delays[i], AllOf(Ge(longest[i] / 2), Le(longest[i])));
  EXPECT_NE(delays[6], delays[7]);
}

TEST(Attempt, R18_OutOfMemoryWaitsBeforeItsSecondAttempt) {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  s.failed("a", 1, Cause::out_of_memory);
  EXPECT_EQ(s.ready("a"), (Said{"a < wait no_work"}));
  EXPECT_THAT(s.after(1'000), Contains("a < lease #2 trial 0"));
}

TEST(Attempt, R18_LateFailureOfALostAttemptIsNotCountedTwice) {
  Scenario s = two_attempts_of_one_trial();
  EXPECT_EQ(s.failed("a", 1, Cause::user_error), (Said{"a < result_ack #1 recorded"}));
  EXPECT_EQ(s.store().studies.at(StudyId{1}).trials.at(0).state, storage::TrialState::running);
  EXPECT_THAT(s.complete("b", 2), Contains("b < result_ack #2 accepted"));
}

TEST(Attempt, R18_AResultBeforeTheFailureIsCommittedWins) {
  Scenario s = two_attempts_of_one_trial();
  s.hold();
  s.failed("b", 2, Cause::user_error);
  s.complete("a", 1);
  s.commit(1);  // the failure is recorded; FailTrial is proposed after it
  EXPECT_EQ(s.proposed(), (Said{"fail trial 0 user_error"}));
  EXPECT_THAT(s.resume(), Contains("a < result_ack #1 accepted"));
  EXPECT_EQ(s.store().studies.at(StudyId{1}).trials.at(0).state, storage::TrialState::complete);
  EXPECT_EQ(s.store().studies.at(StudyId{1}).state, storage::StudyState::finished);
}

TEST(Attempt, R12_AResultAfterTheTrialWasGivenUpIsAcceptedWhileTheStudyRuns) {
  Scenario s;
  s.worker("a").study(2);
  s.ready("a");
  s.close("a", How::lost);
  s.after(kLeaseMs + 1);
  s.worker("b");
  s.ready("b");
  s.failed("b", 2, Cause::user_error);
  EXPECT_EQ(s.store().studies.at(StudyId{1}).trials.at(0).state, storage::TrialState::failed);
  s.worker("a");
  EXPECT_THAT(s.complete("a", 1), Contains("a < result_ack #1 accepted"));
  EXPECT_EQ(s.store().studies.at(StudyId{1}).state,
            storage::StudyState::running);  // trial 1 is still open
  s.ready("b");
  s.complete("b", 3);
  EXPECT_EQ(s.store().studies.at(StudyId{1}).state, storage::StudyState::finished);
}

TEST(Attempt, R19_StudyIsFinishedWhenEachTrialIs) {
  Scenario s;
  s.worker("a").study(3);
  s.ready("a");
  s.complete("a", 1, 0.1, true);
  s.failed("a", 2, Cause::user_error, true);
  EXPECT_EQ(s.store().studies.at(StudyId{1}).state, storage::StudyState::running);
  s.complete("a", 3);
  EXPECT_EQ(s.proposed(), (Said{"store #3", "end study 1 finished"}));
  EXPECT_EQ(s.store().studies.at(StudyId{1}).state, storage::StudyState::finished);
}

TEST(Attempt, R19_FinishedStudiesLeaveNoTrace) {
  Scenario s;
  s.worker("a").study(50);
  s.ready("a");
  for (std::int64_t id = 1; id <= 50; ++id) s.complete("a", id, 0.5, true);
  EXPECT_EQ(s.accepted(), 50);
  const Counters counters = s.dispatcher().counters();
  EXPECT_EQ(counters.leased, 0);
  EXPECT_EQ(counters.queued, 0);
  EXPECT_FALSE(s.dispatcher().next_deadline().has_value());
}

TEST(Attempt, CallIsAnsweredAfterItsPointsAreCommitted) {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  EXPECT_EQ(s.should_prune("a", 1, {}), (Said{"a < reply go on"}));
  s.hold();
  EXPECT_THAT(s.should_prune("a", 1, {{3, 0.25}}), IsEmpty());
  EXPECT_EQ(s.resume(), (Said{"a < reply go on"}));
  EXPECT_EQ(s.store().points.at(AttemptId{1}).at(3), 0.25);
}

TEST(Attempt, UnknownMethodIsAnError) {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  EXPECT_EQ(s.tell("a", protocol::Call{1, AttemptId{1}, "suggest_dance"}),
            (Said{"a < error unknown_method"}));
}

TEST(Attempt, MessagesThatBelongToTheEdgeAreRefused) {
  Scenario s;
  s.worker("a");
  EXPECT_EQ(s.tell("a", protocol::Hello{}), (Said{"a < error unknown_type"}));
  EXPECT_EQ(s.tell("a", protocol::Watch{}), (Said{"a < error unknown_type"}));
}

}  // namespace
}  // namespace hyperflock::dispatch
