// See copy.h.
#include "storage/sqlite/copy.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <thread>

#include "base/disk_full.h"
#include "storage/sqlite/db/db.h"
#include "storage/sqlite/db/long_read.h"
#include "storage/sqlite/new_file.h"

namespace hyperflock::storage::sqlite {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kPiecePages = 256;  // 1 MiB

// The file of the copy.
class Target {
 public:
  explicit Target(std::string path) : path_(std::move(path)), file_(path_) {}

  // Creates the file and takes its bytes from the disk, so that a full disk is known at once.
  Status create(std::int64_t bytes) {
    if (!file_.create()) return copy_error(path_, errno);
    // Not every file system can do this. The writes then find out.
    if (::fallocate(file_.number(), FALLOC_FL_KEEP_SIZE, 0, std::max<off_t>(bytes, 1)) != 0 &&
        errno != EOPNOTSUPP && errno != ENOSYS)
      return copy_error(path_, errno);
    return {};
  }
  // Starts to write the bytes up to `end` to the disk, and waits for those of the call before.
  void send(std::int64_t end) {
    ::sync_file_range(file_.number(), sent_, end - sent_, SYNC_FILE_RANGE_WRITE);
    ::sync_file_range(
        file_.number(), waited_, sent_ - waited_,
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    waited_ = sent_;
    sent_ = end;
  }
  Status finish() {
    if (!file_.sync()) return copy_error(path_, errno);
    file_.keep();
    return {};
  }

 private:
  const std::string path_;
  NewFile file_;
  std::int64_t sent_ = 0;
  std::int64_t waited_ = 0;
};

struct CloseDb {
  void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
};
struct Finish {
  void operator()(sqlite3_backup* backup) const { sqlite3_backup_finish(backup); }
};
using Handle = std::unique_ptr<sqlite3, CloseDb>;

std::int64_t size_of(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return error ? 0 : static_cast<std::int64_t>(size);
}

Error failed(const std::string& target, sqlite3* db, int code) {
  if ((code & 0xff) == SQLITE_FULL) return copy_error(target, ENOSPC);
  const int error = sqlite3_system_errno(db);
  if ((code & 0xff) == SQLITE_IOERR && error != 0) return copy_error(target, error);
  return Error{"backup_failed", "Cannot copy the database to " + target + " (" +
                                    sqlite3_errstr(code) + "): look at both disks."};
}

Result<Handle> open(const std::string& path) {
  sqlite3* opened = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  Handle db(opened);
  if (code != SQLITE_OK) return failed(path, opened, code);
  sqlite3_busy_timeout(opened, Db::kBusyTimeoutMs);
  return db;
}

Status run(const std::string& target, sqlite3* db, const char* sql) {
  const int code = sqlite3_exec(db, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return failed(target, db, code);
  return {};
}

Status copy_pages(const std::string& path, const std::string& target, Target& file, sqlite3* from,
                  sqlite3* to, Pace pace, const CopyControl& control) {
  const std::unique_ptr<sqlite3_backup, Finish> backup(
      sqlite3_backup_init(to, "main", from, "main"));
  if (!backup) return failed(target, to, sqlite3_errcode(to));
  for (;;) {
    const auto begun = Clock::now();
    const int code = sqlite3_backup_step(backup.get(), kPiecePages);
    if (code == SQLITE_DONE) return {};
    if (code != SQLITE_OK) return failed(target, to, code);
    CopyProgress progress;
    progress.total_bytes = std::int64_t{4'096} * sqlite3_backup_pagecount(backup.get());
    progress.copied_bytes =
        progress.total_bytes - std::int64_t{4'096} * sqlite3_backup_remaining(backup.get());
    progress.log_bytes = size_of(path + "-wal");
    file.send(progress.copied_bytes);
    TRY(control(progress));
    if (pace == Pace::shared) std::this_thread::sleep_for(Clock::now() - begun);
  }
}

}  // namespace

Error copy_error(const std::string& target, int error, std::string why) {
  if (means_no_room(error)) {
    return Error{"backup_no_room", "The disk of " + target +
                                       " has no room for a copy of the database: free some, or "
                                       "name a folder on another disk."};
  }
  if (why.empty()) why = std::strerror(error);
  return Error{"backup_failed", "Cannot write " + target + " (" + why +
                                    "): look at the disk and the folder's rights."};
}

Status copy_database(const std::string& path, const std::string& target, Pace pace,
                     const CopyControl& control) {
  const LongRead reading;
  Target file(target);
  TRY(file.create(size_of(path)));
  TRY(const auto from, open(path));
  // The first read fixes the state that is copied.
  TRY(run(path, from.get(), "BEGIN; SELECT count(*) FROM sqlite_schema"));
  {
    TRY(const auto to, open(target));
    // The file is made durable below, and is nobody's before.
    TRY(run(target, to.get(), "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF"));
    TRY(copy_pages(path, target, file, from.get(), to.get(), pace, control));
    // The copy says of itself that it has a log. It has none.
    TRY(run(target, to.get(), "PRAGMA journal_mode = DELETE"));
  }
  return file.finish();
}

}  // namespace hyperflock::storage::sqlite
