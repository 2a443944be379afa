// Creates and migrates the tables.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "storage/postgres/client.h"

namespace hyperflock::storage::postgres {

// One step of the schema: migrations/NNNN_name.sql, embedded at build time. The table
// schema_versions has the steps that were applied.
struct Migration {
  std::int64_t version;
  const char* sql;
};

// Returns all migrations in order: versions 1, 2, ...
std::span<const Migration> migrations();

// Applies the missing migrations in one transaction. Servers that start at the same time do so one
// after the other. Throws PgError. Errors: `storage_too_new`; `storage_open` if the database does
// not write safely.
Status migrate(Client& db, const std::string& place);

// As migrate(), in the transaction that is open. Other servers that migrate wait until it ends.
Status migrate_within(Client& db, const std::string& place);

}  // namespace hyperflock::storage::postgres
