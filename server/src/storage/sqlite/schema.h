// Opens a database file: sets pragmas, checks its application id and version, and migrates it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "storage/sqlite/db/db.h"

namespace hyperflock::storage::sqlite {

// "HFlk": the application id of a server's files, which no other program has.
inline constexpr const char* kApplicationId = "1212574827";

// One step of the schema: migrations/NNNN_name.sql, embedded at build time. `PRAGMA user_version`
// is the version of the last step that was applied.
struct Migration {
  std::int64_t version;
  const char* sql;
};

// Returns all migrations in order: versions 1, 2, ...
std::span<const Migration> migrations();

// Returns whether a server like this one made the database.
bool is_ours(Db& db);

// Returns the error for a file with a schema of this version, which is newer than the newest known.
Error too_new(const std::string& path, std::int64_t version);

// Opens the file for writing, creates or migrates it, and verifies that the pragmas took effect.
// Errors: `storage_open`, `storage_too_new`.
Result<std::unique_ptr<Db>> open_for_writing(const std::string& path, int busy_timeout_ms);

}  // namespace hyperflock::storage::sqlite
