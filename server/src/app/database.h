// Opens the database of a server: SQLite's file in the state folder, or PostgreSQL.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "app/config.h"
#include "base/result.h"
#include "storage/postgres/open.h"
#include "storage/sqlite/standby/standby.h"
#include "storage/sqlite/storage.h"
#include "storage/storage.h"

namespace hyperflock::app {

struct OpenedDatabase {
  // Keeps a second server away from the state folder, which also has the blobs. SQLite's storage
  // has it itself.
  std::unique_ptr<storage::FileLock> lock;
  std::unique_ptr<storage::Storage> storage;
  std::int64_t epoch = 0;  // of this server's turn with PostgreSQL; 0 with SQLite
};

// Returns how this server uses the database of --database. The state folder must exist. Errors:
// `file_unreadable` (the password's file), `bad_state`.
Result<storage::PostgresSettings> postgres_settings(const ServeConfig& config);

// With --shared-files, takes the files, too. The state folder must exist. `lost` is called once, on
// any thread, when another server has taken the database over. Spares find `peer` there. Errors:
// those of storage::open_sqlite_storage(), of storage::open_postgres_storage(), of
// postgres_settings(), of take_shared_files(), and `state_moved`.
Result<OpenedDatabase> open_database(const ServeConfig& config, storage::WallClock clock,
                                     std::optional<storage::StandbyTarget> standby = {},
                                     std::function<void()> lost = {},
                                     const storage::ShardPeer& peer = {});

}  // namespace hyperflock::app
