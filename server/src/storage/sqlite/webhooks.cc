// Webhooks, and the events that wait for their delivery (R62). An event is stored in the same
// transaction as the change that it reports. See writer.h and webhook.h.
#include <algorithm>
#include <array>

#include "storage/sqlite/db/rows.h"
#include "storage/sqlite/readers.h"
#include "storage/sqlite/writer.h"
#include "storage/study_ledger.h"
#include "storage/webhook_facts.h"

namespace hyperflock::storage::sqlite {
namespace {

// At most this many deliveries of an owner are returned at once, because all of them are sent at
// the same time.
constexpr std::int64_t kDueOfOwner = 2;
constexpr std::int64_t kMostDue = 64;

constexpr std::array kEvents{protocol::WebhookEvent::finished, protocol::WebhookEvent::stopped,
                             protocol::WebhookEvent::cancelled, protocol::WebhookEvent::no_devices};

std::int64_t bit_of(protocol::WebhookEvent event) {
  return std::int64_t{1} << static_cast<int>(event);
}

// Returns the events as bits. An empty list stands for all events.
std::int64_t bits_of(const std::vector<protocol::WebhookEvent>& events) {
  std::int64_t bits = 0;
  for (const protocol::WebhookEvent event : kEvents)
    if (events.empty() || std::ranges::count(events, event) > 0) bits |= bit_of(event);
  return bits;
}

#define HYPERFLOCK_DELIVERY_COLUMNS \
  "id, key, study, event, created_at, state, attempts, next_at, status, code, message"

Delivery read_delivery(const Query& row) {
  return {.id = row.integer(0),
          .key = std::string(row.text(1)),
          .study = StudyId{row.integer(2)},
          .event = static_cast<protocol::WebhookEvent>(row.integer(3)),
          .created_at = row.integer(4),
          .state = static_cast<DeliveryState>(row.integer(5)),
          .attempts = row.integer(6),
          .next_at = row.integer(7),
          .status = row.integer(8),
          .code = std::string(row.text(9)),
          .message = std::string(row.text(10))};
}

std::vector<Candidate> candidates_of(Connection& db, StudyId id) {
  std::vector<Candidate> front;
  Query rows = db.query(
      "SELECT number, result_values FROM best_trials WHERE study = ? ORDER BY number LIMIT ?", id,
      kFrontOfFacts);
  while (rows.next()) front.push_back({TrialNumber{rows.integer(0)}, doubles_of(rows.text(1))});
  return front;
}

}  // namespace

std::optional<StudyWebhook> webhook_of(Connection& db, StudyId id) {
  StudyWebhook found;
  {
    Query row = db.query("SELECT url, events, deviceless FROM webhooks WHERE study = ?", id);
    if (!row.next()) return std::nullopt;
    found.webhook.url = row.text(0);
    for (const protocol::WebhookEvent event : kEvents)
      if ((row.integer(1) & bit_of(event)) != 0) found.webhook.events.push_back(event);
    found.deviceless = row.integer(2) != 0;
  }
  Query last = db.query("SELECT " HYPERFLOCK_DELIVERY_COLUMNS
                        " FROM deliveries WHERE study = ? ORDER BY id DESC LIMIT 1",
                        id);
  if (last.next()) found.last = read_delivery(last);
  return found;
}

Outbox outbox(Connection& db, std::int64_t now) {
  const Transaction view(db, Transaction::Kind::read);
  Outbox box;
  {
    Query rows = db.query(
        "SELECT d.id, d.key, d.study, d.event, d.created_at, d.state, d.attempts, d.next_at,"
        " d.status, d.code, d.message, d.owner, d.facts, w.url, s.secret FROM"
        " (SELECT *, row_number() OVER (PARTITION BY owner ORDER BY next_at, id) AS place"
        " FROM deliveries WHERE state = 0 AND next_at <= ?1) AS d"
        " JOIN webhooks AS w ON w.study = d.study JOIN webhook_secrets AS s ON s.owner = d.owner"
        " WHERE d.place <= ?2 ORDER BY d.place, d.next_at, d.id LIMIT ?3",
        now, kDueOfOwner, kMostDue);
    while (rows.next()) {
      box.due.push_back({read_delivery(rows), std::string(rows.text(11)),
                         std::string(rows.text(12)), std::string(rows.text(13)),
                         std::string(rows.text(14))});
    }
  }
  Query next = db.query("SELECT min(next_at) FROM deliveries WHERE state = 0 AND next_at > ?", now);
  if (next.next()) box.next_at = next.maybe_integer(0);
  return box;
}

std::optional<std::string> webhook_secret(Connection& db, const std::string& owner) {
  Query row = db.query("SELECT secret FROM webhook_secrets WHERE owner = ?", owner);
  if (!row.next()) return std::nullopt;
  return std::string(row.text(0));
}

void Writer::store_webhook(StudyId study, const protocol::Webhook& webhook,
                           const std::string& owner, const std::string& secret) {
  db_->run(
      "INSERT INTO webhooks (study, url, events) VALUES (?, ?, ?)"
      " ON CONFLICT (study) DO UPDATE SET url = excluded.url, events = excluded.events,"
      " deviceless = 0",
      study, webhook.url, bits_of(webhook.events));
  db_->run("INSERT OR IGNORE INTO webhook_secrets (owner, secret, created_at) VALUES (?, ?, ?)",
           owner, secret, now_);
}

Outcome Writer::apply_one(const SetWebhook& set) {
  if (find_study(set.study) == nullptr) return of_study(Applied::conflict, set.study);
  Outcome result = of_study(Applied::applied, set.study);
  if (!set.webhook) {
    db_->run("DELETE FROM deliveries WHERE study = ? AND state = 0", set.study);
    if (db_->run("DELETE FROM webhooks WHERE study = ?", set.study) == 0)
      result.applied = Applied::repeated;
    return result;
  }
  std::string owner;
  {
    Query row = db_->query("SELECT owner FROM studies WHERE id = ?", set.study);
    if (row.next()) owner = row.text(0);
  }
  store_webhook(set.study, *set.webhook, owner, set.secret);
  result.queued = db_->run("UPDATE deliveries SET next_at = ? WHERE study = ? AND state = 0", now_,
                           set.study) > 0;
  return result;
}

Outcome Writer::apply_one(const StoreWebhookSecret& store) {
  Outcome result;
  const int changed =
      store.renew ? db_->run(
                        "INSERT INTO webhook_secrets (owner, secret, created_at) VALUES (?, ?, ?)"
                        " ON CONFLICT (owner) DO UPDATE SET secret = excluded.secret,"
                        " created_at = excluded.created_at",
                        store.owner, store.secret, now_)
                  : db_->run(
                        "INSERT OR IGNORE INTO webhook_secrets (owner, secret, created_at)"
                        " VALUES (?, ?, ?)",
                        store.owner, store.secret, now_);
  result.applied = changed > 0 ? Applied::applied : Applied::repeated;
  return result;
}

Outcome Writer::apply_one(const NoteDevices& note) {
  const Study* study = find_study(note.study);
  if (study == nullptr) return of_study(Applied::conflict, note.study);
  if (!ledger::is_running(study->row)) return of_study(Applied::superseded, note.study);
  Outcome result = of_study(Applied::applied, note.study);
  if (db_->run("UPDATE webhooks SET deviceless = ?1 WHERE study = ?2 AND deviceless <> ?1",
               note.present ? 0 : 1, note.study) == 0) {
    result.applied = Applied::repeated;
  } else if (!note.present) {
    result.queued = queue_event(note.study, protocol::WebhookEvent::no_devices);
  }
  return result;
}

Outcome Writer::apply_one(const NoteDelivery& note) {
  const Delivery& changed = note.changed;
  Outcome result;
  result.applied = Applied::repeated;
  const int rows = db_->run(
      "UPDATE deliveries SET state = ?, attempts = ?, next_at = ?, status = ?, code = ?,"
      " message = ? WHERE id = ? AND state = 0",
      changed.state, changed.attempts, changed.next_at, changed.status, changed.code,
      changed.message, changed.id);
  if (rows == 0) return result;
  result.applied = Applied::applied;
  result.study = changed.study;
  return result;
}

bool Writer::queue_event(StudyId study, protocol::WebhookEvent event) {
  Query wanted = db_->query("SELECT 1 FROM webhooks WHERE study = ? AND events & ? <> 0", study,
                            bit_of(event));
  if (!wanted.next()) return false;
  events_.emplace_back(study, event);
  return true;
}

// Runs after the counters of the batch's studies are written, because an event's facts contain
// these counters.
void Writer::store_events() {
  for (const auto& [id, event] : std::exchange(events_, {})) {
    const std::optional<StudyRow> row = study(*db_, id);
    if (!row) continue;  // deleted in the same batch
    std::int64_t waiting = 0;
    {
      Query count =
          db_->query("SELECT count(*) FROM deliveries WHERE owner = ? AND state = 0", row->owner);
      count.next();
      waiting = count.integer(0);
    }
    const bool full = waiting >= kMostWaitingDeliveries;
    const std::string_view why =
        full ? "Too many events of yours wait for their delivery: look at the addresses of your "
               "webhooks."
             : "";
    db_->run(
        Sql("INSERT INTO deliveries (key, study, owner, event, created_at, facts, state, next_at,"
            " code, message) VALUES (lower(hex(randomblob(16))), ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            "INSERT INTO deliveries (key, study, owner, event, created_at, facts, state, next_at,"
            " code, message) VALUES (replace(CAST(gen_random_uuid() AS text), '-', ''),"
            " $1, $2, $3, $4, $5, $6, $7, $8, $9)"),
        id, row->owner, event, now_, webhook_facts(*row, candidates_of(*db_, id)),
        full ? DeliveryState::failed : DeliveryState::waiting, now_,
        full ? kTooManyDeliveries : std::string_view(), why);
    db_->run(
        "DELETE FROM deliveries WHERE study = ?1 AND state <> 0 AND id NOT IN"
        " (SELECT id FROM deliveries WHERE study = ?1 ORDER BY id DESC LIMIT ?2)",
        id, kKeptDeliveries);
  }
}

void Writer::forget_webhook(StudyId study) {
  db_->run("DELETE FROM webhooks WHERE study = ?", study);
  db_->run("DELETE FROM deliveries WHERE study = ?", study);
}

#undef HYPERFLOCK_DELIVERY_COLUMNS

}  // namespace hyperflock::storage::sqlite
