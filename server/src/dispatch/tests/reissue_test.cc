// Tests of failed trials: when a trial fails and is not issued again (R18, also with the code
// `poison`), and when a reissue brings failed trials back (R33), perhaps with other code (R64).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/model/scenario.h"

namespace hyperflock::dispatch {
namespace {

using protocol::Cause;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using How = SessionClosed::How;

// Waits until the trial's back-off has ended. Then `worker` takes the trial and is lost with it.
void lose_with(Scenario& s, const std::string& worker) {
  s.after(60'000);
  s.worker(worker);
  s.ready(worker);
  s.close(worker, How::lost);
  s.after(kLeaseMs + 1);
}

const ModelStore::TrialState& trial_of(const Scenario& s, std::int64_t number = 0) {
  return s.store().studies.at(StudyId{1}).trials.at(number);
}

storage::StudyState study_state(const Scenario& s) {
  return s.store().studies.at(StudyId{1}).state;
}

TEST(Poison, R18_ThreeDifferentDevicesLostWithATrialMakeItPoison) {
  Scenario s;
  s.study(1);
  for (const std::string worker : {"a", "b"}) {
    lose_with(s, worker);
    ASSERT_EQ(trial_of(s).state, storage::TrialState::running);
  }
  lose_with(s, "c");
  EXPECT_EQ(trial_of(s).state, storage::TrialState::failed);
  EXPECT_EQ(trial_of(s).failure->cause, Cause::worker_lost);
  EXPECT_EQ(trial_of(s).failure->code, "poison");
  EXPECT_EQ(study_state(s), storage::StudyState::finished);
}

TEST(Poison, R18_OneDeviceThatComesAndGoesDoesNotPoison) {
  Scenario s;
  s.study(1);
  for (int nth = 1; nth < 20; ++nth) {
    lose_with(s, nth % 2 == 0 ? "a" : "b");
    ASSERT_EQ(trial_of(s).state, storage::TrialState::running) << nth;
  }
  lose_with(s, "a");
  EXPECT_EQ(trial_of(s).failure->code, "lease_expired");  // after the budget of 20
}

TEST(Poison, R18_DevicesAreCountedOverARestart) {
  Scenario s;
  s.study(1);
  lose_with(s, "a");
  lose_with(s, "b");
  s.restart();
  lose_with(s, "c");
  EXPECT_EQ(trial_of(s).failure->code, "poison");
}

TEST(Poison, R18_AnotherStudyGoesOn) {
  Scenario s;
  s.study(1);
  for (const std::string worker : {"a", "b", "c"}) lose_with(s, worker);
  s.study(1);
  s.worker("d");
  EXPECT_THAT(s.ready("d"), Contains("d < lease #4 trial 0"));
  EXPECT_THAT(s.complete("d", 4), Contains("d < result_ack #4 accepted"));
}

TEST(Quarantine, R18_ATrialThatFailedIsNotIssuedAgain) {
  Scenario s;
  s.worker("a").study(2);
  s.ready("a");
  s.failed("a", 1, Cause::user_error);
  EXPECT_EQ(trial_of(s).failure->traceback, "traceback");
  EXPECT_THAT(s.ready("a"), Contains("a < lease #2 trial 1"));
  EXPECT_THAT(s.complete("a", 2, 0.5, true), Contains("a < wait no_work"));
}

TEST(Reissue, R33_BringsBackQuarantinedAndPoisonedTrialsInOneCall) {
  Scenario s;
  s.study(2);
  for (const std::string worker : {"a", "b", "c"}) lose_with(s, worker);
  s.worker("a");
  s.ready("a");
  s.failed("a", 4, Cause::user_error);
  ASSERT_EQ(study_state(s), storage::StudyState::finished);
  s.ready("a");
  EXPECT_EQ(s.reissue(1),
            (Said{"answer study 1", "study 1 changed", "a < lease #5 trial 0", "study 1 changed"}));
  EXPECT_EQ(study_state(s), storage::StudyState::running);
  EXPECT_THAT(s.complete("a", 5, 0.5, true),
              Contains("a < result_ack #5 accepted + lease #6 trial 1"));
  EXPECT_THAT(s.complete("a", 6), Contains("a < result_ack #6 accepted"));
  EXPECT_EQ(study_state(s), storage::StudyState::finished);
  EXPECT_EQ(s.accepted(), 2);
}

TEST(Reissue, R33_ForgivesWhatWasLost) {
  Scenario s;
  s.study(1);
  for (const std::string worker : {"a", "b", "c"}) lose_with(s, worker);
  s.reissue(1);
  for (const std::string worker : {"a", "b"}) {
    lose_with(s, worker);
    ASSERT_EQ(trial_of(s).state, storage::TrialState::running);
  }
  s.restart();  // the failures are also forgiven in storage
  EXPECT_EQ(trial_of(s).state, storage::TrialState::running);
  lose_with(s, "c");
  EXPECT_EQ(trial_of(s).failure->code, "poison");
}

TEST(Reissue, R33_InAStudyThatRunsOthersAreLeftAlone) {
  Scenario s;
  s.worker("a").worker("b").study(3);
  s.ready("a");
  s.failed("a", 1, Cause::user_error, true);
  s.ready("b");
  EXPECT_EQ(s.reissue(1), (Said{"answer study 1", "study 1 changed"}));
  EXPECT_THAT(s.complete("a", 2, 0.5, true), Contains(HasSubstr("lease #4 trial 0")));
  s.complete("b", 3);
  s.complete("a", 4);
  EXPECT_EQ(s.accepted(), 3);
  EXPECT_EQ(study_state(s), storage::StudyState::finished);
}

TEST(Reissue, R33_WithNothingFailedChangesNothing) {
  Scenario s;
  s.worker("a").study(1);
  EXPECT_EQ(s.reissue(1), (Said{"answer study 1"}));
  s.ready("a");
  s.complete("a", 1);
  EXPECT_EQ(s.reissue(1), (Said{"answer study 1"}));
  EXPECT_EQ(study_state(s), storage::StudyState::finished);
}

TEST(Reissue, R33_OfACancelledOrUnknownStudyIsRefused) {
  Scenario s;
  s.worker("a").study(2);
  s.ready("a");
  s.failed("a", 1, Cause::user_error);
  s.cancel(1);
  EXPECT_EQ(s.reissue(1), (Said{"answer study_cancelled"}));
  EXPECT_EQ(s.reissue(9), (Said{"answer unknown_study"}));
  EXPECT_EQ(study_state(s), storage::StudyState::cancelled);
}

TEST(Reissue, R33_AStudyDoesNotEndWhileItsReissueIsOnItsWay) {
  Scenario s;
  s.worker("a").study(2);
  s.ready("a");
  s.failed("a", 1, Cause::user_error, true);
  s.hold();
  s.reissue(1);
  s.complete("a", 2);  // the last open trial in memory
  s.resume();
  EXPECT_EQ(study_state(s), storage::StudyState::running);
  EXPECT_THAT(s.ready("a"), Contains("a < lease #3 trial 0"));
  s.complete("a", 3);
  EXPECT_EQ(study_state(s), storage::StudyState::finished);
}

TEST(Reissue, R33_ReopensAStudyWhoseEndIsOnItsWay) {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  s.hold();
  s.failed("a", 1, Cause::user_error);
  s.commit();
  s.commit();  // the trial has failed, and the end of the study is proposed
  ASSERT_EQ(s.proposed(), (Said{"end study 1 finished"}));
  s.reissue(1);
  s.reissue(1);  // the second request has nothing to do
  s.resume();
  EXPECT_EQ(study_state(s), storage::StudyState::running);
  EXPECT_THAT(s.ready("a"), Contains("a < lease #2 trial 0"));
  s.complete("a", 2);
  EXPECT_EQ(study_state(s), storage::StudyState::finished);
}

TEST(Reissue, R33_CancelWinsOverAReissueBeforeIt) {
  Scenario s;
  s.worker("a").study(2);
  s.ready("a");
  s.failed("a", 1, Cause::user_error);
  s.hold();
  s.reissue(1);
  s.cancel(1);
  s.resume();
  EXPECT_EQ(study_state(s), storage::StudyState::cancelled);
  EXPECT_EQ(s.dispatcher().counters().queued, 0);
}

TEST(Reissue, R12_ALateResultCountsForAReissueedTrial) {
  Scenario s;
  s.study(2);
  lose_with(s, "a");
  s.worker("b");
  s.ready("b");
  s.failed("b", 2, Cause::user_error);
  s.reissue(1);
  EXPECT_EQ(s.dispatcher().counters().queued, 1);
  s.worker("a");
  EXPECT_THAT(s.complete("a", 1), Contains("a < result_ack #1 accepted"));
  EXPECT_EQ(s.dispatcher().counters().queued, 0);
  EXPECT_THAT(s.ready("b"), Contains("b < lease #3 trial 1"));
}

TEST(Reissue, R33_IsAnsweredWhenStorageFails) {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  s.failed("a", 1, Cause::user_error);
  s.hold();
  s.reissue(1);
  EXPECT_THAT(s.fail_batch(), Contains("answer storage_unavailable"));
  EXPECT_EQ(s.reissue(1), (Said{"answer storage_unavailable"}));
  s.restored();
  s.resume();
  s.reissue(1);
  EXPECT_EQ(study_state(s), storage::StudyState::running);
}

TEST(Revocation, R34_ARevokedDeviceGetsNoSessionEvenWhenItWasCheckedJustBefore) {
  Scenario s;
  s.worker("a").study(1);
  s.revoke_device("a");
  EXPECT_EQ(s.open("a"), (Said{"a closed 4003 device_revoked"}));
  s.restart();
  EXPECT_EQ(study_state(s), storage::StudyState::running);
  s.revoke_device("b");  // it never had a session here
  EXPECT_EQ(s.open("b"), (Said{"b closed 4003 device_revoked"}));
  EXPECT_THAT(s.open("c"), Not(IsEmpty()));
}

// ---- other code (R64)

using Keeps = Scenario::Keeps;

// A study of three trials: the first failed, the second runs on device b, the third has not begun.
Scenario one_failed() {
  Scenario s;
  s.worker("a").worker("b").study(3);
  s.ready("a");
  s.ready("b");
  s.failed("a", 1, Cause::user_error);
  return s;
}

TEST(OtherCode, R64_LeasesThatFollowRunIt) {
  Scenario s = one_failed();
  EXPECT_EQ(s.last_lease().entry, "m:f");
  EXPECT_THAT(s.reissue(1, "g"), Contains("answer study 1"));
  EXPECT_THAT(s.ready("a"), Contains("a < lease #3 trial 0"));
  EXPECT_EQ(s.last_lease().entry, "m:g");
  EXPECT_THAT(s.complete("b", 2, 0.5, true), Contains(HasSubstr("result_ack #2 accepted")));
  EXPECT_EQ(s.last_lease().entry, "m:g");  // also the trial that had not begun
  s.restart();
  s.worker("c");
  s.release("c", 9);
  EXPECT_EQ(s.store().attempts.at(AttemptId{2}).code, 1);
  EXPECT_EQ(s.store().attempts.at(AttemptId{3}).code, 2);
}

TEST(OtherCode, R64_ItNeedsAFailedTrial) {
  Scenario s;
  s.worker("a").study(2);
  EXPECT_EQ(s.reissue(1, "g"), Said{"answer no_failed_trial"});
  s.ready("a");
  EXPECT_EQ(s.last_lease().entry, "m:f");
}

TEST(OtherCode, R64_AStudyEndsAlthoughOtherCodeWasRefused) {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  s.hold();
  s.reissue(1, "g");
  s.complete("a", 1);
  s.resume();
  EXPECT_EQ(study_state(s), storage::StudyState::finished);
}

TEST(OtherCode, R64_ALeaseOfTheSameMomentRunsWhatIsStoredWithIt) {
  Scenario s = one_failed();
  s.hold();
  s.ready("a");  // the third trial, before the change
  s.reissue(1, "g");
  s.worker("c").ready("c");
  s.commit(1);
  EXPECT_EQ(s.last_lease().entry, "m:f");
  s.resume();
  s.ready("c");
  EXPECT_EQ(s.last_lease().entry, "m:g");
  for (const auto& [id, attempt] : s.store().attempts)
    EXPECT_EQ(attempt.code, to_int(id) > 3 ? 2 : 1);
}

TEST(OtherCode, R64_CheckpointsOfTheEarlierCodeAreNotHandedOn) {
  for (const Keeps keeps : {Keeps::nothing, Keeps::checkpoints}) {
    Scenario s = one_failed();
    s.checkpoint("b", 2, 7);
    s.reissue(1, "g", keeps);
    s.checkpoint("b", 2, 8);  // the device does not know of the change
    s.release("b", 2);
    s.worker("c");
    const bool kept = keeps == Keeps::checkpoints;
    EXPECT_THAT(s.ready("c"), Contains("c < lease #3 trial 0"));
    s.worker("d");
    EXPECT_THAT(s.ready("d"),
                Contains(kept ? "d < lease #4 trial 1 from #2/8" : "d < lease #4 trial 1"));
    EXPECT_THAT(s.troubles(), IsEmpty());
  }
}

TEST(OtherCode, R64_ALeaseThatWasDecidedBeforeBeginsWithoutACheckpoint) {
  Scenario s = one_failed();
  s.checkpoint("b", 2, 7);
  s.hold();
  s.reissue(1, "g");
  s.release("b", 2);
  s.worker("c").ready("c");
  s.resume();
  EXPECT_EQ(s.last_lease().checkpoint, std::nullopt);
  EXPECT_EQ(s.last_lease().entry, "m:g");
}

}  // namespace
}  // namespace hyperflock::dispatch
