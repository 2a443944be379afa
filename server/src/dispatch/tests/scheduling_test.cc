// Tests which trial is next, what a lease contains, and how studies begin and end (R30 to R32).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/model/scenario.h"

namespace hyperflock::dispatch {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

protocol::StudySpec spec_of_two_names() {
  protocol::StudySpec spec;
  spec.name = "digits";
  spec.submit_key = "k";
  spec.entry = "digits_grid:objective";
  spec.bundle = {std::string(64, 'b'), 2048};
  spec.space = {{"\"c\"", {"4", "8"}}, {"\"rate\"", {"1.0", "0.5", "0.25"}}};
  spec.data = {{"images", "npy", "images.npy", {std::string(64, 'c'), 100}}};
  spec.seed = 42;
  spec.chainer = "7.8.1";
  spec.time_limit_ms = 60'000;
  return spec;
}

TEST(Scheduling, R30_TrialsFollowTheGridTheLastNameVaryingFastest) {
  Scenario s;
  s.worker("a");
  s.event(StudySubmitted{RequestId{1}, "ada", "p", spec_of_two_names()});
  std::vector<std::string> params;
  s.ready("a");
  for (std::int64_t id = 1; id <= 6; ++id) {
    params.push_back(s.last_lease().params);
    s.complete("a", id, 0.5, true);
  }
  EXPECT_THAT(params, ElementsAre(R"({"c":4,"rate":1.0})", R"({"c":4,"rate":0.5})",
                                  R"({"c":4,"rate":0.25})", R"({"c":8,"rate":1.0})",
                                  R"({"c":8,"rate":0.5})", R"({"c":8,"rate":0.25})"));
}

TEST(Scheduling, R30_AStudyOfABillionTrialsCostsNothingAtSubmit) {
  Scenario s;
  s.worker("a");
  protocol::StudySpec spec = spec_of_two_names();
  protocol::Dimension thousand{"\"x\"", {}};
  for (int i = 0; i < 1000; ++i) thousand.values_json.push_back(std::to_string(i));
  spec.space = {thousand, thousand, thousand};
  s.event(StudySubmitted{RequestId{1}, "ada", "p", spec});
  EXPECT_THAT(s.ready("a"), Contains("a < lease #1 trial 0"));
  EXPECT_EQ(s.last_lease().total, 1'000'000'000);
  EXPECT_EQ(s.dispatcher().counters().queued, 0);
}

TEST(Scheduling, R60_TrialsHaveThePointsOfTheirNumbers) {
  protocol::StudySpec spec = spec_of_two_names();
  spec.kind = protocol::StudyKind::sobol;
  spec.space = {{"\"x\"", {}, protocol::ValueRange{.low = 0, .high = 1}}, {"\"c\"", {"4", "8"}}};
  spec.trials = 1'000'000;
  Scenario s;
  s.worker("a");
  s.event(StudySubmitted{RequestId{1}, "ada", "p", spec});
  s.ready("a");
  for (std::int64_t number = 0; number < 3; ++number) {
    EXPECT_EQ(s.last_lease().total, 1'000'000);
    EXPECT_EQ(s.last_lease().params, protocol::trial_params(spec, number));
    s.complete("a", number + 1, 0.5, true);
  }
  EXPECT_EQ(s.dispatcher().counters().queued, 0);
}

TEST(Scheduling, R30_AListOfPointsEndsWithItsLastOne) {
  protocol::StudySpec spec = spec_of_two_names();
  spec.kind = protocol::StudyKind::points;
  spec.space = {{"\"c\"", {"4", "8"}}, {"\"rate\"", {"1.0", "[2]"}}};
  Scenario s;
  s.worker("a");
  s.event(StudySubmitted{RequestId{1}, "ada", "p", spec});
  s.ready("a");
  EXPECT_EQ(s.last_lease().params, R"({"c":4,"rate":1.0})");
  s.complete("a", 1, 0.5, true);
  EXPECT_EQ(s.last_lease().params, R"({"c":8,"rate":[2]})");
  EXPECT_EQ(s.last_lease().total, 2);
}

TEST(Scheduling, ALeaseSaysWhatTheTrialNeeds) {
  Scenario s;
  s.worker("a");
  s.event(StudySubmitted{RequestId{1}, "ada", "p", spec_of_two_names()});
  s.ready("a");
  const protocol::StudySpec spec = spec_of_two_names();
  EXPECT_EQ(s.last_lease(), (protocol::Lease{.attempt = AttemptId{1},
                                             .study = StudyId{1},
                                             .trial = TrialNumber{0},
                                             .kind = protocol::AttemptKind::primary,
                                             .study_name = "digits",
                                             .owner = "ada",
                                             .total = 6,
                                             .params = R"({"c":4,"rate":1.0})",
                                             .seed = protocol::trial_seed(42, 0),
                                             .entry = spec.entry,
                                             .bundle = spec.bundle,
                                             .data = spec.data,
                                             .chainer = "7.8.1",
                                             .time_limit_ms = 60'000,
                                             .lease_ms = Settings{}.lease_ms}));
}

TEST(Scheduling, R31_ReissuedTrialsGoBeforeNewOnes) {
  Scenario s;
  s.worker("a").worker("b").worker("c").study(10);
  s.ready("a");
  s.ready("b");
  s.release("b", 2);
  s.release("a", 1);
  EXPECT_THAT(s.ready("a"), Contains("a < lease #3 trial 1"));  // it was released first
  EXPECT_THAT(s.ready("b"), Contains("b < lease #4 trial 0"));
  EXPECT_THAT(s.ready("c"), Contains("c < lease #5 trial 2"));
}

TEST(Scheduling, R31_SmallStudyStartsWithinOneTrialBesideAHugeOne) {
  Scenario s;
  for (const char* name : {"a", "b", "c", "d"}) s.worker(name);
  s.study(1000);
  for (const char* name : {"a", "b", "c", "d"}) s.ready(name);
  s.study(2);
  EXPECT_THAT(s.complete("a", 1, 0.5, true),
              Contains("a < result_ack #1 accepted + lease #5 trial 0"));
  EXPECT_EQ(s.last_lease().study, StudyId{2});
  s.complete("b", 2, 0.5, true);
  EXPECT_EQ(s.last_lease().study, StudyId{2});
  s.complete("c", 3, 0.5, true);
  EXPECT_EQ(s.last_lease().study, StudyId{1});
}

TEST(Scheduling, R31_EqualStudiesShareOldestFirst) {
  Scenario s;
  s.study(10).study(10).study(10);
  std::vector<std::int64_t> studies;
  for (int i = 0; i < 6; ++i) {
    const std::string name = "w" + std::to_string(i);
    s.worker(name);
    s.ready(name);
    studies.push_back(to_int(s.last_lease().study));
  }
  EXPECT_THAT(studies, ElementsAre(1, 2, 3, 1, 2, 3));
}

TEST(Scheduling, R31_ALeaseThatIsStillBeingCommittedCountsAsRunning) {
  Scenario s;
  s.worker("a").worker("b").study(10).study(10);
  s.hold();
  s.ready("a");
  s.ready("b");
  s.resume();
  EXPECT_EQ(s.store().attempts.at(AttemptId{1}).trial.study, StudyId{1});
  EXPECT_EQ(s.store().attempts.at(AttemptId{2}).trial.study, StudyId{2});
}

TEST(Scheduling, R53_APausedStudyIsLeasedNoMoreAndWhatRunsCounts) {
  Scenario s;
  s.worker("a").worker("b").study(3);
  s.ready("a");
  EXPECT_THAT(s.pause(1), Contains("study 1 changed"));
  EXPECT_EQ(s.ready("b"), (Said{"b < wait no_work"}));
  EXPECT_THAT(s.complete("a", 1, 0.5, true), Contains("a < result_ack #1 accepted"));
  EXPECT_EQ(s.accepted(), 1);
  EXPECT_THAT(s.pause(1, false), Contains("b < lease #2 trial 1"));
}

TEST(Scheduling, R53_NothingIsLeasedOnceAPauseIsProposed) {
  Scenario s;
  s.worker("a").study(3);
  s.hold();
  s.pause(1);
  EXPECT_EQ(s.ready("a"), (Said{"a < wait no_work"}));
  s.pause(1, false);
  s.pause(1);
  // The resume is committed before the second pause, which is still under way.
  EXPECT_THAT(s.commit(2), Not(Contains(HasSubstr("lease"))));
  EXPECT_THAT(s.resume(), Not(Contains(HasSubstr("lease"))));
  EXPECT_TRUE(s.store().studies.at(StudyId{1}).paused);
  EXPECT_THAT(s.pause(1, false), Contains("a < lease #1 trial 0"));
}

TEST(Scheduling, R53_APauseOutlivesARestartAndAnotherStudyGoesOn) {
  Scenario s;
  s.study(2).study(1);
  s.pause(1);
  s.restart();
  s.worker("a");
  s.ready("a");
  EXPECT_EQ(s.last_lease().study, StudyId{2});
  s.complete("a", 1, 0.5, true);
  s.pause(1, false);
  EXPECT_EQ(s.last_lease().study, StudyId{1});
}

TEST(Scheduling, R32_SeedsOfTrialsComeFromTheStudysSeed) {
  Scenario s;
  s.worker("a");
  s.event(StudySubmitted{RequestId{1}, "ada", "p", spec_of_two_names()});
  s.ready("a");
  for (std::int64_t number = 0; number < 6; ++number) {
    EXPECT_EQ(s.last_lease().seed, protocol::trial_seed(42, number));
    s.complete("a", number + 1, 0.5, true);
  }
}

TEST(Scheduling, R40_ATrialGoesOnlyToADeviceThatHasWhatItsStudyAsks) {
  Scenario s;
  s.worker("a").worker("gpu");
  protocol::StudySpec spec = spec_of_two_names();
  spec.backend = "webgpu";
  s.event(StudySubmitted{RequestId{1}, "ada", "p", spec});
  s.ready("a");
  EXPECT_EQ(s.last_lease().attempt, AttemptId{0});
  EXPECT_THAT(s.ready("gpu"), Contains("gpu < lease #1 trial 0"));
  EXPECT_EQ(s.last_lease().backend, "webgpu");
  EXPECT_EQ(s.store().attempts.at(AttemptId{1}).adapter, "test gpu");
}

TEST(Scheduling, R40_WhoMayNotRunAStudyGetsAnother) {
  Scenario s;
  s.worker("a");
  protocol::StudySpec spec = spec_of_two_names();
  spec.requires_device.memory_mb = 8'192;  // a has 4,096
  s.event(StudySubmitted{RequestId{1}, "ada", "p", spec});
  s.study(1);
  EXPECT_THAT(s.ready("a"), Contains("a < lease #1 trial 0"));
  EXPECT_EQ(to_int(s.last_lease().study), 2);
}

TEST(Scheduling, R41_ADeviceWithoutItsGraphicsDeviceSpendsOneAttemptOfAStudy) {
  Scenario s;
  s.worker("gpu 1").worker("gpu 2").study({.trials = 5, .backend = "webgpu"});
  s.ready("gpu 1");
  EXPECT_THAT(s.failed("gpu 1", 1, protocol::Cause::device_lost, true),
              Contains("gpu 1 < wait no_matching_work"));
  EXPECT_THAT(s.ready("gpu 2"), Contains("gpu 2 < lease #2 trial 1"));
  EXPECT_THAT(s.submit({.trials = 1}), Contains("gpu 1 < lease #3 trial 0"));
  EXPECT_EQ(to_int(s.last_lease().study), 2);
  s.release("gpu 1", 3);
  s.open("gpu 1");  // its page was loaded anew, so the device may be there again
  s.ready("gpu 1");
  EXPECT_EQ(to_int(s.last_lease().study), 2);  // the study with the fewest running trials
  EXPECT_THAT(s.complete("gpu 1", 4, 0.5, true), Contains(HasSubstr("+ lease #5")));
  EXPECT_EQ(to_int(s.last_lease().study), 1);
}

TEST(Scheduling, R41_OtherCausesAndStudiesThatRunWithoutKeepTheDevice) {
  for (const bool insists : {false, true}) {
    Scenario s;
    s.worker("gpu").study({.trials = 5, .backend = insists ? "webgpu" : "auto"});
    s.ready("gpu");
    const auto cause = insists ? protocol::Cause::out_of_memory : protocol::Cause::device_lost;
    EXPECT_THAT(s.failed("gpu", 1, cause, true), Contains(HasSubstr("+ lease #2 trial 1")));
  }
}

TEST(Studies, SubmissionIsAnsweredAfterItsCommit) {
  Scenario s;
  s.hold();
  EXPECT_THAT(s.submit({}), IsEmpty());
  EXPECT_EQ(s.resume(), (Said{"answer study 1", "study 1 changed"}));
}

TEST(Studies, TheSameKeyAgainGivesTheSameStudy) {
  Scenario s;
  s.worker("a");
  s.submit({.trials = 1, .submit_key = "k"});
  EXPECT_EQ(s.submit({.trials = 1, .submit_key = "k"}), (Said{"answer study 1 again"}));
  s.ready("a");
  s.complete("a", 1);
  EXPECT_EQ(s.submit({.trials = 1, .submit_key = "k"}), (Said{"answer study 1 again"}));
  EXPECT_EQ(s.ready("a"), (Said{"a < wait no_work"}));
}

TEST(Studies, CancelStopsItsAttemptsAfterTheCommit) {
  Scenario s;
  s.worker("a").worker("b").study(5);
  s.ready("a");
  s.ready("b");
  s.hold();
  EXPECT_THAT(s.cancel(1), IsEmpty());
  EXPECT_EQ(s.commit(), (Said{"answer study 1", "a < revoke #1 cancelled",
                              "b < revoke #2 cancelled", "study 1 changed"}));
  s.resume();
  EXPECT_EQ(s.store().studies.at(StudyId{1}).state, storage::StudyState::cancelled);
  EXPECT_EQ(s.ready("a"), (Said{"a < wait no_work"}));
  EXPECT_THAT(s.complete("b", 2), ElementsAre("b < result_ack #2 evidence"));
  EXPECT_EQ(s.dispatcher().counters().leased, 0);
}

TEST(Studies, CancelWithALeaseOnItsWayRevokesItWhenItIsThere) {
  Scenario s;
  s.worker("a").study(5);
  s.hold();
  s.ready("a");
  s.cancel(1);
  s.resume();
  EXPECT_EQ(s.store().attempts.at(AttemptId{1}).state, storage::AttemptState::revoked);
  EXPECT_EQ(s.dispatcher().counters().leased, 0);
}

TEST(Studies, CancelTakesWaitingTrialsAlong) {
  Scenario s;
  s.worker("a").study(5);
  s.ready("a");
  s.failed("a", 1, protocol::Cause::out_of_memory);  // the trial waits for its back-off
  EXPECT_EQ(s.dispatcher().counters().queued, 1);
  s.cancel(1);
  EXPECT_EQ(s.dispatcher().counters().queued, 0);
  EXPECT_FALSE(s.dispatcher().next_deadline().has_value());
}

// A client may read that the study is cancelled, and delete it, before the dispatcher is told that
// the cancellation was committed.
TEST(Studies, R55_WhatWasOnItsWayWhenAStudyWasDeletedIsUnknown) {
  Scenario s;
  s.worker("a").worker("b").study(2);
  s.ready("a");
  s.ready("b");
  s.hold();
  s.cancel(1);
  s.complete("a", 1, 0.5, true);
  s.report("b", 2, 1, {{1, 0.5}});
  s.failed("b", 2, protocol::Cause::user_error);
  EXPECT_THAT(s.commit(1), Contains("answer study 1"));
  EXPECT_EQ(s.remove(1), (Said{"deleted"}));
  EXPECT_THAT(s.resume(), IsSupersetOf({"a < error unknown_attempt", "b < error unknown_attempt",
                                        "a < wait no_work"}));
  EXPECT_THAT(s.complete("a", 1), ElementsAre("a < error unknown_attempt"));
  EXPECT_THAT(s.release("b", 2), ElementsAre("b < error unknown_attempt"));
  EXPECT_EQ(s.reissue(1), (Said{"answer unknown_study"}));
  EXPECT_EQ(s.pause(1), (Said{"answer unknown_study"}));
  EXPECT_EQ(s.cancel(1), (Said{"answer unknown_study"}));
  EXPECT_TRUE(s.store().studies.empty());
  EXPECT_EQ(s.dispatcher().counters().leased, 0);
  EXPECT_EQ(s.dispatcher().counters().queued, 0);
  s.restart();
  s.worker("a").study(1);
  EXPECT_THAT(s.ready("a"), Contains("a < lease #3 trial 0"));
}

TEST(Studies, CancelOfAnEndedStudyIsFineAndOfNoneIsNot) {
  Scenario s;
  s.study(1);
  s.cancel(1);
  EXPECT_EQ(s.cancel(1), (Said{"answer study 1"}));
  EXPECT_EQ(s.cancel(7), (Said{"answer unknown_study"}));
}

// ---- larger spaces (R65)

TEST(Scheduling, R65_AFinishedStudyRunsAgainWithWhatIsNew) {
  Scenario s;
  s.worker("a").study(2);
  s.ready("a");
  s.complete("a", 1, 0.5, true);
  s.complete("a", 2);
  EXPECT_THAT(s.extend(1, 4), Contains("answer study 1"));
  EXPECT_THAT(s.ready("a"), Contains("a < lease #3 trial 2"));
  EXPECT_EQ(s.last_lease().params, R"({"x":2})");
  EXPECT_EQ(s.last_lease().total, 4);
  s.restart();
  s.worker("b");
  EXPECT_THAT(s.ready("b"), Contains("b < lease #4 trial 3"));
}

TEST(Scheduling, R65_IdleWorkersGetTheNewTrialsAtOnce) {
  Scenario s;
  s.worker("a").worker("b").study(1);
  s.ready("a");
  EXPECT_THAT(s.ready("b"), Contains("b < wait no_work"));
  EXPECT_THAT(s.extend(1, 2), Contains("b < lease #2 trial 1"));
}

TEST(Scheduling, R65_AStudyDoesNotEndBeforeItsExtensionIsStored) {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  s.hold();
  s.extend(1, 2);
  s.complete("a", 1);
  s.resume();
  EXPECT_EQ(s.store().studies.at(StudyId{1}).state, storage::StudyState::running);
  EXPECT_THAT(s.ready("a"), Contains("a < lease #2 trial 1"));
  // If the last result comes before the extension, the study ends and then runs again.
  s.hold();
  s.complete("a", 2);
  s.commit(1);
  s.extend(1, 3);
  s.resume();
  EXPECT_THAT(s.ready("a"), Contains("a < lease #3 trial 2"));
}

TEST(Scheduling, R65_RefusalsChangeNothing) {
  Scenario s;
  s.worker("a").study(2);
  EXPECT_EQ(s.extend(9, 4), Said{"answer unknown_study"});
  EXPECT_EQ(s.extend(1, 1), Said{"answer space_changed"});
  EXPECT_EQ(s.extend(1, 2), Said{"answer study 1"});
  s.cancel(1);
  EXPECT_EQ(s.extend(1, 4), Said{"answer study_cancelled"});
  s.submit({.directions = 1});
  EXPECT_EQ(s.extend(2, 4), Said{"answer not_a_grid"});
}

// ---- priorities (R61)

TEST(Scheduling, R61_TheHighestPriorityOfAnOwnerGoesFirst) {
  Scenario s;
  s.worker("a").worker("b").worker("c").worker("d");
  s.study({.trials = 5}).study({.trials = 2, .priority = 3}).study({.trials = 5, .priority = -1});
  s.ready("a");
  EXPECT_EQ(s.last_lease().study, StudyId{2});
  s.ready("b");  // although another study has fewer running attempts
  EXPECT_EQ(s.last_lease().study, StudyId{2});
  s.ready("c");  // the study has no more work
  EXPECT_EQ(s.last_lease().study, StudyId{1});
  s.prioritize(3, 1);
  s.ready("d");
  EXPECT_EQ(s.last_lease().study, StudyId{3});
}

TEST(Scheduling, R61_APriorityTakesNothingFromAnotherOwner) {
  Scenario s;
  s.study({.trials = 9, .owner = "ada", .priority = 100}).study({.trials = 9, .owner = "ada"});
  s.study({.trials = 9, .owner = "eve"});
  std::map<std::int64_t, int> leases;
  for (const char* worker : {"a", "b", "c", "d", "e", "f"}) {
    s.worker(worker).ready(worker);
    ++leases[to_int(s.last_lease().study)];
  }
  EXPECT_EQ(leases, (std::map<std::int64_t, int>{{1, 3}, {3, 3}}));
}

TEST(Scheduling, R61_AStudyThatADeviceCannotRunStopsNoOther) {
  Scenario s;
  s.worker("a").worker("b");
  s.study({.trials = 5}).study({.trials = 5, .backend = "webgpu", .priority = 1});
  s.ready("a");  // it has no WebGPU
  EXPECT_EQ(s.last_lease().study, StudyId{1});
  s.ready("b");
  EXPECT_EQ(s.last_lease().study, StudyId{2});
}

TEST(Scheduling, R61_ThePriorityStaysAfterARestartAndAReissue) {
  Scenario s;
  s.worker("a").study({.trials = 5}).study({.trials = 1, .max_failures = 0});
  s.prioritize(2, 7);
  s.ready("a");
  s.failed("a", 1, protocol::Cause::user_error);  // the study ends with it
  s.restart();
  s.worker("a").worker("b");
  s.reissue(2);
  s.ready("a");
  EXPECT_EQ(s.last_lease().study, StudyId{2});
  s.restart();
  s.worker("b").worker("c");
  s.prioritize(1, 8);
  s.ready("b");
  EXPECT_EQ(s.last_lease().study, StudyId{1});
}

TEST(Scheduling, R61_AStudyThatDoesNotExistHasNoPriority) {
  Scenario s;
  s.study(1);
  EXPECT_EQ(s.prioritize(9, 1), Said{"answer unknown_study"});
  EXPECT_EQ(s.prioritize(1, 0), Said{"answer study 1"});  // as it is
}

}  // namespace
}  // namespace hyperflock::dispatch
