// Translates the shared SQL (sql/connection.h) to PostgreSQL's dialect, and finds out which tables
// a statement uses. Pure.
#pragma once

#include <string>
#include <string_view>

namespace hyperflock::storage::postgres {

// Translates parameters (`?` and `?1` to `$1`), `INSERT OR IGNORE`, empty BLOBs, `LIMIT -1`, and
// SQLite's hints for its planner (`INDEXED BY`, `CROSS JOIN ... ON`), which are left out.
std::string translate(std::string_view sql);

// How a statement uses the tables that LeaseRows keeps in memory.
struct LeaseUse {
  bool reads = false;    // it names one of them
  bool changes = false;  // it inserts, updates or deletes rows of one of them
};
LeaseUse lease_use(std::string_view sql);

}  // namespace hyperflock::storage::postgres
