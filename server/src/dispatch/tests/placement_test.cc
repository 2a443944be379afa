// Tests what a researcher reads about the own share (R70), and why the next trial waits.
#include <gtest/gtest.h>

#include "dispatch/model/scenario.h"

namespace hyperflock::dispatch {
namespace {

using storage::CeilingScope;

Placement placement(const Scenario& s, std::int64_t study) {
  const auto& created = s.store().studies.at(StudyId{study}).created;
  return s.dispatcher().placement({created.id, created.owner, created.project, created.spec});
}
std::string waits(const Scenario& s, std::int64_t study) {
  return std::string(placement(s, study).waits);
}

TEST(Placement, R70_TheShareIsThatOfTheResearchersWhoHaveWork) {
  Scenario s;
  s.share(CeilingScope::researcher, "ada", {.weight = 200, .guaranteed = 3});
  s.submit({.trials = 9, .owner = "ada"});
  ShareOfOwner alone = placement(s, 1).share;
  EXPECT_EQ(alone.weight, 200);
  EXPECT_EQ(alone.weights, 200);
  EXPECT_EQ(alone.guaranteed, 3);
  EXPECT_EQ(alone.devices, 0);
  EXPECT_EQ(alone.ahead, 0);

  s.submit({.trials = 1, .owner = "eve"});
  EXPECT_EQ(placement(s, 1).share.weights, 300);
  EXPECT_EQ(placement(s, 1).share.ahead, 0);  // because of the guarantee
  EXPECT_EQ(placement(s, 2).share.ahead, 1);
  // A changed weight is read, and counts, at once.
  s.share(CeilingScope::researcher, "ada", {.weight = 50});
  EXPECT_EQ(placement(s, 2).share.weights, 150);

  s.open("a");
  s.ready("a");
  s.open("c");
  s.ready("c");
  EXPECT_EQ(placement(s, 1).share.devices, 1);
  // eve has nothing to lease any more, so ada has all. Of eve, the own weight is counted, too.
  EXPECT_EQ(placement(s, 1).share.weights, 50);
  EXPECT_EQ(placement(s, 2).share.weights, 150);
  EXPECT_EQ(placement(s, 2).share.ahead, std::nullopt);
}

TEST(Placement, SaysWhyTheNextTrialWaits) {
  Scenario s;
  s.submit({.trials = 3, .backend = "webgpu", .owner = "ada"});
  EXPECT_EQ(waits(s, 1), "no_device");
  s.open("a");
  s.ready("a");
  EXPECT_EQ(waits(s, 1), "no_match");
  s.open("b");
  EXPECT_EQ(waits(s, 1), "busy");  // b has WebGPU and has not asked yet
  s.ready("b");
  EXPECT_EQ(waits(s, 1), "busy");
  s.submit({.trials = 1, .backend = "webgpu", .owner = "ada", .priority = 5});
  EXPECT_EQ(waits(s, 1), "own_priority");
  EXPECT_EQ(waits(s, 2), "busy");
  s.submit({.trials = 1, .backend = "webgpu", .owner = "eve"});
  EXPECT_EQ(waits(s, 2), "others_first");
  EXPECT_EQ(waits(s, 3), "busy");

  s.limit(CeilingScope::researcher, "ada", {.devices = 1});
  EXPECT_EQ(waits(s, 2), "ceiling");
  s.pause(2);
  EXPECT_EQ(waits(s, 2), "held");
  s.pause(2, false);
  s.cancel(2);
  EXPECT_EQ(waits(s, 2), "ended");
  s.limit(CeilingScope::researcher, "ada", {});
  s.room(false);
  EXPECT_EQ(waits(s, 1), "server");
  s.room(true);
}

TEST(Placement, NothingWaitsIfADeviceIsFreeOrEveryTrialHasBegun) {
  Scenario s;
  s.submit({.trials = 1, .owner = "ada"});
  s.open("a");
  s.ready("a");
  EXPECT_EQ(waits(s, 1), "no_trial");
  s.open("c");
  s.ready("c");
  EXPECT_EQ(waits(s, 1), "no_trial");
}

TEST(Placement, AnAskAndTellStudyWaitsForItsOwner) {
  Scenario s;
  s.submit({.directions = 1});
  EXPECT_EQ(waits(s, 1), "no_owner");
  s.claim("nb", 1);
  EXPECT_EQ(waits(s, 1), "no_trial");
  s.asks("nb", {0});
  EXPECT_EQ(waits(s, 1), "no_device");
}

TEST(Placement, R70_LentDevicesAreNoneOfTheProjectButMayCompute) {
  Scenario s;
  s.submit({.trials = 5, .project = "p"});
  s.share(CeilingScope::project, "q", {.lends = {"p"}});
  EXPECT_EQ(waits(s, 1), "no_device");
  s.open("a", {}, "q");
  s.ready("a");
  EXPECT_EQ(placement(s, 1).devices, 0);
  EXPECT_EQ(placement(s, 1).share.devices, 1);
  EXPECT_EQ(waits(s, 1), "busy");
}

}  // namespace
}  // namespace hyperflock::dispatch
