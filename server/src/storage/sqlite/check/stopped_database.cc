// See stopped_database.h.
#include "storage/sqlite/check/stopped_database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/disk_full.h"
#include "storage/sqlite/copy.h"
#include "storage/sqlite/db/db.h"
#include "storage/sqlite/new_file.h"
#include "storage/sqlite/schema.h"

namespace hyperflock::storage {
namespace {

// The first version of the schema that has all tables that are changed here.
constexpr std::int64_t kHasAll = 18;
constexpr std::int64_t kStudyGap = 1'000;
constexpr std::int64_t kAuditGap = 1'000'000;
// More than a server gives between two backups: 5,000 a second for ten days. 2^53 has room for two
// million such gaps.
constexpr std::int64_t kAttemptGap = std::int64_t{1} << 32;

Error compact_error(const std::string& file, int error) {
  if (means_no_room(error)) {
    return Error{"no_room", "The disk of " + file +
                                " has no room for the new file next to the old one: make room."};
  }
  return Error{"compact_failed", "Cannot write " + file + " (" + std::strerror(error) +
                                     "): look at the disk and the folder's rights."};
}

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

Result<Compacted> StoppedDatabase::compact() const {
  namespace fs = std::filesystem;
  const std::string made = path_ + ".compact";
  std::error_code error;
  fs::remove(made, error);  // an interrupted try left it
  Compacted done;
  try {
    sqlite::NewFile file(made);
    if (!file.create()) return compact_error(made, errno);
    {
      sqlite::Db db(path_, sqlite::Db::Mode::read_write);
      if (!sqlite::is_ours(db))
        return Error{"compact_failed", path_ + " is a database of another program."};
      db.run("PRAGMA wal_checkpoint(TRUNCATE)");
      done.before_bytes = static_cast<std::int64_t>(fs::file_size(path_, error));
      db.run("VACUUM INTO ?", made);
    }
    // Without its log the old file is whole, so the new one can take its place.
    if (fs::exists(path_ + "-wal", error))
      return Error{"compact_failed", "Another program uses " + path_ + ": end it."};
    if (!file.sync() || ::rename(made.c_str(), path_.c_str()) != 0)
      return compact_error(made, errno);
    file.keep();
  } catch (const sqlite::SqliteError& failed) {
    if (failed.code() == SQLITE_FULL) return compact_error(made, ENOSPC);
    return Error{"compact_failed", "Cannot compact " + path_ + " (" + failed.what() +
                                       "): look at the disk, and run `verify`."};
  }
  done.after_bytes = static_cast<std::int64_t>(fs::file_size(path_, error));
  const int folder = ::open(fs::path(path_).parent_path().c_str(), O_RDONLY | O_CLOEXEC);
  const bool is_durable = folder >= 0 && ::fsync(folder) == 0;
  const int number = errno;
  if (folder >= 0) ::close(folder);
  if (!is_durable) return compact_error(path_, number);
  return done;
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
