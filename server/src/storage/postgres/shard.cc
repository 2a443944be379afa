// See shard.h.
#include "storage/postgres/shard.h"

#include <chrono>
#include <memory>

namespace hyperflock::storage::postgres {
namespace {

constexpr std::string_view kWholeDatabase;
constexpr std::chrono::milliseconds kRetry{200};
// How often the shard is renewed in the time for which it is kept.
constexpr int kRenewals = 3;

}  // namespace

Result<std::unique_ptr<Shard>> Shard::take(Client& db, ShardSettings settings) {
  auto& row = db.statement(
      "INSERT INTO shards (project, server, epoch, expires, batch) VALUES ($1, $2, 1,"
      " clock_timestamp() + $3 * interval '1 millisecond', '')"
      " ON CONFLICT (project) DO UPDATE SET server = excluded.server, epoch = shards.epoch + 1,"
      " expires = excluded.expires WHERE shards.server = excluded.server"
      " OR shards.expires < clock_timestamp() RETURNING epoch");
  row.bind(1, kWholeDatabase);
  row.bind(2, std::string_view(settings.server));
  row.bind(3, std::int64_t{settings.lease_ms});
  if (row.step()) {
    const std::int64_t epoch = row.integer(0);
    return std::unique_ptr<Shard>(new Shard(std::move(settings), epoch));
  }
  auto& holder = db.statement(
      "SELECT server, CAST(extract(epoch FROM expires - clock_timestamp()) AS BIGINT) FROM shards"
      " WHERE project = $1");
  holder.bind(1, kWholeDatabase);
  const bool known = holder.step();
  return Error{"shard_held",
               "Another hyperflock-server" +
                   (known ? " (" + std::string(holder.text(0)) + ")" : "") +
                   " uses this database: stop it first, or wait " +
                   std::to_string(known ? std::max<std::int64_t>(holder.integer(1), 0) + 1 : 1) +
                   " seconds if it does not run any more."};
}

Shard::Shard(ShardSettings settings, std::int64_t epoch)
    : settings_(std::move(settings)), epoch_(epoch), renewer_([this] { renew(); }) {}

Shard::~Shard() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stops_.notify_all();
  renewer_.join();
}

void Shard::hold(Client& db) {
  batch_ = std::to_string(epoch_) + '/' + std::to_string(++number_);
  auto& hold = db.statement("SELECT hold_shard($1, $2, $3)");
  hold.bind(1, kWholeDatabase);
  hold.bind(2, epoch_);
  hold.bind(3, std::string_view(batch_));
  hold.run_soon();
}

std::string Shard::newest_batch(Client& db) {
  // The lock is taken only after the transaction of a lost connection has ended.
  auto& row = db.statement("SELECT batch FROM shards WHERE project = $1 FOR UPDATE");
  row.bind(1, kWholeDatabase);
  return row.step() ? std::string(row.text(0)) : std::string();
}

bool Shard::was_committed(Client& db) {
  unsettled_ = true;
  const auto give_up =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(settings_.patience_ms);
  for (;;) {
    std::string why;
    try {
      db.reconnect();
      const bool committed = newest_batch(db) == batch_;
      unsettled_ = false;
      return committed;
    } catch (const PgError& error) {
      why = error.what();
    }
    if (std::chrono::steady_clock::now() >= give_up) throw FateUnknown("postgres_unreachable", why);
    std::this_thread::sleep_for(kRetry);
  }
}

Status Shard::settled() {
  if (!unsettled_) return {};
  try {
    Client db(settings_.client);
    newest_batch(db);
    unsettled_ = false;
    return {};
  } catch (const PgError& error) {
    return Error{"storage_unavailable",
                 std::string("The database did not answer (") + error.what() +
                     "), and it is not known yet whether the last batch was stored: start the "
                     "database, the server then goes on by itself."};
  }
}

// Runs on a thread and a connection of its own, so that a long batch does not keep the shard from
// being renewed.
void Shard::renew() {
  std::unique_ptr<Client> db;
  const auto pause = std::chrono::milliseconds(settings_.lease_ms / kRenewals);
  const auto set_expiry = [&](std::int64_t lease_ms) {
    try {
      if (!db || !db->usable()) db = std::make_unique<Client>(settings_.client);
      auto& update = db->statement(
          "UPDATE shards SET expires = clock_timestamp() + $3 * interval '1 millisecond'"
          " WHERE project = $1 AND epoch = $2");
      update.bind(1, kWholeDatabase);
      update.bind(2, epoch_);
      update.bind(3, lease_ms);
      update.step();
    } catch (const PgError&) {
      db.reset();  // a batch reports that the database is away
    }
  };
  std::unique_lock lock(mutex_);
  while (!stops_.wait_for(lock, pause, [this] { return stopping_; })) {
    lock.unlock();
    set_expiry(settings_.lease_ms);
    lock.lock();
  }
  lock.unlock();
  set_expiry(0);  // another server may take the shard at once
}

}  // namespace hyperflock::storage::postgres
