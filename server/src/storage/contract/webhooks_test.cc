// Tests webhooks and the events that wait for their delivery in the storage contract (R62).
#include <nlohmann/json.hpp>

#include "storage/contract/suite.h"

namespace hyperflock::storage {
namespace {

using protocol::WebhookEvent;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

CreateStudy with_webhook(std::int64_t id, std::vector<WebhookEvent> events = {}) {
  CreateStudy create = create_study(id, "key " + std::to_string(id));
  create.webhook = protocol::Webhook{"https://hooks.example/" + std::to_string(id), events};
  create.webhook_secret = "hfw_1";
  return create;
}

Outbox box(Storage& storage, std::int64_t now = kNow) { return storage.outbox(now).value(); }

nlohmann::json facts_of(Storage& storage) {
  return nlohmann::json::parse(box(storage).due.at(0).facts);
}

TEST_P(StorageContract, R62_AStudyKeepsItsWebhook) {
  apply({with_webhook(1), create_study(2)});
  const StudyWebhook kept = study(1).webhook.value();
  EXPECT_EQ(kept.webhook.url, "https://hooks.example/1");
  EXPECT_THAT(kept.webhook.events, ElementsAre(WebhookEvent::finished, WebhookEvent::stopped,
                                               WebhookEvent::cancelled, WebhookEvent::no_devices));
  EXPECT_FALSE(kept.last);
  EXPECT_FALSE(study(1).spec.webhook) << "the spec is shown to others";
  EXPECT_FALSE(study(2).webhook);
  EXPECT_EQ(storage().webhook_secret("ada").value(), "hfw_1");
  EXPECT_EQ(storage().webhook_secret("bob").value(), std::nullopt);
}

TEST_P(StorageContract, R62_TheEndOfAStudyIsAnEventOfItsCommit) {
  apply({with_webhook(1), start(1, key(1, 0)), complete(1, {0.9})});
  EXPECT_TRUE(apply_one(end_study(1, StudyState::finished)).queued);
  reopen();
  const DueDelivery due = box(storage()).due.at(0);
  EXPECT_EQ(due.delivery.event, WebhookEvent::finished);
  EXPECT_EQ(due.delivery.study, StudyId{1});
  EXPECT_EQ(due.delivery.created_at, kNow);
  EXPECT_EQ(due.delivery.key.size(), 32U);
  EXPECT_EQ(due.url, "https://hooks.example/1");
  EXPECT_EQ(due.secret, "hfw_1");
  EXPECT_EQ(due.owner, "ada");
  EXPECT_EQ(study(1).webhook->last, due.delivery);
  const nlohmann::json facts = facts_of(storage());
  EXPECT_EQ(facts["study"], 1);
  EXPECT_EQ(facts["name"], "digits");
  EXPECT_EQ(facts["state"], "finished");
  EXPECT_EQ(facts["directions"], nlohmann::json({"maximize"}));
  EXPECT_EQ(facts["total"], 6);
  EXPECT_EQ(facts["complete"], 1);
  EXPECT_EQ(facts["finished_at"], kNow);
  EXPECT_EQ(facts["best"]["trial"], 0);
  EXPECT_EQ(facts["best"]["value"], 0.9);
  EXPECT_EQ(facts["best"]["params"], nlohmann::json::parse(R"({"channels":4,"name":"x\"y"})"));
}

TEST_P(StorageContract, R62_AnEventIsStoredOnce) {
  apply(
      {with_webhook(1), end_study(1, StudyState::cancelled), end_study(1, StudyState::cancelled)});
  EXPECT_THAT(box(storage()).due, SizeIs(1));
  EXPECT_EQ(facts_of(storage())["state"], "cancelled");
}

TEST_P(StorageContract, R62_OnlyWantedEventsAreStored) {
  apply({with_webhook(1, {WebhookEvent::stopped}), create_study(2, "other")});
  EXPECT_FALSE(apply_one(end_study(1, StudyState::finished)).queued);
  EXPECT_FALSE(apply_one(end_study(2, StudyState::finished)).queued);
  EXPECT_THAT(box(storage()).due, IsEmpty());
}

TEST_P(StorageContract, R62_AStudyThatPausesItselfIsAnEventWithItsReason) {
  apply({with_webhook(1), start(1, key(1, 0)), start(2, key(1, 1))});
  FailTrial quiet = fail(key(1, 0));
  EXPECT_FALSE(apply_one(quiet).queued);
  FailTrial pausing = fail(key(1, 1));
  pausing.pauses = true;
  EXPECT_TRUE(apply_one(pausing).queued);
  EXPECT_EQ(box(storage()).due.at(0).delivery.event, WebhookEvent::stopped);
  const nlohmann::json facts = facts_of(storage());
  EXPECT_EQ(facts["paused"], true);
  EXPECT_EQ(facts["stopped_by"]["trial"], 1);
  EXPECT_EQ(facts["stopped_by"]["error"]["code"], "poison");
  EXPECT_FALSE(facts["stopped_by"]["error"].contains("traceback"));
  // A pause by the study's owner causes no event.
  apply({pause_study(1, false), pause_study(1)});
  EXPECT_THAT(box(storage()).due, SizeIs(1));
}

TEST_P(StorageContract, R62_TheBestTrialsOfSeveralDirectionsAreFacts) {
  CreateStudy create = with_webhook(1);
  create.spec.kind = protocol::StudyKind::asked;
  create.spec.space.clear();
  create.spec.directions = {protocol::Direction::minimize, protocol::Direction::minimize};
  create.spec.direction = protocol::Direction::minimize;
  create.total = 0;
  apply({create, ClaimStudy{StudyId{1}, "me"},
         AskTrials{StudyId{1}, 1, {{TrialNumber{0}, "{}"}, {TrialNumber{1}, "{}"}}},
         start(1, key(1, 0)), start(2, key(1, 1)), complete(1, {1, 2}), complete(2, {3, 4})});
  apply({end_study(1, StudyState::finished)});
  const nlohmann::json facts = facts_of(storage());
  EXPECT_EQ(facts["best_trials"], nlohmann::json::parse(R"([{"trial":0,"values":[1,2]}])"));
  EXPECT_FALSE(facts.contains("best"));
}

TEST_P(StorageContract, R62_MissingDevicesAreNotedOncePerChange) {
  apply({with_webhook(1), create_study(2, "other")});
  EXPECT_EQ(applied(NoteDevices{StudyId{1}, true}), Applied::repeated);
  EXPECT_TRUE(apply_one(NoteDevices{StudyId{1}, false}).queued);
  EXPECT_TRUE(study(1).webhook->deviceless);
  EXPECT_EQ(applied(NoteDevices{StudyId{1}, false}), Applied::repeated);
  const Outcome back = apply_one(NoteDevices{StudyId{1}, true});
  EXPECT_EQ(back.applied, Applied::applied);
  EXPECT_FALSE(back.queued);
  EXPECT_TRUE(apply_one(NoteDevices{StudyId{1}, false}).queued);
  EXPECT_THAT(box(storage()).due, SizeIs(2));
  EXPECT_EQ(applied(NoteDevices{StudyId{2}, false}), Applied::repeated) << "it has no webhook";
  EXPECT_EQ(applied(NoteDevices{StudyId{9}, false}), Applied::conflict);
  apply({end_study(1, StudyState::cancelled)});
  EXPECT_EQ(applied(NoteDevices{StudyId{1}, true}), Applied::superseded);
}

TEST_P(StorageContract, R62_AWebhookIsSetChangedAndRemoved) {
  apply({create_study(1)});
  const protocol::Webhook first{"https://a.example/"};
  EXPECT_EQ(applied(SetWebhook{StudyId{1}, first, "hfw_1"}), Applied::applied);
  apply({NoteDevices{StudyId{1}, false}});
  at(kNow + 5);
  EXPECT_TRUE(
      apply_one(SetWebhook{StudyId{1},
                           protocol::Webhook{"https://b.example/", {WebhookEvent::finished}},
                           "hfw_2"})
          .queued);
  EXPECT_EQ(study(1).webhook->webhook.url, "https://b.example/");
  EXPECT_FALSE(study(1).webhook->deviceless);
  EXPECT_EQ(box(storage(), kNow + 5).due.at(0).url, "https://b.example/");
  EXPECT_EQ(storage().webhook_secret("ada").value(), "hfw_1") << "the owner's first one stays";
  EXPECT_EQ(applied(SetWebhook{StudyId{1}, std::nullopt}), Applied::applied);
  EXPECT_EQ(applied(SetWebhook{StudyId{1}, std::nullopt}), Applied::repeated);
  EXPECT_FALSE(study(1).webhook);
  EXPECT_THAT(box(storage(), kNow + 5).due, IsEmpty());
  EXPECT_EQ(applied(SetWebhook{StudyId{9}, first, "x"}), Applied::conflict);
}

TEST_P(StorageContract, R62_ASecretIsMadeOnceAndRenewedOnDemand) {
  EXPECT_EQ(applied(StoreWebhookSecret{"ada", "hfw_1"}), Applied::applied);
  EXPECT_EQ(applied(StoreWebhookSecret{"ada", "hfw_2"}), Applied::repeated);
  EXPECT_EQ(storage().webhook_secret("ada").value(), "hfw_1");
  EXPECT_EQ(applied(StoreWebhookSecret{"ada", "hfw_3", true}), Applied::applied);
  EXPECT_EQ(storage().webhook_secret("ada").value(), "hfw_3");
}

TEST_P(StorageContract, R62_ADeliveryWaitsUntilItIsDueAndIsOverOnce) {
  apply({with_webhook(1), end_study(1, StudyState::finished)});
  Delivery tried = box(storage()).due.at(0).delivery;
  tried.attempts = 1;
  tried.next_at = kNow + 5'000;
  tried.code = "webhook_timeout";
  tried.message = "Too slow.";
  EXPECT_EQ(applied(NoteDelivery{tried}), Applied::applied);
  EXPECT_THAT(box(storage(), kNow + 4'999).due, IsEmpty());
  EXPECT_EQ(box(storage(), kNow + 4'999).next_at, kNow + 5'000);
  EXPECT_EQ(box(storage(), kNow + 5'000).due.at(0).delivery, tried);
  tried.state = DeliveryState::delivered;
  EXPECT_EQ(applied(NoteDelivery{tried}), Applied::applied);
  EXPECT_EQ(applied(NoteDelivery{tried}), Applied::repeated);
  EXPECT_THAT(box(storage(), kNow + 9'999).due, IsEmpty());
  EXPECT_EQ(box(storage()).next_at, std::nullopt);
  EXPECT_EQ(study(1).webhook->last, tried);
}

TEST_P(StorageContract, R62_AnOwnerTakesNoPlaceOfAnother) {
  std::vector<Transition> batch;
  for (std::int64_t id = 1; id <= 5; ++id) {
    CreateStudy create = with_webhook(id);
    if (id == 5) create.owner = "bob";
    batch.emplace_back(create);
    batch.emplace_back(end_study(id, StudyState::finished));
  }
  apply(batch);
  const Outbox now = box(storage());
  std::vector<std::int64_t> ids;
  for (const DueDelivery& due : now.due) ids.push_back(to_int(due.delivery.study));
  EXPECT_THAT(ids, ElementsAre(1, 5, 2));
}

TEST_P(StorageContract, R62_TooManyWaitingEventsOfAnOwnerFailAtOnce) {
  std::vector<Transition> batch;
  for (std::int64_t id = 1; id <= kMostWaitingDeliveries + 1; ++id) {
    batch.emplace_back(with_webhook(id));
    batch.emplace_back(end_study(id, StudyState::finished));
  }
  apply(batch);
  EXPECT_EQ(study(kMostWaitingDeliveries).webhook->last->state, DeliveryState::waiting);
  const Delivery refused = study(kMostWaitingDeliveries + 1).webhook->last.value();
  EXPECT_EQ(refused.state, DeliveryState::failed);
  EXPECT_EQ(refused.code, kTooManyDeliveries);
}

TEST_P(StorageContract, R62_ADeletedStudyTakesItsWebhookAlong) {
  apply({with_webhook(1), end_study(1, StudyState::finished), DeleteStudy{StudyId{1}}});
  EXPECT_THAT(box(storage()).due, IsEmpty());
  EXPECT_EQ(box(storage()).next_at, std::nullopt);
}

}  // namespace
}  // namespace hyperflock::storage
