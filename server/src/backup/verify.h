// Verifies backups and state folders. Changes nothing in backups. One thread; reads everything.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/sqlite/check/check.h"

namespace hyperflock::backup {

struct Verified {
  std::vector<std::string> names;  // of the backups; none: a state folder was verified
  std::int64_t files = 0;          // that were read and hashed
  // `text` begins with the name of the backup.
  std::vector<storage::Finding> findings;
};

// Verifies all backups of a folder, or the one with this name; or, if the folder is a state folder,
// that one, whose server must not run. Errors: those of Repository::open(), `unknown_backup`,
// `storage_open`, `storage_too_new`.
Result<Verified> verify(const std::string& folder, const std::string& name);

}  // namespace hyperflock::backup
