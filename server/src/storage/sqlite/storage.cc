// The SQLite back end. It combines the writer with the readers and turns exceptions into Results.
#include "storage/sqlite/storage.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>

#include "storage/sqlite/contribution/contribution.h"
#include "storage/sqlite/contribution/passphrase.h"
#include "storage/sqlite/copy.h"
#include "storage/sqlite/open.h"
#include "storage/sqlite/schema.h"

namespace hyperflock::storage {
namespace {

Error unavailable(const sqlite::SqliteError& error) {
  std::string code = "storage_unavailable";
  std::string what_to_do = "look at the disk and the file's permissions";
  switch (error.code() & 0xff) {
    case SQLITE_FULL:
      code = kStorageFull;
      what_to_do = "free disk space, the server then goes on by itself";
      break;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      what_to_do =
          "end the other program that holds the database, the server then goes on by itself";
      break;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      what_to_do = "restore the database from a backup";
      break;
    default:
      break;
  }
  return Error{std::move(code), std::string("The database did not answer (") + error.what() +
                                    "): " + what_to_do + "."};
}

template <typename Function>
auto guarded(Function function) -> Result<decltype(function())> {
  try {
    return function();
  } catch (const sqlite::SqliteError& error) {
    return unavailable(error);
  } catch (const sql::DbError& error) {
    return Error{"storage_unavailable", std::string("The database did not answer (") +
                                            error.what() +
                                            "): try again, the server goes on by itself."};
  }
}

// Copies a database of an older version to FILE.vN before it is migrated, so that an upgrade can be
// undone. Only the copy of the last version is kept. Does nothing if there is one already.
Status keep_earlier_version(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::exists(path, error)) return {};
  std::int64_t version = 0;
  try {
    sqlite::Db db(path, sqlite::Db::Mode::read_only);
    if (sqlite::is_ours(db)) version = std::stoll(db.single("PRAGMA user_version"));
  } catch (const sqlite::SqliteError&) {
    return {};  // whoever opens the file next reports it
  }
  if (version == 0 || version >= sqlite::migrations().back().version) return {};
  const std::string kept = path + ".v" + std::to_string(version);
  if (fs::exists(kept, error)) return {};
  const std::string part = kept + ".part";
  fs::remove(part, error);
  Status copied = sqlite::copy_database(path, part, sqlite::Pace::full,
                                        [](const CopyProgress&) { return Status(); });
  if (!copied) {
    return Error{"storage_open", "Before the upgrade of the database, it is copied. " +
                                     copied.error().message +
                                     " To upgrade without a copy, make an "
                                     "empty file " +
                                     kept + "."};
  }
  const std::string prefix = fs::path(path).filename().string() + ".v";
  for (const auto& entry : fs::directory_iterator(fs::path(kept).parent_path(), error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && entry.path() != part) fs::remove(entry.path(), error);
  }
  fs::rename(part, kept, error);
  return {};
}

}  // namespace

Result<std::unique_ptr<FileLock>> FileLock::take(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return Error{"storage_open",
                 "Cannot create " + path + ": check that its folder exists and is writable."};
  }
  std::unique_ptr<FileLock> lock(new FileLock(descriptor));
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    return Error{"storage_open", "Another hyperflock-server uses this database (" + path +
                                     " is locked): stop it first."};
  }
  return lock;
}

FileLock::~FileLock() { ::close(descriptor_); }

Result<std::unique_ptr<SqliteStorage>> SqliteStorage::open(const std::string& path, WallClock clock,
                                                           SqliteSettings settings) {
  TRY(auto lock, FileLock::take(path + ".lock"));
  TRY(keep_earlier_version(path));
  TRY(auto db, sqlite::open_for_writing(path, settings.busy_timeout_ms));
  std::unique_ptr<SqliteStorage> opened(
      new SqliteStorage(std::move(lock), std::move(db), path, std::move(clock), settings));
  if (settings.standby) TRY(opened->ship_to(path, *std::move(settings.standby)));
  return opened;
}

SqliteStorage::SqliteStorage(std::unique_ptr<FileLock> lock, std::unique_ptr<sqlite::Db> db,
                             const std::string& path, WallClock clock,
                             const SqliteSettings& settings)
    : lock_(std::move(lock)),
      db_(std::move(db)),
      log_(*db_,
           {settings.checkpoint_pages, settings.busy_timeout_ms, settings.reader_patience_ms}),
      rows_(*db_),
      writer_(*db_, rows_, std::move(clock)),
      readers_([path] { return std::make_unique<sqlite::Db>(path, sqlite::Db::Mode::read_only); },
               settings.readers) {}

Status SqliteStorage::ship_to(const std::string& path, StandbyTarget standby) {
  shipper_ = std::make_unique<sqlite::Shipper>(path, std::move(standby));
  try {
    // This also says how long the log is, which another connection may have begun.
    std::int64_t frames = 0;
    {
      auto log = db_->query("PRAGMA wal_checkpoint(PASSIVE)");
      if (log.next()) frames = log.integer(1);
    }
    shipper_->start(frames);
    return {};
  } catch (const sqlite::SqliteError& error) {
    return unavailable(error);
  }
}

Result<std::vector<Outcome>> SqliteStorage::apply(std::span<const Transition> batch) {
  return guarded([&] {
    if (shipper_) shipper_->begun();
    auto outcomes = writer_.apply(batch);
    if (shipper_) shipper_->committed(db_->log_pages());
    log_.committed();
    return outcomes;
  });
}

void SqliteStorage::idle() { log_.copy(); }

void SqliteStorage::limit_pages(std::int64_t pages) {
  db_->exec("PRAGMA max_page_count = " + std::to_string(pages));
}

std::int64_t SqliteStorage::reusable_bytes() {
  return guarded([&] {
           return std::int64_t{std::stoll(db_->single("PRAGMA freelist_count"))} *
                  std::stoll(db_->single("PRAGMA page_size"));
         })
      .value_or(0);
}

Result<Snapshot> SqliteStorage::load() {
  return guarded([&] { return sqlite::load(*readers_.borrow()); });
}
Result<Identities> SqliteStorage::identities() {
  return guarded([&] { return sqlite::identities(*readers_.borrow()); });
}
Result<StudyPage> SqliteStorage::studies(const StudyQuery& query) {
  return guarded([&] { return sqlite::studies(*readers_.borrow(), query); });
}
Result<std::vector<std::string>> SqliteStorage::running_runtimes() {
  return guarded([&] { return sqlite::running_runtimes(*readers_.borrow()); });
}
Result<ProjectTotals> SqliteStorage::project_totals(const std::string& project) {
  return guarded([&] { return sqlite::project_totals(*readers_.borrow(), project); });
}
Result<std::vector<protocol::StudySpec>> SqliteStorage::open_specs(const std::string& project,
                                                                   std::int64_t limit) {
  return guarded([&] { return sqlite::open_specs(*readers_.borrow(), project, limit); });
}
Result<std::optional<StudyRow>> SqliteStorage::study(StudyId id) {
  return guarded([&] { return sqlite::study(*readers_.borrow(), id); });
}
Result<std::optional<protocol::StudySpec>> SqliteStorage::spec(StudyId id, std::int64_t code) {
  return guarded([&] { return sqlite::spec(*readers_.borrow(), id, code); });
}
Result<std::vector<TrialDetail>> SqliteStorage::finished_trials(StudyId id, std::int64_t after,
                                                                std::int64_t limit) {
  return guarded([&] { return sqlite::finished_trials(*readers_.borrow(), id, after, limit); });
}
Result<std::vector<TrialDetail>> SqliteStorage::unfinished_trials(StudyId id, std::int64_t from,
                                                                  std::int64_t limit) {
  return guarded([&] { return sqlite::unfinished_trials(*readers_.borrow(), id, from, limit); });
}
Result<std::vector<TrialDetail>> SqliteStorage::best_trials(StudyId id, std::int64_t from,
                                                            std::int64_t limit) {
  return guarded([&] { return sqlite::best_trials(*readers_.borrow(), id, from, limit); });
}
Result<std::optional<TrialDetail>> SqliteStorage::trial(TrialKey key) {
  return guarded([&] { return sqlite::trial(*readers_.borrow(), key); });
}
Result<std::vector<protocol::Point>> SqliteStorage::curve(const AttemptRow& attempt) {
  return guarded([&] { return sqlite::curve(*readers_.borrow(), attempt); });
}
Result<std::vector<NamedSeries>> SqliteStorage::series(const AttemptRow& attempt,
                                                       std::optional<std::int64_t> only) {
  return guarded([&] { return sqlite::series(*readers_.borrow(), attempt, only); });
}
Result<std::vector<SeriesName>> SqliteStorage::series_names(StudyId study, std::int64_t after,
                                                            std::int64_t limit) {
  return guarded([&] { return sqlite::series_names(*readers_.borrow(), study, after, limit); });
}
Result<std::optional<AttemptRow>> SqliteStorage::attempt(AttemptId id) {
  return guarded([&] { return sqlite::attempt(*readers_.borrow(), id); });
}
Result<std::vector<ArtifactRow>> SqliteStorage::artifacts(StudyId study,
                                                          std::optional<TrialNumber> trial,
                                                          std::int64_t after, std::int64_t limit) {
  return guarded([&] { return sqlite::artifacts(*readers_.borrow(), study, trial, after, limit); });
}
Result<std::optional<ArtifactRow>> SqliteStorage::artifact(StudyId study, const std::string& id,
                                                           std::optional<TrialNumber> trial) {
  return guarded([&] { return sqlite::artifact(*readers_.borrow(), study, id, trial); });
}
Result<std::vector<SeenDevice>> SqliteStorage::devices_seen_before(std::int64_t before,
                                                                   const SeenDevice& after,
                                                                   std::int64_t limit) {
  return guarded(
      [&] { return sqlite::devices_seen_before(*readers_.borrow(), before, after, limit); });
}
Result<std::vector<StudyId>> SqliteStorage::studies_of_device(const std::string& device) {
  return guarded([&] { return sqlite::studies_of_device(*readers_.borrow(), device); });
}
Result<std::vector<Contribution>> SqliteStorage::contributions(const std::string& device) {
  return guarded([&] { return sqlite::contributions(*readers_.borrow(), device); });
}
Result<ContributionTogether> SqliteStorage::contributions_together(const std::string& key_hash) {
  return guarded([&] { return sqlite::contributions_together(*readers_.borrow(), key_hash); });
}
Result<ContributionPiece> SqliteStorage::next_contributions(std::int64_t today,
                                                            PieceLimits limits) {
  return guarded([&] {
    const auto db = readers_.borrow();
    sql::Transaction moment(*db, sql::Access::read);
    return sqlite::next_contributions(*db, today, limits);
  });
}
Result<std::vector<std::string>> SqliteStorage::devices_of_code(std::int64_t code) {
  return guarded([&] { return sqlite::devices_of_code(*readers_.borrow(), code); });
}
Result<StoredBytes> SqliteStorage::stored(const std::string& owner) {
  return guarded([&] { return sqlite::stored(*readers_.borrow(), owner); });
}
Result<Outcome> SqliteStorage::judge_bytes(AttemptId attempt, UploadKind kind, std::int64_t bytes,
                                           std::int64_t room) {
  return guarded(
      [&] { return sqlite::judge_bytes(*readers_.borrow(), attempt, kind, bytes, room); });
}
Result<std::vector<std::string>> SqliteStorage::kept_blobs() {
  return guarded([&] { return sqlite::kept_blobs(*readers_.borrow()); });
}
Result<std::vector<std::string>> SqliteStorage::owned_blobs() {
  return guarded([&] { return sqlite::owned_blobs(*readers_.borrow()); });
}
Result<std::vector<std::string>> SqliteStorage::not_owned(const std::string& owner,
                                                          const std::vector<std::string>& blobs) {
  return guarded([&] { return sqlite::not_owned(*readers_.borrow(), owner, blobs); });
}
Result<StudyPage> SqliteStorage::awaiting_approval(std::int64_t after, std::int64_t limit) {
  return guarded([&] { return sqlite::awaiting_approval(*readers_.borrow(), after, limit); });
}
Result<bool> SqliteStorage::project_references(const std::string& project,
                                               const std::string& sha256) {
  return guarded([&] { return sqlite::project_references(*readers_.borrow(), project, sha256); });
}
Result<Usage> SqliteStorage::usage(const std::string& owner) {
  return guarded([&] { return sqlite::usage(*readers_.borrow(), owner); });
}
Result<Outbox> SqliteStorage::outbox(std::int64_t now) {
  return guarded([&] { return sqlite::outbox(*readers_.borrow(), now); });
}
Result<std::optional<std::string>> SqliteStorage::webhook_secret(const std::string& owner) {
  return guarded([&] { return sqlite::webhook_secret(*readers_.borrow(), owner); });
}
Result<std::int64_t> SqliteStorage::kept_time() {
  return guarded([&] { return sqlite::kept_time(*readers_.borrow()); });
}
Result<AuditSize> SqliteStorage::audit_size() {
  return guarded([&] { return sqlite::audit_size(*readers_.borrow()); });
}
Result<std::vector<AuditEntry>> SqliteStorage::audit(std::int64_t after, std::int64_t limit) {
  return guarded([&] { return sqlite::audit(*readers_.borrow(), after, limit); });
}

std::string sqlite_version() { return sqlite3_libversion(); }

std::string database_of(const std::string& state_dir) {
  return (std::filesystem::path(state_dir) / "hyperflock.db").string();
}

Result<std::unique_ptr<Storage>> open_sqlite_storage(const std::string& path, WallClock clock,
                                                     std::optional<StandbyTarget> standby) {
  SqliteSettings settings;
  settings.standby = std::move(standby);
  TRY(auto storage, SqliteStorage::open(path, std::move(clock), std::move(settings)));
  return std::unique_ptr<Storage>(std::move(storage));
}

}  // namespace hyperflock::storage
