// Moves the rows of a server from SQLite's file to PostgreSQL, and copies them back, for a backup.
// Nothing else is moved: the blobs stay in the state folder. One thread; blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hyperflock::storage {

// A database of PostgreSQL. REQUIRES: postgres_url_fault(url) is empty.
struct PostgresPlace {
  std::string url{};
  std::string password{};  // empty: as libpq finds one (PGPASSWORD, PGPASSFILE)
};

struct MoveProgress {
  std::string_view table;
  std::int64_t rows = 0;   // of the table, that were copied or compared
  std::int64_t total = 0;  // of the table; 0: not known
  bool compares = false;   // the rows are read again, to compare them
};
// Is called after each table and again and again in between. An error ends the move.
using MoveControl = std::function<Status(const MoveProgress&)>;

struct Moved {
  std::int64_t tables = 0;
  std::int64_t rows = 0;
  std::int64_t replaced = 0;  // texts
  std::string place{};        // host, port, database and user
};

// What becomes of texts that PostgreSQL does not store, because they have NUL or are not UTF-8.
enum class Unstorable { refuse, replace };

// Copies all rows of SQLite's file to a database that is empty, in one transaction: unless it
// succeeds, that database stays as it was. Before the commit, all rows are read back, and their
// number and their hash are compared for each table. REQUIRES: no server uses the file. Errors:
// that of `control`; `postgres_not_built`, `postgres_unreachable`, `postgres_password`;
// `storage_too_old`, `storage_too_new` (the schema of either); `target_not_empty`, `target_full`,
// `target_failed`, `text_not_storable`, `move_differs`; `storage_open` if one of both cannot be
// used.
Result<Moved> move_to_postgres(const std::string& path, const PostgresPlace& to,
                               Unstorable unstorable, const MoveControl& control);

// Writes the rows of a database of PostgreSQL to a new file of SQLite of mode 0600, which then is
// whole and durable, as those of backups are. They are of one moment; `begun` is called when it is
// certain which. If it fails, the file is removed. Errors: that of `control`, `postgres_not_built`,
// `postgres_unreachable`, `postgres_password`, `storage_too_old`, `storage_too_new`,
// `storage_open`, `backup_no_room`, `backup_failed`.
Result<Moved> copy_from_postgres(const PostgresPlace& from, const std::string& target,
                                 const std::function<void()>& begun, const MoveControl& control);

}  // namespace hyperflock::storage
