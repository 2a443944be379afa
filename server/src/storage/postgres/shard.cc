// See shard.h.
#include "storage/postgres/shard.h"

#include <algorithm>
#include <chrono>
#include <memory>

namespace hyperflock::storage::postgres {
namespace {

constexpr std::string_view kWholeDatabase;
constexpr std::chrono::milliseconds kRetry{200};
// How often the shard is renewed in the time for which it is kept.
constexpr int kRenewals = 3;
// How often is looked whether the connection that shows that this server lives still stands. It is
// less than the time for which servers that wait miss it before they take the shard.
constexpr std::chrono::milliseconds kLookEvery{500};

// How long a server that takes a shard waits for the transaction of the one before, and how often.
constexpr const char* kLockTimeout = "SET lock_timeout = 2000";
constexpr int kTries = 3;
constexpr const char* kLockNotAvailable = "55P03";

Error held(std::string_view server, std::int64_t seconds) {
  return Error{"shard_held", "Another hyperflock-server (" + std::string(server) +
                                 ") uses this database: stop it first, or wait " +
                                 std::to_string(std::max<std::int64_t>(seconds, 0) + 1) +
                                 " seconds if it does not run any more."};
}

// Returns an error if a server with another name has the shard.
Status check_row(Client& db, const std::string& server) {
  auto& row = db.statement(
      "SELECT server, CAST(extract(epoch FROM expires - clock_timestamp()) AS BIGINT) FROM shards"
      " WHERE project = $1 AND server <> $2 AND expires >= clock_timestamp()");
  row.bind(1, kWholeDatabase);
  row.bind(2, std::string_view(server));
  if (row.step()) return held(row.text(0), row.integer(1));
  return {};
}

// Ends the transactions that hold the row of a shard whose time is over. Their server is stopped or
// cut off, or it would have renewed the shard.
void end_old_transactions(Client& db) {
  db.statement(
        "SELECT pg_terminate_backend(l.pid) FROM pg_locks AS l, shards AS s"
        " WHERE l.locktype = 'relation' AND l.relation = CAST('shards' AS regclass)"
        " AND l.mode = 'RowExclusiveLock' AND l.granted AND l.pid <> pg_backend_pid()"
        " AND s.project = '' AND s.expires < clock_timestamp()")
      .step();
}

}  // namespace

Status Shard::check_free(Client& db, const std::string& server) {
  {
    auto& table = db.statement("SELECT to_regclass('shards') IS NOT NULL");
    if (!table.step() || table.integer(0) == 0) return {};
  }
  TRY(check_row(db, server));
  end_old_transactions(db);
  return {};
}

Result<std::unique_ptr<Shard>> Shard::take(Client& db, ShardSettings settings) {
  db.exec(kLockTimeout);
  for (int tries = 1;; ++tries) {
    TRY(check_row(db, settings.server));
    auto& row = db.statement(
        "INSERT INTO shards (project, server, epoch, expires, batch, peer, peer_secret) VALUES"
        " ($1, $2, 1, clock_timestamp() + $3 * interval '1 millisecond', '', $4, $5)"
        " ON CONFLICT (project) DO UPDATE SET server = excluded.server, epoch = shards.epoch + 1,"
        " expires = clock_timestamp() + $3 * interval '1 millisecond',"
        " peer = excluded.peer, peer_secret = excluded.peer_secret"
        " WHERE shards.server = excluded.server OR shards.expires < clock_timestamp()"
        " RETURNING epoch, files");
    row.bind(1, kWholeDatabase);
    row.bind(2, std::string_view(settings.server));
    row.bind(3, std::int64_t{settings.lease_ms});
    row.bind(4, std::string_view(settings.peer.address));
    row.bind(5, std::string_view(settings.peer.secret));
    try {
      if (row.step()) {
        const std::int64_t epoch = row.integer(0);
        std::string files(row.text(1));
        db.exec("RESET lock_timeout");
        return std::unique_ptr<Shard>(new Shard(std::move(settings), epoch, std::move(files)));
      }
      // Another server was faster.
      TRY(check_row(db, settings.server));
    } catch (const PgError& error) {
      if (error.state() != kLockNotAvailable || tries == kTries) throw;
      end_old_transactions(db);
    }
    if (tries == kTries) return held("unknown", 0);
  }
}

Shard::Shard(ShardSettings settings, std::int64_t epoch, std::string files)
    : settings_(std::move(settings)),
      epoch_(epoch),
      files_(std::move(files)),
      renewer_([this] { renew(); }) {}

void Shard::note_lost() {
  if (!lost_.exchange(true) && settings_.lost) settings_.lost();
}

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

bool Shard::connect(std::unique_ptr<Client>& db) const {
  try {
    if (db && db->stands()) return true;
    db = std::make_unique<Client>(settings_.client);
    // The URL may have a name of its own, which is replaced.
    // shard_watch.cc looks for this name.
    auto& named = db->statement("SELECT set_config('application_name', $1, false)");
    const std::string name = "hyperflock shard " + files_ + '/' + std::to_string(epoch_);
    named.bind(1, std::string_view(name));
    named.step();
    return true;
  } catch (const PgError&) {
    db.reset();
    return false;
  }
}

// Runs on a thread and a connection of its own, so that a long batch does not keep the shard from
// being renewed.
void Shard::renew() {
  std::unique_ptr<Client> db;
  const auto pause = std::chrono::milliseconds(settings_.lease_ms / kRenewals);
  const auto set_expiry = [&](std::int64_t lease_ms) {
    if (!connect(db)) return;
    try {
      auto& update = db->statement(
          "UPDATE shards SET expires = clock_timestamp() + $3 * interval '1 millisecond'"
          " WHERE project = $1 AND epoch = $2");
      update.bind(1, kWholeDatabase);
      update.bind(2, epoch_);
      update.bind(3, lease_ms);
      update.step();
      if (lease_ms > 0 && update.rows() == 0) note_lost();
    } catch (const PgError&) {
      db.reset();  // a batch reports that the database is away
    }
  };
  connect(db);
  auto renewed = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!stops_.wait_for(lock, std::min(pause, kLookEvery), [this] { return stopping_; })) {
    lock.unlock();
    if (const auto now = std::chrono::steady_clock::now(); now - renewed >= pause) {
      renewed = now;
      set_expiry(settings_.lease_ms);
    } else {
      connect(db);
    }
    lock.lock();
  }
  lock.unlock();
  set_expiry(0);  // another server may take the shard at once
}

}  // namespace hyperflock::storage::postgres
