// Tests of sessions, leases, time limits and waiting: R8 and R20 to R27.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/model/scenario.h"
#include "dispatch/state.h"  // kMaxPassedOver

namespace hyperflock::dispatch {
namespace {

using protocol::PulseState;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using How = SessionClosed::How;
using storage::AttemptState;

// Returns a state in which "a" holds attempt 1 of trial 0 of study 1.
Scenario leased(StudyOptions options = {}) {
  Scenario s;
  s.worker("a").study(std::move(options));
  s.ready("a");
  return s;
}

AttemptState state_of(const Scenario& s, std::int64_t attempt) {
  return s.store().attempts.at(AttemptId{attempt}).state;
}

TEST(Session, R8_SecondSessionOfADeviceClosesTheFirst) {
  Scenario s;
  s.worker("a");
  EXPECT_EQ(s.open("a"), (Said{"former a closed 4001 replaced", "a < welcome"}));
  s.study(1);
  EXPECT_THAT(s.ready("a"), Contains("a < lease #1 trial 0"));
}

TEST(Session, R8_TheReplacedOnesCloseAndMessagesAreIgnored) {
  Scenario s = leased();
  const SessionId first = s.session_of("a").value();
  s.open("a", {AttemptId{1}});
  EXPECT_THAT(s.event(SessionClosed{first, How::clean}), IsEmpty());
  EXPECT_THAT(s.event(MessageReceived{first, protocol::Ready{}}), IsEmpty());
  EXPECT_EQ(state_of(s, 1), AttemptState::live);
}

TEST(Lease, R20_EachMessageThatNamesTheAttemptRenewsIt) {
  Scenario s = leased();
  const Millis nearly = kLeaseMs - 1;
  s.after(nearly);
  s.beat("a", 1, 1);
  s.after(nearly);
  s.report("a", 1, 1, {{0, 0.5}});
  s.after(nearly);
  s.should_prune("a", 1, {});
  s.after(nearly);
  EXPECT_EQ(state_of(s, 1), AttemptState::live);
  s.after(1);
  EXPECT_EQ(state_of(s, 1), AttemptState::expired);
}

TEST(Lease, R20_AMessageThatNamesNoneDoesNot) {
  Scenario s = leased();
  s.after(kLeaseMs - 1);
  s.tell("a", protocol::Heartbeat{});
  s.after(1);
  EXPECT_EQ(state_of(s, 1), AttemptState::expired);
}

TEST(Lease, R20_AnotherDeviceCannotRenewIt) {
  Scenario s = leased();
  s.worker("b");
  s.after(kLeaseMs - 1);
  s.beat("b", 1, 5);
  s.after(1);
  EXPECT_EQ(state_of(s, 1), AttemptState::expired);
}

TEST(Lease, R21_WorkerThatReconnectsKeepsIt) {
  Scenario s = leased();
  s.close("a", How::lost);
  s.after(kLeaseMs - 1);
  EXPECT_EQ(s.open("a", {AttemptId{1}}), (Said{"a < welcome #1"}));
  s.after(kLeaseMs - 1);  // the hello that names the attempt renewed its lease
  EXPECT_THAT(s.complete("a", 1), Contains("a < result_ack #1 accepted"));
}

TEST(Lease, R21_AttemptsNotNamedAreReleasedAtOnce) {
  Scenario s = leased();
  s.worker("b");
  s.ready("b");
  s.close("a", How::lost);
  EXPECT_EQ(s.open("a"), (Said{"a < welcome", "b < lease #2 trial 0", "study 1 changed"}));
  EXPECT_EQ(state_of(s, 1), AttemptState::released);
}

TEST(Lease, R21_AnExpiredOrForeignAttemptIsNotConfirmed) {
  Scenario s = leased({.trials = 2});
  s.worker("b");
  s.ready("b");
  s.close("a", How::lost);
  s.after(kLeaseMs + 1);
  EXPECT_EQ(s.open("a", {AttemptId{1}, AttemptId{2}, AttemptId{99}}), (Said{"a < welcome"}));
}

TEST(Lease, R21_LeaseStillBeingCommittedWhenItsDeviceComesBackIsReleased) {
  Scenario s;
  s.worker("a").study(1);
  s.hold();
  s.ready("a");
  s.open("a");
  EXPECT_THAT(s.ready("a"), ElementsAre("a < wait no_work"));  // #1 is under way
  EXPECT_THAT(s.resume(), ElementsAre("a < lease #2 trial 0", "study 1 changed"));
  EXPECT_EQ(state_of(s, 1), AttemptState::released);
  EXPECT_EQ(s.dispatcher().counters().leased, 1);
}

TEST(Lease, R22_ReleaseGivesTheTrialToTheNextAtOnce) {
  Scenario s = leased();
  s.worker("b");
  EXPECT_EQ(s.ready("b"), (Said{"b < wait no_work"}));
  EXPECT_EQ(s.release("a", 1),
            (Said{"a < ack #1 seq 2", "b < lease #2 trial 0", "study 1 changed"}));
  EXPECT_EQ(s.proposed(), (Said{"end #1 released", "start #2 trial 0 on b"}));
}

TEST(Lease, R22_CleanCloseReleasesAtOnce) {
  Scenario s = leased();
  s.worker("b");
  s.ready("b");
  EXPECT_EQ(s.close("a", How::clean), (Said{"b < lease #2 trial 0", "study 1 changed"}));
}

TEST(Lease, R22_AnyOtherEndLeavesTheLeaseRunning) {
  Scenario s = leased();
  s.worker("b");
  s.ready("b");
  EXPECT_THAT(s.close("a", How::lost), IsEmpty());
  EXPECT_THAT(s.after(kLeaseMs - 1), IsEmpty());
  EXPECT_THAT(s.after(1), ElementsAre("b < lease #2 trial 0", "study 1 changed"));
  EXPECT_EQ(s.store().attempts.at(AttemptId{1}).failure.value().cause,
            protocol::Cause::worker_lost);
}

TEST(Lease, R22_LostSessionKeepsALeaseThatIsStillBeingCommitted) {
  Scenario s;
  s.worker("a").study(1);
  s.hold();
  s.ready("a");
  s.close("a", How::lost);
  EXPECT_THAT(s.resume(), ElementsAre("study 1 changed"));
  EXPECT_EQ(state_of(s, 1), AttemptState::live);
  s.after(kLeaseMs);
  EXPECT_EQ(state_of(s, 1), AttemptState::expired);
}

TEST(Lease, R22_CleanCloseReleasesALeaseThatIsStillBeingCommitted) {
  Scenario s;
  s.worker("a").study(1);
  s.hold();
  s.ready("a");
  s.close("a", How::clean);
  s.resume();
  EXPECT_EQ(state_of(s, 1), AttemptState::released);
  EXPECT_THAT(s.worker("b").ready("b"), Contains("b < lease #2 trial 0"));
}

TEST(Clocks, R23_SilentAgentIsLost) {
  Scenario s = leased();
  EXPECT_THAT(s.after(kLeaseMs - 1), IsEmpty());
  s.after(1);
  EXPECT_EQ(state_of(s, 1), AttemptState::expired);
}

// Sends heartbeats every 10 s for `duration`. Their progress grows if `moves` is true.
Said beats(Scenario& s, Millis duration, PulseState state, bool moves) {
  Said said;
  std::int64_t progress = 1;
  for (Millis t = 0; t < duration; t += 10'000) {
    for (std::string& line : s.after(10'000)) said.push_back(std::move(line));
    for (std::string& line : s.beat("a", 1, moves ? progress++ : 1, state)) {
      if (line != "a < ack") said.push_back(std::move(line));
    }
  }
  return said;
}

TEST(Clocks, R23_NoProgressWhileRunningIsStalled) {
  Scenario s = leased({.stall_ms = 60'000});
  EXPECT_THAT(beats(s, 50'000, PulseState::running, false), IsEmpty());
  EXPECT_THAT(beats(s, 40'000, PulseState::running, false), Contains("a < revoke #1 stalled"));
  EXPECT_EQ(s.store().attempts.at(AttemptId{1}).failure.value().cause, protocol::Cause::timeout);
  EXPECT_EQ(s.store().studies.at(StudyId{1}).trials.at(0).state, storage::TrialState::failed);
}

TEST(Clocks, R23_ProgressALongLoadOrACallKeepItAlive) {
  for (const PulseState state :
       {PulseState::running, PulseState::loading, PulseState::waiting_call}) {
    Scenario s = leased({.stall_ms = 60'000});
    EXPECT_THAT(beats(s, 300'000, state, state == PulseState::running), IsEmpty());
    EXPECT_EQ(state_of(s, 1), AttemptState::live);
  }
}

TEST(Clocks, R23_StallCountsFromTheReturnToRunning) {
  Scenario s = leased({.stall_ms = 60'000});
  beats(s, 100'000, PulseState::waiting_call, false);
  EXPECT_THAT(beats(s, 60'000, PulseState::running, false), IsEmpty());
  EXPECT_THAT(beats(s, 20'000, PulseState::running, false), Contains("a < revoke #1 stalled"));
}

TEST(Clocks, R23_NothingIsStalledBeforeItsPaceIsKnown) {
  Scenario s = leased();
  EXPECT_THAT(beats(s, 3'000'000, PulseState::running, false), IsEmpty());
}

TEST(Clocks, R23_TimeLimitOfTheObjectiveRevokesFirst) {
  Scenario s = leased({.time_limit_ms = 100'000});
  beats(s, 10'000, PulseState::running, true);  // the run began with the first heartbeat
  EXPECT_THAT(beats(s, 90'000, PulseState::running, true), IsEmpty());
  EXPECT_THAT(s.after(9'999), IsEmpty());
  EXPECT_THAT(s.after(1), Contains("a < revoke #1 timeout"));
  EXPECT_EQ(s.store().studies.at(StudyId{1}).trials.at(0).failure.value().code, "time_limit");
}

TEST(Clocks, R23_LoadingDoesNotCountAsTheObjectivesTime) {
  Scenario s = leased({.time_limit_ms = 100'000});
  EXPECT_THAT(beats(s, 500'000, PulseState::loading, false), IsEmpty());
  EXPECT_THAT(beats(s, 150'000, PulseState::running, true), Contains("a < revoke #1 timeout"));
}

TEST(Clocks, R23_LoadingEndsToo) {
  Scenario s = leased();
  EXPECT_THAT(beats(s, 610'000, PulseState::loading, false), Contains("a < revoke #1 timeout"));
  EXPECT_EQ(s.store().studies.at(StudyId{1}).trials.at(0).failure.value().code, "loading_timeout");
}

TEST(Clocks, R24_AfterARestartEachLiveAttemptHasOneFullLease) {
  Scenario s = leased();
  s.after(kLeaseMs - 1);
  s.restart();
  s.after(kLeaseMs - 1);
  EXPECT_EQ(s.open("a", {AttemptId{1}}), (Said{"a < welcome #1"}));
  EXPECT_THAT(s.complete("a", 1), Contains("a < result_ack #1 accepted"));
}

TEST(Clocks, R24_AfterARestartALeaseStillEnds) {
  Scenario s = leased();
  s.restart();
  s.worker("b");
  s.ready("b");
  EXPECT_THAT(s.after(kLeaseMs), Contains("b < lease #2 trial 0"));
}

TEST(Clocks, R25_HeartbeatsAreNeverDurable) {
  Scenario s = leased();
  EXPECT_EQ(s.beat("a", 1, 5), (Said{"a < ack"}));
  EXPECT_THAT(s.proposed(), IsEmpty());
}

TEST(Wait, R26_DelayIsJittered) {
  Scenario s;
  s.worker("a");
  std::set<std::int64_t> delays;
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(s.ready("a"), (Said{"a < wait no_work"}));
    EXPECT_GE(s.last_delay(), Settings{}.wait_ms / 2);
    EXPECT_LE(s.last_delay(), Settings{}.wait_ms);
    delays.insert(s.last_delay());
  }
  EXPECT_GT(delays.size(), 40U);
}

TEST(Wait, R26_WorkIsOfferedAtOnceInTheOrderOfAsking) {
  Scenario s;
  s.worker("a").worker("b").worker("c");
  s.ready("b");
  s.ready("c");
  s.ready("a");
  s.ready("b");  // a second request keeps its place
  EXPECT_THAT(s.submit({.trials = 2}),
              ElementsAre("answer study 1", "study 1 changed", "b < lease #1 trial 0",
                          "c < lease #2 trial 1", "study 1 changed"));
}

TEST(Wait, R26_AWorkerThatLeftIsNotOffered) {
  Scenario s;
  s.worker("a").worker("b");
  s.ready("a");
  s.ready("b");
  s.close("a", How::lost);
  EXPECT_THAT(s.submit({}), Contains("b < lease #1 trial 0"));
}

TEST(Wait, R26_AnotherProjectsWorkIsNotOffered) {
  Scenario s;
  s.worker("a");
  s.study({.trials = 5, .project = "q"});
  EXPECT_EQ(s.ready("a"), (Said{"a < wait no_work"}));
  s.open("b", {}, "q");
  EXPECT_THAT(s.ready("b"), Contains("b < lease #1 trial 0"));
}

TEST(Wait, R26_AWorkerThatCannotRunAStudyIsNotOfferedItAgain) {
  Scenario s = leased({.trials = 3});
  EXPECT_THAT(s.release("a", 1, protocol::ReleaseReason::cannot_run), Contains("a < ack #1 seq 2"));
  EXPECT_EQ(s.ready("a"), (Said{"a < wait no_matching_work"}));
  EXPECT_THAT(s.worker("b").ready("b"), Contains("b < lease #2 trial 0"));
  EXPECT_THAT(s.submit({}), Contains("a < lease #3 trial 0"));
}

TEST(Wait, R26_WorkersThatRefusedDoNotHideThoseBehindThem) {
  Scenario s;
  s.study(100);
  for (int i = 0; i < 40; ++i) {
    const std::string name = "w" + std::to_string(i);
    s.worker(name);
    s.ready(name);
    s.release(name, i + 1, protocol::ReleaseReason::cannot_run);
    s.ready(name);
  }
  s.worker("a");
  EXPECT_THAT(s.ready("a"), Contains(HasSubstr("a < lease #41")));
}

TEST(Wait, R26_NorHoweverManyForWhomThereIsNothing) {
  Scenario s;
  s.study({.trials = 3, .backend = "webgpu"});
  for (int i = 0; i < 3 * kMaxPassedOver; ++i) {
    const std::string name = "w" + std::to_string(i);
    s.worker(name);
    EXPECT_THAT(s.ready(name), ElementsAre(name + " < wait no_matching_work"));
  }
  s.worker("gpu 1").worker("gpu 2");
  EXPECT_THAT(s.ready("gpu 1"), Contains("gpu 1 < lease #1 trial 0"));
  EXPECT_THAT(s.ready("gpu 2"), Contains("gpu 2 < lease #2 trial 1"));
  EXPECT_THAT(s.complete("gpu 1", 1, 0.5, true),
              Contains("gpu 1 < result_ack #1 accepted + lease #3 trial 2"));
}

TEST(Lease, R27_OneOpenAttemptADevice) {
  Scenario s = leased({.trials = 3});
  EXPECT_EQ(s.ready("a"), (Said{"a < error too_many_leases"}));
  s.complete("a", 1);
  EXPECT_THAT(s.ready("a"), Contains("a < lease #2 trial 1"));
}

TEST(Lease, R27_OneThatIsStillBeingCommittedCounts) {
  Scenario s;
  s.worker("a").study(3);
  s.hold();
  s.ready("a");
  EXPECT_EQ(s.ready("a"), (Said{"a < error too_many_leases"}));
}

TEST(Lease, R27_TheLimitIsASetting) {
  Scenario s({.max_leases = 2});
  s.worker("a").study(3);
  s.ready("a");
  EXPECT_THAT(s.ready("a"), Contains("a < lease #2 trial 1"));
  EXPECT_EQ(s.ready("a"), (Said{"a < error too_many_leases"}));
}

TEST(Drain, NothingMoreIsLeasedAndResultsAreStillTaken) {
  Scenario s = leased({.trials = 3});
  s.worker("b");
  s.drain();
  EXPECT_EQ(s.ready("b"), (Said{"b < wait draining"}));
  EXPECT_THAT(s.complete("a", 1, 0.5, true),
              ElementsAre("a < result_ack #1 accepted", "a < wait draining", "study 1 changed"));
  s.study(1);
  EXPECT_EQ(s.dispatcher().counters().leased, 0);
}

TEST(DiskRoom, R66_WithoutItResultsAreTakenAndNothingIsLeasedUntilItIsBack) {
  Scenario s = leased({.trials = 3});
  s.worker("b");
  s.room(false);
  EXPECT_EQ(s.ready("b"), (Said{"b < wait read_only"}));
  EXPECT_EQ(s.report("a", 1, 1, {{1, 0.5}}), (Said{"a < error no_room", "a < ack #1 seq 1"}));
  EXPECT_EQ(s.should_prune("a", 1, {{2, 0.5}}), (Said{"a < reply go on"}));
  EXPECT_THAT(s.proposed(), IsEmpty());
  EXPECT_THAT(s.complete("a", 1, 0.5, true),
              ElementsAre("a < result_ack #1 accepted", "a < wait read_only", "study 1 changed"));
  EXPECT_EQ(s.dispatcher().counters().leased, 0);
  EXPECT_THAT(s.room(false), IsEmpty());
  EXPECT_THAT(s.room(true),
              AllOf(Contains("b < lease #2 trial 1"), Contains("a < lease #3 trial 2")));
  EXPECT_EQ(s.report("b", 2, 1, {{1, 0.5}}), (Said{"b < ack #2 seq 1"}));
}

TEST(Device, RevokedDeviceIsStoppedAndItsTrialGoesOn) {
  Scenario s = leased();
  s.worker("b");
  s.ready("b");
  EXPECT_EQ(s.revoke_device("a"),
            (Said{"a < revoke #1 device_revoked", "a closed 4003 device_revoked",
                  "b < lease #2 trial 0", "study 1 changed"}));
  EXPECT_EQ(state_of(s, 1), AttemptState::revoked);
  EXPECT_THAT(s.revoke_device("nobody"), IsEmpty());
}

// An erasure removes the device's name from all rows in one transaction. A lease that is proposed
// after it would store the name again.
TEST(Device, NothingIsLeasedToADeviceWhileItIsErased) {
  Scenario s;
  s.worker("a").worker("b").worker("c");
  s.ready("a");
  s.erase_device("a", DeviceErasing::Step::begins);
  s.erase_device("b", DeviceErasing::Step::begins);
  EXPECT_THAT(s.ready("b"), IsEmpty());
  s.study({.trials = 3});
  EXPECT_EQ(s.dispatcher().counters().leased, 0);
  EXPECT_THAT(s.ready("c"), Contains("c < lease #1 trial 0"));
  s.revoke_device("a");
  EXPECT_THAT(s.erase_device("b", DeviceErasing::Step::failed), Contains("b < lease #2 trial 1"));
}

TEST(Device, AnErasureThatFailsServesTheSessionThatAskedAndNoLaterOne) {
  Scenario s;
  s.worker("a");
  s.ready("a");
  s.erase_device("a", DeviceErasing::Step::begins);
  s.open("a", {}, "p");  // replaces the session whose request waits
  s.study(1);
  EXPECT_THAT(s.erase_device("a", DeviceErasing::Step::failed), IsEmpty());
  EXPECT_THAT(s.ready("a"), Contains("a < lease #1 trial 0"));
}

TEST(Workers, AreListedWithWhatTheyCompute) {
  Scenario s = leased();
  s.worker("b");
  const std::vector<WorkerView> workers = s.dispatcher().workers({}).workers;
  ASSERT_EQ(workers.size(), 2U);
  EXPECT_EQ(workers[0].device, "a");
  EXPECT_EQ(workers[0].attempt, AttemptId{1});
  EXPECT_EQ(workers[0].trial, (TrialKey{StudyId{1}, TrialNumber{0}}));
  EXPECT_EQ(workers[1].device, "b");
  EXPECT_FALSE(workers[1].attempt.has_value());
  EXPECT_EQ(s.dispatcher().counters().workers, 2);
  EXPECT_EQ(s.dispatcher().counters().leased, 1);
}

// ---- the duration of an attempt that the server ended

protocol::RunMetrics times_of(const Scenario& s, std::int64_t attempt) {
  return s.store().attempts.at(AttemptId{attempt}).metrics;
}

TEST(Times, R23_AnAttemptThatRanTooLongKeepsItsTimes) {
  Scenario s;
  s.worker("a").study({.time_limit_ms = 60'000});
  s.ready("a");
  s.after(5'000);
  for (int i = 1; i <= 3; ++i) {
    s.beat("a", 1, i);
    s.after(20'000);
  }
  EXPECT_EQ(s.store().attempts.at(AttemptId{1}).failure->code, "time_limit");
  EXPECT_EQ(times_of(s, 1), (protocol::RunMetrics{5'000, 60'000}));
}

TEST(Times, R20_ASilentDeviceHasRunUntilItsLastMessage) {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  s.after(5'000);
  s.beat("a", 1, 1);
  s.after(7'000);
  s.beat("a", 1, 2);
  s.close("a", SessionClosed::How::lost);
  s.after(Settings{}.lease_ms + 1);
  EXPECT_EQ(s.store().attempts.at(AttemptId{1}).failure->code, "lease_expired");
  EXPECT_EQ(times_of(s, 1), (protocol::RunMetrics{5'000, 7'000}));
}

TEST(Times, R23_AnAttemptThatNeverRanHasOnlyLoaded) {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  s.after(2'000);
  s.release("a", 1);
  EXPECT_EQ(times_of(s, 1), (protocol::RunMetrics{2'000, 0}));
}

}  // namespace
}  // namespace hyperflock::dispatch
