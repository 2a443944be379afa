// Tests of rejected attempts: their trials run again on other devices (R71).
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
using ::testing::Not;
using How = SessionClosed::How;

const ModelStore::StudyState& stored_study(const Scenario& s) {
  return s.store().studies.at(StudyId{1});
}
const ModelStore::TrialState& stored_trial(const Scenario& s, std::int64_t number = 0) {
  return stored_study(s).trials.at(number);
}

// Both trials of a study have the result of device a.
Scenario computed_by_a() {
  Scenario s;
  s.worker("a").worker("b").study(2);
  s.ready("a");
  s.complete("a", 1);
  s.ready("a");
  s.complete("a", 2);
  return s;
}

TEST(Reject, R71_TrialsOfAFinishedStudyRunAgainOnAnotherDevice) {
  Scenario s = computed_by_a();
  ASSERT_EQ(stored_study(s).state, storage::StudyState::finished);
  EXPECT_THAT(s.reject(1, "a"), Contains("answer study 1 rejected 2, again 2"));
  EXPECT_EQ(stored_study(s).state, storage::StudyState::running);
  EXPECT_THAT(s.ready("a"), ElementsAre("a < wait no_matching_work"));
  EXPECT_THAT(s.ready("b"), Contains("b < lease #3 trial 0"));
  EXPECT_THAT(s.complete("b", 3, 0.5, true),
              Contains("b < result_ack #3 accepted + lease #4 trial 1"));
  s.complete("b", 4);
  EXPECT_EQ(stored_study(s).state, storage::StudyState::finished);
  EXPECT_THAT(s.reject(1, "a"), Contains("answer study 1 rejected 0, again 0"));
}

TEST(Reject, R71_AnIdleDeviceGetsTheTrialAtOnce) {
  Scenario s = computed_by_a();
  s.ready("b");
  s.ready("a");
  EXPECT_THAT(s.reject(1, "a", 1), Contains("b < lease #3 trial 1"));
}

TEST(Reject, R71_TrialsWaitAgainInTheOrderOfTheirAttempts) {
  Scenario s({.max_leases = 2});
  s.worker("a").worker("b").study(2);
  s.ready("b");
  s.ready("a");
  s.release("b", 1);
  s.ready("a");
  s.restart();  // attempts are restored in the order of their trials
  s.open("a", {AttemptId{2}, AttemptId{3}});
  s.worker("b");
  s.reject(1, "a");
  EXPECT_THAT(s.ready("b"), Contains("b < lease #4 trial 1"));
}

TEST(Reject, R71_TheDeviceStaysExcludedAfterARestartAndAReissue) {
  Scenario s = computed_by_a();
  s.reject(1, "a", 1);
  s.restart();
  s.worker("a").worker("b");
  EXPECT_THAT(s.ready("a"), ElementsAre("a < wait no_matching_work"));
  s.ready("b");
  s.failed("b", 3, Cause::user_error);
  ASSERT_EQ(stored_trial(s, 1).state, storage::TrialState::failed);
  s.reissue(1);
  EXPECT_THAT(s.ready("a"), ElementsAre("a < wait no_matching_work"));
  EXPECT_THAT(s.ready("b"), Contains("b < lease #4 trial 1"));
}

TEST(Reject, R71_ADeviceThatIsExcludedFromOneTrialGetsTheOthers) {
  Scenario s;
  s.worker("a").worker("b").study(3);
  s.ready("a");
  s.complete("a", 1);
  s.reject(1, "a", 0);
  EXPECT_THAT(s.ready("a"), Contains("a < lease #2 trial 1"));
  EXPECT_THAT(s.complete("a", 2, 0.5, true), Contains(HasSubstr("lease #3 trial 2")));
  EXPECT_THAT(s.ready("b"), Contains("b < lease #4 trial 0"));
}

TEST(Reject, R71_AnIdleDeviceGetsATrialThatComesBehindThoseThatExcludeIt) {
  Scenario s = computed_by_a();
  s.reject(1, "a", 0);
  s.ready("a");  // waits, because trial 0 excludes it
  s.extend(1, 3);
  EXPECT_THAT(s.store().attempts, ::testing::SizeIs(3));
  EXPECT_EQ(s.store().attempts.at(AttemptId{3}).trial.number, TrialNumber{2});
}

TEST(Reject, R71_ARunningAttemptIsRevokedAndItsLateResultIsEvidence) {
  Scenario s;
  s.worker("a").worker("b").study(1);
  s.ready("a");
  s.ready("b");
  EXPECT_THAT(s.reject(1, "a"),
              ::testing::IsSupersetOf({"a < revoke #1 cancelled", "b < lease #2 trial 0"}));
  EXPECT_THAT(s.complete("a", 1), Contains("a < result_ack #1 evidence"));
  EXPECT_THAT(s.complete("b", 2), Contains("b < result_ack #2 accepted"));
}

TEST(Reject, R71_AResultThatIsUnderWayIsRejectedToo) {
  Scenario s;
  s.worker("a").worker("b").study(1);
  s.ready("a");
  s.hold();
  s.complete("a", 1);
  s.reject(1, "a");
  EXPECT_THAT(s.commit(), ::testing::IsSupersetOf({"a < result_ack #1 accepted",
                                                   "answer study 1 rejected 1, again 1"}));
  s.resume();
  EXPECT_EQ(stored_study(s).state, storage::StudyState::running);
  EXPECT_THAT(s.ready("b"), Contains("b < lease #2 trial 0"));
}

TEST(Reject, R71_TheOtherAttemptOfASpeculatedTrialGoesOn) {
  Scenario s;
  s.worker("a").worker("b").study(3);
  for (const std::int64_t attempt : {1, 2}) {
    s.ready("a");
    s.after(30'000);
    s.beat("a", attempt, 1);
    s.complete("a", attempt, static_cast<double>(attempt));
  }
  s.ready("a");
  s.beat("a", 3, 1);
  s.after(40'000);
  s.beat("a", 3, 2);
  s.after(30'000);
  s.beat("a", 3, 3);
  ASSERT_THAT(s.ready("b"), Contains(HasSubstr("b < lease #4 trial 2 again")));
  s.reject(1, "a", 2);
  EXPECT_EQ(s.store().attempts.at(AttemptId{4}).state, storage::AttemptState::live);
  EXPECT_THAT(s.complete("b", 4), Contains("b < result_ack #4 accepted"));
}

TEST(Reject, R71_FailuresOfARejectedAttemptAreGivenBack) {
  Scenario s;
  s.worker("a").worker("b").study(1);
  s.ready("a");
  s.failed("a", 1, Cause::user_error);
  ASSERT_EQ(stored_study(s).state, storage::StudyState::finished);
  EXPECT_THAT(s.reject(1, "a"), Contains("answer study 1 rejected 1, again 1"));
  EXPECT_THAT(s.ready("b"), Contains("b < lease #2 trial 0"));
  s.complete("b", 2);
  EXPECT_EQ(s.accepted(), 1);
}

TEST(Reject, R71_AFailureThatIsStoredAfterTheRejectionDoesNotStay) {
  Scenario s;
  s.worker("a").worker("b").study(1);
  s.ready("a");
  s.hold();
  s.failed("a", 1, Cause::user_error);
  s.commit(1);  // the result; FailTrial waits
  s.reject(1, "a");
  s.resume();
  EXPECT_EQ(stored_trial(s).state, storage::TrialState::running);
  EXPECT_THAT(s.ready("b"), Contains("b < lease #2 trial 0"));
}

TEST(Reject, R71_OtherFailuresStillCount) {
  Scenario s;
  s.worker("a").worker("b").worker("c").study(1);
  for (const std::string worker : {"b", "a"}) {
    s.after(60'000);
    s.worker(worker);
    s.ready(worker);
    s.failed(worker, worker == "b" ? 1 : 2, Cause::device_lost);
  }
  s.reject(1, "a");
  for (const std::int64_t attempt : {3, 4}) {
    ASSERT_EQ(stored_trial(s).state, storage::TrialState::running);
    s.after(60'000);
    s.worker("c");
    s.ready("c");
    s.failed("c", attempt, Cause::device_lost);
  }
  EXPECT_EQ(stored_trial(s).state, storage::TrialState::failed);  // the third one that counts
}

TEST(Reject, R71_TheNextAttemptBeginsWithoutItsCheckpoint) {
  Scenario s;
  s.worker("a").worker("b").worker("c").study(1);
  s.ready("a");
  s.checkpoint("a", 1, 77);
  s.release("a", 1);
  s.ready("b");
  s.ready("c");
  // The attempt of b began with the checkpoint. It is revoked, but b may get the trial again.
  EXPECT_THAT(s.reject(1, "a"),
              ::testing::IsSupersetOf({"b < revoke #2 cancelled", "c < lease #3 trial 0"}));
  s.release("c", 3);
  EXPECT_THAT(s.ready("b"), Contains("b < lease #4 trial 0"));
}

TEST(Reject, R71_ALeaseThatIsUnderWayBeginsWithoutTheCheckpoint) {
  Scenario s;
  s.worker("a").worker("b").study(1);
  s.ready("a");
  s.checkpoint("a", 1, 77);
  s.release("a", 1);
  s.hold();
  s.reject(1, "a");
  s.ready("b");
  EXPECT_THAT(s.resume(), Contains("b < lease #2 trial 0"));
  EXPECT_THAT(s.troubles(), IsEmpty());
}

TEST(Reject, R71_PiecesFollowEachOtherAndOtherCommitsGoBetween) {
  Scenario s(Settings{.rejection_trials = 2});
  s.worker("a").worker("b").study(5);
  for (std::int64_t attempt = 1; attempt <= 5; ++attempt) {
    s.ready("a");
    s.complete("a", attempt, static_cast<double>(attempt));
  }
  s.hold();
  s.reject(1, "a");
  EXPECT_THAT(s.proposed(), ElementsAre("reject from trial 0"));
  s.commit(1);
  EXPECT_EQ(stored_trial(s, 1).state, storage::TrialState::running);
  EXPECT_EQ(stored_trial(s, 2).state, storage::TrialState::complete);
  // A device may get a trial of the first piece before the second piece. Its attempt is not meant.
  s.ready("b");
  EXPECT_THAT(s.resume(), Contains("answer study 1 rejected 5, again 5"));
  EXPECT_THAT(s.complete("b", 6), Contains("b < result_ack #6 accepted"));
}

TEST(Reject, R71_TwoRejectionsAtOnceRejectEachAttemptOnce) {
  Scenario s = computed_by_a();
  s.hold();
  s.reject(1, "a");
  s.reject(1, "a");
  EXPECT_THAT(s.resume(), ::testing::IsSupersetOf({"answer study 1 rejected 2, again 2",
                                                   "answer study 1 rejected 0, again 0"}));
}

TEST(Reject, R71_AStudyDoesNotFinishBetweenTwoPieces) {
  Scenario s(Settings{.rejection_trials = 1});
  s.worker("a").worker("b").study(2);
  s.ready("b");
  s.complete("b", 1);
  s.ready("a");
  s.hold();
  s.complete("a", 2);
  s.reject(1, "a");
  s.resume();
  EXPECT_EQ(stored_study(s).state, storage::StudyState::running);
  EXPECT_EQ(s.store().attempts.size(), 2U);
  EXPECT_THAT(s.ready("b"), Contains("b < lease #3 trial 1"));
}

TEST(Reject, R71_AFailureOfStorageAnswersTheRequest) {
  Scenario s = computed_by_a();
  s.hold();
  s.reject(1, "a");
  EXPECT_THAT(s.fail_batch(), Contains("answer storage_unavailable"));
  s.restored();
  s.resume();
  EXPECT_EQ(s.accepted(), 2);
  EXPECT_THAT(s.reject(1, "a"), Contains("answer study 1 rejected 2, again 2"));
}

TEST(Reject, R71_AStudyWithoutOtherResultsPausesItselfAgain) {
  Scenario s;
  s.worker("a").worker("b").study(StudyOptions{.trials = 3, .max_failures = 1});
  s.ready("a");
  s.complete("a", 1);
  s.reject(1, "a");
  s.ready("b");
  s.failed("b", 2, Cause::user_error);
  EXPECT_TRUE(stored_study(s).paused);
}

TEST(Reject, R71_ATrialOfAnAskAndTellStudyDoesNotRunAgain) {
  Scenario s;
  s.worker("a").study(StudyOptions{.directions = 1});
  s.claim("m", 1);
  s.asks("m", {0}, 1);
  s.ready("a");
  s.complete("a", 1);
  EXPECT_THAT(s.reject(1, "a"), Contains("answer study 1 rejected 1, again 0"));
  EXPECT_EQ(stored_trial(s).state, storage::TrialState::failed);
  EXPECT_EQ(stored_trial(s).failure->code, storage::kResultRejected);
  EXPECT_THAT(s.says("m", {.taken = 1}),
              Contains(HasSubstr("finished t0 complete, finished t0 failed result_rejected")));
  s.reject(1, "a");  // it was rejected before
  EXPECT_THAT(s.says("m", {.taken = 2}), Not(Contains(HasSubstr("finished"))));
}

TEST(Reject, R71_AnOwnerLearnsNothingOfTrialsThatKeepTheirResultOrHaveNone) {
  Scenario s;
  s.worker("a").worker("b").study(StudyOptions{.directions = 1});
  s.claim("m", 1);
  s.asks("m", {0, 1}, 2);
  s.ready("a");
  s.ready("b");
  s.complete("b", 2);
  s.reject(1, "a");
  EXPECT_THAT(s.says("m", {.taken = 1}), Not(Contains(HasSubstr("finished t0"))));
  EXPECT_THAT(s.ready("b"), Contains(HasSubstr("lease")));  // trial 0 waits for another device
}

TEST(Reject, R71_AnUnknownStudyAndACancelledOne) {
  Scenario s = computed_by_a();
  EXPECT_THAT(s.reject(7, "a"), ElementsAre("answer unknown_study"));
  s.study(1);
  s.ready("b");
  s.complete("b", 3);
  s.study(2);
  s.ready("b");
  s.complete("b", 4);
  s.cancel(3);
  EXPECT_THAT(s.reject(3, "b"), Contains("answer study 3 rejected 1, again 0"));
  EXPECT_EQ(s.store().studies.at(StudyId{3}).state, storage::StudyState::cancelled);
  EXPECT_THAT(s.ready("a"), Not(Contains(HasSubstr("lease"))));
}

}  // namespace
}  // namespace hyperflock::dispatch
