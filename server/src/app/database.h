// Opens the database of a server: SQLite's file in the state folder, or PostgreSQL.
#pragma once

#include <memory>
#include <optional>

#include "app/config.h"
#include "base/result.h"
#include "storage/sqlite/standby/standby.h"
#include "storage/sqlite/storage.h"
#include "storage/storage.h"

namespace hyperflock::app {

struct OpenedDatabase {
  // Keeps a second server away from the state folder, which also has the blobs. SQLite's storage
  // has it itself.
  std::unique_ptr<storage::FileLock> lock;
  std::unique_ptr<storage::Storage> storage;
};

// The state folder must exist. Errors: those of storage::open_sqlite_storage() and of
// storage::open_postgres_storage(), `file_unreadable` (the password's file), `bad_state`.
Result<OpenedDatabase> open_database(const ServeConfig& config, storage::WallClock clock,
                                     std::optional<storage::StandbyTarget> standby = {});

}  // namespace hyperflock::app
