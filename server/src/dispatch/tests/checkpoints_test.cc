// Tests which checkpoint a trial keeps, and which attempt resumes it (R37, R38).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/model/scenario.h"

namespace hyperflock::dispatch {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

Scenario saved() {
  Scenario s;
  s.worker("a").worker("b").study(1);
  s.ready("a");
  s.checkpoint("a", 1, 77);
  return s;
}

TEST(Checkpoint, R37_TheNextAttemptBeginsWithTheNewest) {
  Scenario s = saved();
  s.checkpoint("a", 1, 78);
  s.release("a", 1);
  EXPECT_THAT(s.ready("b"), Contains("b < lease #2 trial 0 from #1/78"));
  EXPECT_EQ(s.last_lease().checkpoint->step, 1);
  EXPECT_EQ(s.store().attempts.at(AttemptId{2}).from, s.last_lease().checkpoint);
}

TEST(Checkpoint, R37_ALostDeviceIsReplacedFromItsCheckpoint) {
  Scenario s = saved();
  s.ready("b");
  EXPECT_THAT(s.after(Settings{}.lease_ms), Contains("b < lease #2 trial 0 from #1/77"));
}

TEST(Checkpoint, R37_AnAttemptThatSavedNothingPassesOnWhatItBeganWith) {
  Scenario s = saved();
  s.release("a", 1);
  s.ready("b");
  s.release("b", 2);
  EXPECT_THAT(s.ready("a"), Contains("a < lease #3 trial 0 from #1/77"));
}

TEST(Checkpoint, R37_LineageSurvivesARestart) {
  Scenario s = saved();
  s.restart();
  s.worker("b");
  s.ready("b");
  EXPECT_THAT(s.after(Settings{}.lease_ms), Contains("b < lease #2 trial 0 from #1/77"));
  s.restart();
  s.worker("a");
  s.ready("a");
  EXPECT_THAT(s.after(Settings{}.lease_ms + 2'000), Contains("a < lease #3 trial 0 from #1/77"));
}

TEST(Checkpoint, R37_SavingIsASignOfLife) {
  Scenario s = saved();
  s.after(Settings{}.lease_ms - 1);
  s.checkpoint("a", 1, 78);
  EXPECT_THAT(s.after(Settings{}.lease_ms - 1), IsEmpty());
  EXPECT_EQ(s.store().attempts.at(AttemptId{1}).state, storage::AttemptState::live);
}

TEST(Checkpoint, R54_SoIsAnArtifact) {
  Scenario s = saved();
  s.after(Settings{}.lease_ms - 1);
  s.event(ArtifactStored{AttemptId{1}});
  EXPECT_THAT(s.after(Settings{}.lease_ms - 1), IsEmpty());
  EXPECT_EQ(s.store().attempts.at(AttemptId{1}).state, storage::AttemptState::live);
  s.release("a", 1);
  EXPECT_THAT(s.event(ArtifactStored{AttemptId{1}}), IsEmpty());  // there is no lease to renew
}

TEST(Checkpoint, R37_OfAnAttemptThatHasEndedNothingIsKept) {
  Scenario s = saved();
  s.release("a", 1);
  s.checkpoint("a", 1, 78);
  EXPECT_THAT(s.ready("b"), Contains("b < lease #2 trial 0 from #1/77"));
}

TEST(Checkpoint, R38_AFailureAfterAnothersCheckpointDoesNotCount) {
  for (const protocol::Cause cause : {protocol::Cause::user_error, protocol::Cause::invalid}) {
    Scenario s = saved();
    s.release("a", 1);
    s.ready("b");
    s.failed("b", 2, cause);
    EXPECT_THAT(s.ready("a"), Contains("a < lease #3 trial 0"));
    EXPECT_FALSE(s.last_lease().checkpoint.has_value());
    // Without a checkpoint, the same failure counts as an error of the objective.
    s.failed("a", 3, cause);
    EXPECT_EQ(s.store().studies.at(StudyId{1}).trials.at(0).state, storage::TrialState::failed);
  }
}

TEST(Checkpoint, R38_ARestartDoesNotCountItEither) {
  Scenario s = saved();
  s.release("a", 1);
  s.ready("b");
  s.failed("b", 2, protocol::Cause::user_error);
  s.restart();
  s.worker("a");
  EXPECT_THAT(s.ready("a"), Contains("a < lease #3 trial 0"));
}

TEST(Checkpoint, R38_OtherFailuresKeepIt) {
  Scenario s = saved();
  s.failed("a", 1, protocol::Cause::device_lost);
  s.ready("b");
  EXPECT_THAT(s.after(2'000), Contains("b < lease #2 trial 0 from #1/77"));
  s.failed("b", 2, protocol::Cause::out_of_memory);
  s.ready("a");
  EXPECT_THAT(s.after(2'000), Contains("a < lease #3 trial 0 from #1/77"));
}

TEST(Checkpoint, R33_AReissueBeginsAnew) {
  Scenario s;
  s.worker("a").study(1);
  s.ready("a");
  s.checkpoint("a", 1, 77);
  s.failed("a", 1, protocol::Cause::user_error);
  s.reissue(1);
  EXPECT_THAT(s.ready("a"), Contains("a < lease #2 trial 0"));
}

}  // namespace
}  // namespace hyperflock::dispatch
