// Opens the SQLite back end. Code outside this folder uses only this header.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "storage/sqlite/standby/standby.h"
#include "storage/storage.h"

namespace hyperflock::storage {

// Returns the path of the database in a state folder.
std::string database_of(const std::string& state_dir);

// Returns the version of SQLite that this program runs, such as "3.54.1".
std::string sqlite_version();

// Opens the database file, and creates or migrates it if necessary. The database runs in WAL mode
// with synchronous=FULL. Both are read back, and another value is an error. With `standby`, its
// commits are shipped there. Errors: `storage_open`, `storage_too_new`.
Result<std::unique_ptr<Storage>> open_sqlite_storage(const std::string& path, WallClock clock,
                                                     std::optional<StandbyTarget> standby = {});

}  // namespace hyperflock::storage
