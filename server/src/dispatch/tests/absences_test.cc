// Tests R62: storage notes when a study with a webhook has had no device for a while.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/model/scenario.h"
#include "storage/testing/scratch_database.h"

namespace hyperflock::dispatch {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

constexpr Millis kPatience = 300'000;
constexpr const char* kNone = "no devices for study 1";
constexpr const char* kBack = "devices are back for study 1";
const StudyOptions kWatched{.trials = 100, .webhook = "https://hooks.example.org/1"};

// Only the presence of devices counts, so the devices of most tests ask for no work.
TEST(Absence, R62_IsNotedOnceAfterItsTime) {
  Scenario s;
  s.worker("a").study(kWatched);
  s.close("a", SessionClosed::How::clean);
  s.after(kPatience - 1);
  EXPECT_FALSE(s.store().studies.at(StudyId{1}).deviceless);
  s.after(1);
  EXPECT_TRUE(s.store().studies.at(StudyId{1}).deviceless);
  EXPECT_THAT(s.proposed(), ElementsAre(kNone));
  EXPECT_EQ(s.dispatcher().next_deadline(), std::nullopt) << "it is noted once";
}

TEST(Absence, R62_IsNotNotedBeforeTheFirstDevice) {
  Scenario s;
  s.study(kWatched);
  s.after(10 * kPatience);
  EXPECT_FALSE(s.store().studies.at(StudyId{1}).deviceless);
}

TEST(Absence, R62_EndsWithTheFirstDeviceAndMayComeAgain) {
  Scenario s;
  s.worker("a").study(kWatched);
  s.close("a", SessionClosed::How::clean);
  s.after(kPatience);
  s.open("a");
  EXPECT_THAT(s.proposed(), ElementsAre(kBack));
  EXPECT_FALSE(s.store().studies.at(StudyId{1}).deviceless);
  s.open("b");
  EXPECT_THAT(s.proposed(), IsEmpty());
  s.close("a", SessionClosed::How::clean);
  s.after(kPatience);
  EXPECT_FALSE(s.store().studies.at(StudyId{1}).deviceless) << "b is still there";
  s.close("b", SessionClosed::How::lost);
  s.after(kPatience);
  EXPECT_TRUE(s.store().studies.at(StudyId{1}).deviceless);
}

TEST(Absence, R62_ADeviceThatComesInTimeStopsTheClock) {
  Scenario s;
  s.worker("a").study(kWatched);
  s.close("a", SessionClosed::How::clean);
  s.after(kPatience - 1'000);
  s.worker("a");
  s.after(kPatience);
  s.close("a", SessionClosed::How::clean);
  s.after(kPatience - 1);
  EXPECT_FALSE(s.store().studies.at(StudyId{1}).deviceless);
}

// A device that replaces its own connection was there all the time.
TEST(Absence, R62_AReplacedSessionCountsOnce) {
  Scenario s;
  s.worker("a").study(kWatched).worker("a");
  s.after(2 * kPatience);
  EXPECT_FALSE(s.store().studies.at(StudyId{1}).deviceless);
  s.close("a", SessionClosed::How::clean);
  s.after(kPatience);
  EXPECT_TRUE(s.store().studies.at(StudyId{1}).deviceless);
}

TEST(Absence, R62_OnlyDevicesThatMayRunTheStudyCount) {
  Scenario s;
  StudyOptions options = kWatched;
  options.backend = "webgpu";
  s.worker("gpu").worker("a").study(options);
  s.open("far", {}, "q");  // of another project
  s.close("gpu", SessionClosed::How::clean);
  s.after(kPatience);
  EXPECT_TRUE(s.store().studies.at(StudyId{1}).deviceless);
}

TEST(Absence, R62_APausedStudyNeedsNoDevices) {
  Scenario s;
  s.worker("a").study(kWatched);
  s.close("a", SessionClosed::How::clean);
  s.pause(1);
  s.after(2 * kPatience);
  EXPECT_FALSE(s.store().studies.at(StudyId{1}).deviceless);
  s.pause(1, false);
  s.after(kPatience - 1);
  EXPECT_FALSE(s.store().studies.at(StudyId{1}).deviceless);
  s.after(1);
  EXPECT_TRUE(s.store().studies.at(StudyId{1}).deviceless);
}

TEST(Absence, R62_OfAStudyWithoutWebhookOrAfterItsEndIsNotNoted) {
  Scenario s;
  s.worker("a").study(100).study(kWatched);
  s.cancel(2);
  s.close("a", SessionClosed::How::clean);
  s.after(2 * kPatience);
  EXPECT_FALSE(s.store().studies.at(StudyId{1}).deviceless);
  EXPECT_FALSE(s.store().studies.at(StudyId{2}).deviceless);
  EXPECT_THAT(s.dispatcher().next_deadline(), testing::Eq(std::nullopt));
}

TEST(Absence, R62_AWebhookMayBeSetAndRemovedLater) {
  Scenario s;
  s.worker("a").study(100);
  s.event(WebhookSet{StudyId{1}, true});
  s.close("a", SessionClosed::How::clean);
  s.event(WebhookSet{StudyId{1}, false});
  s.after(2 * kPatience);
  EXPECT_THAT(s.proposed(), Not(Contains(kNone)));
  s.worker("a");
  s.event(WebhookSet{StudyId{1}, true});
  s.close("a", SessionClosed::How::clean);
  s.hold();
  s.after(kPatience);
  EXPECT_THAT(s.proposed(), Contains(kNone));
}

// After a restart no device is connected. That is noted only if none has come after kPatience.
TEST(Absence, R62_IsCountedAnewAfterARestart) {
  Scenario s;
  s.worker("a").study(kWatched);
  s.ready("a");
  s.restart();
  s.after(kPatience - 1);
  EXPECT_FALSE(s.store().studies.at(StudyId{1}).deviceless);
  s.after(1);
  EXPECT_TRUE(s.store().studies.at(StudyId{1}).deviceless);
  s.restart();
  s.after(2 * kPatience);
  EXPECT_THAT(s.proposed(), Not(Contains(kNone))) << "it was noted before the restart";
  s.open("b");
  EXPECT_FALSE(s.store().studies.at(StudyId{1}).deviceless);
}

// Uses a real database, so that a restarted dispatcher loads what was stored.
TEST(Absence, R62_StorageKeepsWhatWasNoted) {
  const storage::ScratchDatabase database;
  const auto storage = database.open();
  Scenario s;
  s.shadow(storage.get());
  const auto is_deviceless = [&] {
    return storage->study(StudyId{1}).value()->webhook->deviceless;
  };
  s.worker("a").study(kWatched);
  s.ready("a");
  s.restart();
  s.after(kPatience);
  EXPECT_TRUE(is_deviceless());
  s.restart();
  s.after(2 * kPatience);
  s.open("b");
  EXPECT_FALSE(is_deviceless());
  s.close("b", SessionClosed::How::lost);
  s.after(kPatience);
  EXPECT_TRUE(is_deviceless());
  EXPECT_THAT(storage->outbox(1).value().due, testing::SizeIs(2));
  EXPECT_THAT(s.troubles(), IsEmpty());
}

TEST(Absence, R62_ADrainingServerNotesNone) {
  Scenario s;
  s.worker("a").study(kWatched);
  s.drain();
  s.close("a", SessionClosed::How::clean);
  s.after(2 * kPatience);
  EXPECT_FALSE(s.store().studies.at(StudyId{1}).deviceless);
}

TEST(Absence, R62_IsCountedAnewAfterAFailureOfStorage) {
  Scenario s;
  s.worker("a").study(kWatched);
  s.ready("a");
  s.close("a", SessionClosed::How::lost);
  s.hold();
  s.after(kPatience);
  s.fail_batch();
  s.resume();
  s.restored();
  s.after(kPatience);
  EXPECT_TRUE(s.store().studies.at(StudyId{1}).deviceless);
}

}  // namespace
}  // namespace hyperflock::dispatch
