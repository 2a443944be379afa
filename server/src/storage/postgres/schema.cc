// See schema.h.
#include "storage/postgres/schema.h"

#include <string>

namespace hyperflock::storage::postgres {
namespace {

// "HFlk", as SQLite's application_id. All servers of a database's schema use this lock.
constexpr std::int64_t kMigrationLock = 1'212'574'827;

// Returns an error text if a commit could return before it is on the disk.
std::string unsafe_setting(Client& db) {
  auto& row = db.statement(
      "SELECT name FROM pg_settings WHERE name IN ('fsync', 'full_page_writes',"
      " 'synchronous_commit') AND setting = 'off' ORDER BY name LIMIT 1");
  return row.step() ? std::string(row.text(0)) + " is off" : std::string();
}

}  // namespace

Status migrate_within(Client& db, const std::string& place) {
  if (const std::string why = unsafe_setting(db); !why.empty()) {
    return Error{"storage_open", "Cannot use the database (" + place + "): " + why +
                                     ", so it would lose results when it crashes. Turn it on."};
  }
  // Schemas of one database do not wait for each other.
  auto& lock = db.statement("SELECT pg_advisory_xact_lock($1 # hashtext(current_schema()))");
  lock.bind(1, kMigrationLock);
  lock.step();
  auto& make = db.statement(
      "CREATE TABLE IF NOT EXISTS schema_versions (version BIGINT PRIMARY KEY, applied_at"
      " TIMESTAMPTZ NOT NULL DEFAULT now())");
  make.step();
  std::int64_t version = 0;
  {
    auto& row = db.statement("SELECT coalesce(max(version), 0) FROM schema_versions");
    row.step();
    version = row.integer(0);
  }
  const std::int64_t newest = migrations().back().version;
  if (version > newest) {
    return Error{"storage_too_new", "The database (" + place + ") has schema version " +
                                        std::to_string(version) + ", this server knows " +
                                        std::to_string(newest) +
                                        ": start a newer hyperflock-server."};
  }
  for (const Migration& migration : migrations()) {
    if (migration.version <= version) continue;
    db.exec(migration.sql);
    auto& note = db.statement("INSERT INTO schema_versions (version) VALUES ($1)");
    note.bind(1, migration.version);
    note.step();
  }
  return {};
}

Status migrate(Client& db, const std::string& place) {
  sql::Transaction transaction(db, sql::Access::write);
  TRY(migrate_within(db, place));
  transaction.commit();
  return {};
}

}  // namespace hyperflock::storage::postgres
