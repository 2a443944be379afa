// Makes a state folder from a backup. One thread; blocks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/sqlite/check/check.h"

namespace hyperflock::backup {

// A file of this name says that a restoration has not ended. No server starts on such a folder.
inline constexpr const char* kUnfinished = "restoration-unfinished";

struct Restored {
  std::string name;  // of the backup
  std::int64_t at = 0;
  std::int64_t files = 0;
  std::vector<storage::Finding> findings;  // what is wrong with the backup; all else is restored
};

// Returns `not_empty` unless the folder is empty, new, or of a restoration that was interrupted.
Status may_restore_to(const std::filesystem::path& state);

// Restores a backup (empty name: the newest) to a folder that is empty, new, or of a restoration
// that was interrupted. Errors: those of Repository::open(), `unknown_backup`, `not_empty`,
// `backup_damaged`, `storage_too_new`, `backup_no_room`, `backup_failed`.
Result<Restored> restore(const std::string& folder, const std::string& name,
                         const std::string& state_dir, std::int64_t now);

}  // namespace hyperflock::backup
