// Tests the rules of administrators: stops, approvals and ceilings (R67, R68).
#include <gtest/gtest.h>

#include "dispatch/model/scenario.h"

namespace hyperflock::dispatch {
namespace {

using storage::CeilingScope;

// Removes lines that only say that a row has changed.
Said without_changes(Said said) {
  std::erase_if(said, [](const std::string& line) { return line.ends_with(" changed"); });
  return said;
}

TEST(Stops, AFrozenProjectRunsNothingUntilTheFreezeIsLifted) {
  Scenario s;
  s.worker("a").study(2);
  s.ready("a");
  EXPECT_EQ(s.stop(Stopped::project, "p"),
            (Said{"a < revoke #1 operator_stopped", "study 1 changed"}));
  EXPECT_EQ(s.ready("a"), Said{"a < wait no_work"});
  EXPECT_EQ(without_changes(s.stop(Stopped::project, "p", false)),
            Said{"a < lease #2 trial 0"});  // the same trial, which lost nothing
}

TEST(Stops, ADeviceGoesOnToTheWorkOfSomebodyElse) {
  Scenario s;
  s.worker("a").study({.owner = "ada"}).study({.owner = "eve"});
  s.ready("a");
  s.stop(Stopped::researcher, "ada");
  EXPECT_EQ(without_changes(s.ready("a")), Said{"a < lease #2 trial 0"});
  EXPECT_EQ(s.last_lease().owner, "eve");
}

TEST(Stops, EndAttemptsWithoutAFailureOfTheTrial) {
  Scenario s;
  s.worker("a").study({.trials = 1, .max_failures = 1});
  for (int i = 0; i < 30; ++i) {  // more often than any cause may fail a trial
    s.ready("a");
    s.stop(Stopped::code, "f");
    s.stop(Stopped::code, "f", false);
    s.release("a", to_int(s.last_lease().attempt));
  }
  const auto& study = s.store().studies.at(StudyId{1});
  EXPECT_EQ(study.trials.at(0).state, storage::TrialState::running);
  EXPECT_FALSE(study.paused);
  const auto& first = s.store().attempts.at(AttemptId{1});
  EXPECT_EQ(first.state, storage::AttemptState::revoked);
  EXPECT_EQ(first.failure->code, "operator_stopped");
}

TEST(Stops, ALeaseThatWasProposedBeforeIsNotSent) {
  Scenario s;
  s.worker("a").study(1);
  s.hold();
  s.ready("a");
  s.stop(Stopped::researcher, "ada");
  EXPECT_EQ(without_changes(s.resume()), Said{"a < wait no_work"});
  EXPECT_EQ(s.store().attempts.at(AttemptId{1}).state, storage::AttemptState::revoked);
}

TEST(Stops, OutliveARestart) {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  s.stop(Stopped::project, "p");
  s.restart();
  s.worker("a");
  EXPECT_EQ(s.ready("a"), Said{"a < wait no_work"});
}

TEST(Stops, AServerThatDiedBeforeItEndedTheAttemptsEndsThemAfterItsStart) {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  s.hold();
  s.stop(Stopped::project, "p");  // the attempt's end is not written
  EXPECT_EQ(s.store().attempts.at(AttemptId{1}).state, storage::AttemptState::live);
  s.restart();
  s.resume();
  EXPECT_EQ(s.store().attempts.at(AttemptId{1}).state, storage::AttemptState::revoked);
  EXPECT_EQ(s.open("a", {AttemptId{1}}), Said{"a < welcome"});
}

TEST(Stops, ALateResultOfAStoppedAttemptStillCounts) {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  s.stop(Stopped::project, "p");
  EXPECT_EQ(without_changes(s.complete("a", 1)), Said{"a < result_ack #1 accepted"});
}

TEST(Stops, TheOwnerOfAStudyIsAskedForNothing) {
  Scenario s;
  s.worker("a").study({.directions = 1});
  s.claim("m", 1);
  s.says("m", {.room = 3});
  s.stop(Stopped::project, "p");
  EXPECT_EQ(s.ready("a"), Said{"a < wait no_work"});
  s.asks("m", {0}, 2);
  EXPECT_EQ(s.ready("a"), Said{"a < wait no_work"});
  const Said said = without_changes(s.stop(Stopped::project, "p", false));
  EXPECT_EQ(said.front(), "a < lease #1 trial 0");
}

TEST(Stops, ABarStopsAttemptsThatRunAnEarlierVersionOfTheCode) {
  Scenario s;
  s.worker("a").worker("b").study(2);
  s.ready("a");
  s.ready("b");
  s.failed("a", 1, protocol::Cause::user_error);
  s.reissue(1, "g");
  s.ready("a");
  EXPECT_EQ(without_changes(s.stop(Stopped::code, "f")),
            (Said{"b < revoke #2 operator_stopped", "a < revoke #3 operator_stopped"}));
  EXPECT_EQ(without_changes(s.ready("b")).size(), 1U);  // the study itself goes on
  EXPECT_EQ(to_int(s.last_lease().attempt), 4);
}

TEST(Approval, NothingIsLeasedBeforeIt) {
  Scenario s;
  s.worker("a").study({.awaits_approval = true});
  EXPECT_EQ(s.ready("a"), Said{"a < wait no_work"});
  s.restart();
  s.worker("a");
  EXPECT_EQ(s.ready("a"), Said{"a < wait no_work"});
  EXPECT_EQ(without_changes(s.judge(1, true)), (Said{"answer study 1", "a < lease #1 trial 0"}));
  EXPECT_EQ(s.judge(1, false), Said{"answer not_waiting"});
  EXPECT_EQ(s.judge(7, true), Said{"answer unknown_study"});
}

TEST(Approval, ARefusedStudyIsCancelled) {
  Scenario s;
  s.worker("a").study({.awaits_approval = true});
  EXPECT_EQ(without_changes(s.judge(1, false)), Said{"answer study 1"});
  EXPECT_EQ(s.store().studies.at(StudyId{1}).state, storage::StudyState::cancelled);
  EXPECT_EQ(s.extend(1, 5), Said{"answer study_cancelled"});
  EXPECT_EQ(s.reissue(1), Said{"answer study_cancelled"});
}

TEST(Approval, NoLeaseRunsOtherCodeBeforeIt) {
  Scenario s;
  s.worker("a").worker("b").study(3);
  s.ready("a");
  s.failed("a", 1, protocol::Cause::user_error);
  s.hold();
  s.reissue(1, "g", Scenario::Keeps::nothing, true);
  EXPECT_EQ(s.ready("a"), Said{"a < wait no_work"});  // the new code is not stored yet
  s.resume();
  EXPECT_EQ(s.ready("b"), Said{"b < wait no_work"});
  EXPECT_EQ(without_changes(s.judge(1, true)).size(), 3U);  // the answer and two leases
}

TEST(Approval, IsNotNeededWhenTheOtherCodeIsRefused) {
  Scenario s;
  s.worker("a").study(2);
  EXPECT_EQ(s.reissue(1, "g", Scenario::Keeps::nothing, true), Said{"answer no_failed_trial"});
  EXPECT_EQ(without_changes(s.ready("a")), Said{"a < lease #1 trial 0"});
}

TEST(Approval, AnExtendedStudyAwaitsIt) {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  s.complete("a", 1);
  s.extend(1, 5, true);
  EXPECT_EQ(s.ready("a"), Said{"a < wait no_work"});
}

TEST(Ceilings, LimitTheDevicesOfAResearcherInAllProjects) {
  Scenario s;
  s.worker("a").worker("b");
  s.open("e", {}, "q");
  s.study({.trials = 3, .owner = "ada"}).study({.project = "q", .owner = "ada"});
  s.limit(CeilingScope::researcher, "ada", {.devices = 1});
  s.ready("a");
  EXPECT_EQ(s.ready("b"), Said{"b < wait no_matching_work"});
  EXPECT_EQ(s.ready("e"), Said{"e < wait no_matching_work"});
  EXPECT_EQ(without_changes(s.complete("a", 1)),
            (Said{"a < result_ack #1 accepted", "b < lease #2 trial 1"}));
  EXPECT_EQ(without_changes(s.limit(CeilingScope::researcher, "ada", {})),
            Said{"e < lease #3 trial 0"});
}

TEST(Ceilings, LimitTheDevicesOfAProject) {
  Scenario s;
  s.worker("a").worker("b").study({.owner = "ada"}).study({.owner = "eve"});
  s.limit(CeilingScope::project, "p", {.devices = 1});
  s.ready("a");
  EXPECT_EQ(s.ready("b"), Said{"b < wait no_matching_work"});
}

TEST(Ceilings, AStudyWithoutALimitOfTimeHasThatOfTheServer) {
  Scenario s;
  s.worker("a").study(1);
  s.limit(CeilingScope::server, "", {.time_limit_ms = 100'000});
  s.ready("a");
  EXPECT_EQ(s.last_lease().time_limit_ms, 100'000);
  for (int i = 0; i < 3; ++i) {
    s.beat("a", 1, i);
    EXPECT_EQ(s.after(30'000), Said{});
  }
  s.beat("a", 1, 9);
  EXPECT_EQ(without_changes(s.after(11'000)).at(0), "a < revoke #1 timeout");
}

TEST(Ceilings, ALowerLimitOfTimeEndsAttemptsThatRunTooLongAlready) {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  s.beat("a", 1, 1);
  s.after(40'000);
  s.beat("a", 1, 2);
  s.limit(CeilingScope::project, "p", {.time_limit_ms = 20'000});
  EXPECT_EQ(without_changes(s.after(1)).at(0), "a < revoke #1 timeout");
}

}  // namespace
}  // namespace hyperflock::dispatch
