// Webhooks of studies (R62): where events of a study are posted, and the events that wait for their
// delivery. Plain data, and the guarded transitions that change it. transition.h explains guards.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "protocol/messages.h"

namespace hyperflock::storage {

// The most events of one owner that wait for their delivery. A further event fails at once.
inline constexpr std::int64_t kMostWaitingDeliveries = 100;
// How many delivered or failed events of a study are kept.
inline constexpr std::int64_t kKeptDeliveries = 10;
// The code of an event that fails because its owner has too many waiting ones.
inline constexpr std::string_view kTooManyDeliveries = "too_many_deliveries";

enum class DeliveryState { waiting, delivered, failed };

// An event for the webhook of a study.
struct Delivery {
  std::int64_t id = 0;
  std::string key;  // random; receivers recognise a repeated delivery by it
  StudyId study{};
  protocol::WebhookEvent event = protocol::WebhookEvent::finished;
  std::int64_t created_at = 0;
  DeliveryState state = DeliveryState::waiting;
  std::int64_t attempts = 0;  // how often it was sent
  std::int64_t next_at = 0;   // when it is due; only of a waiting one
  std::int64_t status = 0;    // HTTP status of the newest answer; 0: there was none
  std::string code{};         // why the newest attempt failed; empty: it did not
  std::string message{};
  bool operator==(const Delivery&) const = default;
};

// A waiting delivery with everything that is needed to send it.
struct DueDelivery {
  Delivery delivery;
  std::string owner;
  std::string facts;  // of the study when the event happened, JSON text (webhook_facts.h)
  std::string url;
  std::string secret;
};

// What is to be delivered.
struct Outbox {
  // The waiting deliveries that are due now, the oldest first. Their number is limited for each
  // owner.
  std::vector<DueDelivery> due;
  // The time at which the next waiting delivery that is not in `due` becomes due; nullopt if there
  // is none.
  std::optional<std::int64_t> next_at;
};

struct StudyWebhook {
  protocol::Webhook webhook;  // with at least one event
  // Whether the study had no device for a while. NoteDevices sets this, and SetWebhook clears it.
  bool deviceless = false;
  std::optional<Delivery> last{};
};

// Guard: the study exists (else `conflict`). Sets its webhook, or removes it and its waiting
// deliveries (`repeated` if it has none). Waiting deliveries are then due at once, because the new
// address may be the right one. If the study's owner has no secret yet, `secret` is stored.
struct SetWebhook {
  StudyId study{};
  std::optional<protocol::Webhook> webhook;
  std::string secret{};
};

// Guard: `renew` is set, or the owner has no secret yet (else `repeated`).
struct StoreWebhookSecret {
  std::string owner;
  std::string secret;
  bool renew = false;
};

// Guard: the study exists (else `conflict`), runs (else `superseded`), has a webhook, and the state
// of its devices changes (else `repeated`). If it has no devices any more, this is an event.
struct NoteDevices {
  StudyId study{};
  bool present = false;
};

// The outcome of an attempt to deliver. Guard: the delivery exists and waits (else `repeated`).
// `changed` has the new state, attempts, next_at, status, code and message.
struct NoteDelivery {
  Delivery changed;
};

}  // namespace hyperflock::storage
