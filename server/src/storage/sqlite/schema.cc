// Opens and migrates a database file; see schema.h.
#include "storage/sqlite/schema.h"

#include <string>

#include "storage/sqlite/best.h"

namespace hyperflock::storage::sqlite {
namespace {

// SQLite cuts the log file to this size after a checkpoint that emptied the log.
constexpr const char* kLogLimitBytes = "33554432";

// Since this version of the schema, the stored best trials take constraints and several directions
// into account.
constexpr std::int64_t kKnowsBest = 12;

Error open_error(const std::string& path, const std::string& why, const std::string& what_to_do) {
  return Error{"storage_open", "Cannot use " + path + " (" + why + "): " + what_to_do + "."};
}

// Sets a pragma and reads it back. Returns an empty text if the value is `expected`, else an error
// message.
std::string set_and_read_back(Db& db, const std::string& name, const std::string& value,
                              const std::string& expected) {
  db.exec("PRAGMA " + name + " = " + value);
  const std::string got = db.single("PRAGMA " + name);
  return got == expected ? std::string() : name + " reads back as \"" + got + "\"";
}

bool is_foreign(Db& db) {
  return db.single("SELECT count(*) FROM sqlite_master") != "0" && !is_ours(db);
}

Status migrate(Db& db, const std::string& path) {
  Transaction transaction(db, Transaction::Kind::write);
  const std::int64_t version = std::stoll(db.single("PRAGMA user_version"));
  const std::int64_t newest = migrations().back().version;
  if (version > newest) return too_new(path, version);
  for (const Migration& migration : migrations()) {
    if (migration.version > version) db.exec(migration.sql);
  }
  if (version > 0 && version < kKnowsBest) find_best_trials(db);
  if (version < newest) {
    db.exec("PRAGMA user_version = " + std::to_string(newest));
    db.exec(std::string("PRAGMA application_id = ") + kApplicationId);
  }
  transaction.commit();
  return {};
}

}  // namespace

bool is_ours(Db& db) { return db.single("PRAGMA application_id") == kApplicationId; }

Error too_new(const std::string& path, std::int64_t version) {
  return Error{"storage_too_new", path + " has schema version " + std::to_string(version) +
                                      ", this server knows " +
                                      std::to_string(migrations().back().version) +
                                      ": start a newer hyperflock-server."};
}

Result<std::unique_ptr<Db>> open_for_writing(const std::string& path, int busy_timeout_ms) {
  try {
    auto db = std::make_unique<Db>(path, Db::Mode::read_write);
    db->set_busy_timeout(busy_timeout_ms);
    if (is_foreign(*db)) {
      return open_error(path, "it is a database of another program", "name another file");
    }
    if (const std::string mode = db->single("PRAGMA journal_mode = WAL"); mode != "wal") {
      return open_error(path, "journal_mode is \"" + mode + "\" instead of wal",
                        "put it on a local disk");
    }
    for (const std::string& wrong : {
             // With FULL, a commit returns only after the log is on the disk.
             set_and_read_back(*db, "synchronous", "FULL", "2"),
             set_and_read_back(*db, "foreign_keys", "ON", "1"),
             set_and_read_back(*db, "journal_size_limit", kLogLimitBytes, kLogLimitBytes),
             set_and_read_back(*db, "cache_size", "-32768", "-32768"),  // KiB
         }) {
      if (!wrong.empty()) return open_error(path, wrong, "check how SQLite was built");
    }
    TRY(migrate(*db, path));
    db->watch_log();
    return db;
  } catch (const SqliteError& error) {
    return open_error(path, error.what(), "check that its folder exists and is writable");
  }
}

}  // namespace hyperflock::storage::sqlite
