// See stopped_database.h.
#include "storage/sqlite/check/stopped_database.h"

#include <filesystem>

#include "storage/sqlite/copy.h"
#include "storage/sqlite/db/db.h"

namespace hyperflock::storage {
namespace {

// The first version of the schema that has all tables that are changed here.
constexpr std::int64_t kHasAll = 18;
constexpr std::int64_t kStudyGap = 1'000;
constexpr std::int64_t kAuditGap = 1'000'000;
// More than a server gives between two backups: 5,000 a second for ten days. 2^53 has room for two
// million such gaps.
constexpr std::int64_t kAttemptGap = std::int64_t{1} << 32;

}  // namespace

Result<std::unique_ptr<StoppedDatabase>> StoppedDatabase::open(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return Error{"bad_state",
                 "There is no " + path + ": give the folder that `serve --state` was given."};
  }
  TRY(auto lock, FileLock::take(path + ".lock"));
  return std::unique_ptr<StoppedDatabase>(new StoppedDatabase(path, std::move(lock)));
}

Status StoppedDatabase::copy_to(const std::string& target) const {
  return sqlite::copy_database(path_, target, sqlite::Pace::full,
                               [](const CopyProgress&) { return Status(); });
}

Status apply_log(const std::string& path) {
  try {
    sqlite::Db db(path, sqlite::Db::Mode::read_write);
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    return {};
  } catch (const sqlite::SqliteError& error) {
    return Error{"backup_damaged", "The standby's database cannot be used (" +
                                       std::string(error.what()) + "): restore a backup."};
  }
}

Status mark_restored(const std::string& path, const std::string& backup, std::int64_t now) {
  try {
    sqlite::Db db(path, sqlite::Db::Mode::read_write);
    if (std::stoll(db.single("PRAGMA user_version")) < kHasAll) return {};
    db.exec("PRAGMA synchronous = FULL");
    sqlite::Transaction transaction(db, sqlite::Transaction::Kind::write);
    db.run(
        "UPDATE given SET"
        " study = max(study, (SELECT coalesce(max(id), 0) FROM studies)) + ?1,"
        " attempt = max(attempt, (SELECT coalesce(max(id), 0) FROM attempts)) + ?2,"
        " seq = max(seq, (SELECT coalesce(max(cursor), 0) FROM study_progress)) + ?2",
        kStudyGap, kAttemptGap);
    db.run("UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'audit'", kAuditGap);
    db.run(
        "INSERT INTO audit (at, actor, action, object, address, detail)"
        " VALUES (max(?1, (SELECT coalesce(max(at), 0) FROM kept_time)), 'server',"
        " 'backup.restore', ?2, '', '')",
        now, backup);
    transaction.commit();
    return {};
  } catch (const sqlite::SqliteError& error) {
    return Error{"backup_failed", "Cannot change the restored database (" +
                                      std::string(error.what()) +
                                      "): look at the disk, and restore again."};
  }
}

}  // namespace hyperflock::storage
