// What both directions need of a database of PostgreSQL. Each function throws postgres::PgError.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "storage/move/move.h"
#include "storage/move/tables.h"
#include "storage/postgres/client.h"

namespace hyperflock::storage::move {

inline constexpr std::int64_t kControlRows = 1'000;  // rows between two calls of a MoveControl

// Carries the error of a caller's function out of a callback.
struct Stopped {
  Error error;
};
// Throws Stopped if the status is an error.
void go_on(const Status& status);

// Connects, with statements that may take any time.
postgres::ClientSettings client_settings(const PostgresPlace& place);

// Returns the host, port, database and user of a URL.
std::string shown_place(const PostgresPlace& place);

// Returns the lines that a query gives as one text each. `query` is PostgreSQL's own.
std::vector<std::string> lines(postgres::Client& db, const std::string& query);

// Compares the tables, their columns and types with those of SQLite. Returns what differs; an empty
// text if nothing does.
std::string difference(postgres::Client& db, const std::vector<Table>& tables);

// Returns the version of the schema; 0 if there are no tables of a server.
std::int64_t schema_version(postgres::Client& db);

// Returns the tables and the columns whose values PostgreSQL counts.
std::vector<std::pair<std::string, std::string>> counted_columns(postgres::Client& db);

}  // namespace hyperflock::storage::move
