// Opens the PostgreSQL back end. Code outside this folder uses only this header.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "storage/storage.h"

namespace hyperflock::storage {

// What a server learns when it has taken the shard.
struct TakenShard {
  std::int64_t epoch = 0;  // grows whenever a server takes the shard
  std::string files;       // names the database; the same for all its servers
};

// Where the server that has the shard takes connections from servers that wait, and the secret by
// which both ends know each other. Whoever reads the shard's row knows it.
struct ShardPeer {
  std::string address{};  // HOST:PORT, a name or an address; empty: it takes none
  std::string secret{};   // new with each epoch
  bool operator==(const ShardPeer&) const = default;
};

struct PostgresSettings {
  std::string url{};       // postgres://USER@HOST:PORT/DATABASE?OPTION=VALUE, as libpq takes it
  std::string password{};  // empty: none, or as libpq finds one (PGPASSWORD, PGPASSFILE)
  // Names this server. A server that starts again takes its shard at once; others wait until the
  // first one's time is over.
  std::string server{};
  // How long a shard stays with a server that does not answer.
  int lease_ms = 30'000;
  // The most connections for reading.
  std::size_t readers = 12;
  // How long a batch waits for a database that is away. If the connection was lost during a commit,
  // this is also how long is tried to find out whether the batch was committed.
  int patience_ms = 15'000;
  // Statements of readers that take longer fail.
  int read_timeout_ms = 30'000;
  // Is written into the shard's row when it is taken.
  ShardPeer peer{};
  // Is called once when another server has taken the shard, on any thread. It must not block.
  std::function<void()> lost{};
};

// Returns whether this program has the PostgreSQL back end.
bool has_postgres();

// Returns why the URL of a database is invalid, in one sentence; an empty text if it is valid. A
// URL must have no password, because command lines and settings are shown.
std::string postgres_url_fault(const std::string& url);

// Connects, creates or migrates the tables if necessary, and takes the shard, of which `taken`
// learns. Tables are not migrated while another server has the shard. Errors: `postgres_not_built`,
// `postgres_unreachable`, `postgres_password`, `storage_too_new`, `shard_held`, `storage_open`.
// REQUIRES: postgres_url_fault(settings.url) is empty.
Result<std::unique_ptr<Storage>> open_postgres_storage(PostgresSettings settings, WallClock clock,
                                                       TakenShard* taken = nullptr);

// The shard as a server sees it that waits for it.
struct ShardSeen {
  // Nobody has it, the time of the server that has it is over, or the process of that server is
  // dead.
  bool may_take = false;
  std::string server{};  // the one that has it
  std::int64_t epoch = 0;
  ShardPeer peer{};
};

// Looks at the shard. One thread.
class ShardWatch {
 public:
  virtual ~ShardWatch() = default;
  // Asks the database, by a connection that stays. After each new connection, a shard whose time is
  // over may not be taken for half of settings.lease_ms: the database may have been away, and the
  // server that has the shard then renews it. If that server's own connection (shard.h) was there,
  // and is missed for a fifth of settings.lease_ms, ends the shard's time. Errors:
  // `storage_unavailable`, `postgres_not_built`.
  virtual Result<ShardSeen> look() = 0;
};

std::unique_ptr<ShardWatch> watch_shard(PostgresSettings settings);

}  // namespace hyperflock::storage
