// Opens the PostgreSQL back end. Code outside this folder uses only this header.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "storage/storage.h"

namespace hyperflock::storage {

struct PostgresSettings {
  std::string url{};       // postgres://USER@HOST:PORT/DATABASE?OPTION=VALUE, as libpq takes it
  std::string password{};  // empty: none, or as libpq finds one (PGPASSWORD, PGPASSFILE)
  // Names this server. A server that starts again takes its shard at once; others wait until the
  // first one's time is over.
  std::string server{};
  // How long a shard stays with a server that does not answer.
  int lease_ms = 30'000;
  // The most connections for reading.
  std::size_t readers = 8;
  // How long a batch waits for a database that is away. If the connection was lost during a commit,
  // this is also how long is tried to find out whether the batch was committed.
  int patience_ms = 15'000;
  // Statements of readers that take longer fail.
  int read_timeout_ms = 30'000;
};

// Returns whether this program has the PostgreSQL back end.
bool has_postgres();

// Returns why the URL of a database is invalid, in one sentence; an empty text if it is valid. A
// URL must have no password, because command lines and settings are shown.
std::string postgres_url_fault(const std::string& url);

// Connects, creates or migrates the tables if necessary, and takes the shard. Errors:
// `postgres_not_built`, `postgres_unreachable`, `postgres_password`, `storage_too_new`,
// `shard_held`, `storage_open`. REQUIRES: postgres_url_fault(settings.url) is empty.
Result<std::unique_ptr<Storage>> open_postgres_storage(PostgresSettings settings, WallClock clock);

}  // namespace hyperflock::storage
