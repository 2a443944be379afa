// Checks a database file: that SQLite finds it intact, that its schema is the expected one, and
// that its rows obey the invariants that the server relies on (check/rules.cc). One thread; it may
// read the whole file. Code outside of storage uses this header and open.h only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace hyperflock::storage {

struct Finding {
  std::string code;  // of the broken rule, such as `trial_counts`
  std::string text;  // one sentence with the first rows that break it
  bool operator==(const Finding&) const = default;
};

struct CheckedDatabase {
  std::int64_t version = 0;  // of the schema
  // Whether the rows were checked. An older schema has other columns, so only its structure is.
  bool rows_checked = false;
  std::vector<Finding> findings;
  // The next three lists are sorted. `owned` and `kept` are as in Storage::owned_blobs() and
  // kept_blobs(): blobs of researchers and of attempts. `runtimes` is what running studies need.
  std::vector<std::string> owned;
  std::vector<std::string> kept;
  std::vector<std::string> runtimes;
  std::int64_t studies = 0;
  std::int64_t finished_trials = 0;
};

// `resting`: nothing is changed, and no other file is read: the file is a whole database without a
// log, as backups have it. `stopped`: the database of a server that does not run; a log that a
// crash left is part of it. `locked`: the same, and the caller has the FileLock.
enum class DatabaseState { resting, stopped, locked };

// Errors: `storage_open` if the file is not a database of this server, or is in use;
// `storage_too_new`.
Result<CheckedDatabase> check_database(const std::string& path, DatabaseState state);

}  // namespace hyperflock::storage
