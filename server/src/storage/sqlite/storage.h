// The SQLite back end, with the settings and hooks that its tests and benchmark need. Everyone else
// uses open_sqlite_storage() and the Storage interface.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/sql/read_pool.h"
#include "storage/sqlite/lease_rows.h"
#include "storage/sqlite/log.h"
#include "storage/sqlite/readers.h"
#include "storage/sqlite/standby/shipper.h"
#include "storage/sqlite/writer.h"
#include "storage/storage.h"

namespace hyperflock::storage {

struct SqliteSettings {
  // A commit copies the write-ahead log to the database file if the log has this many pages of 4
  // KiB.
  std::int64_t checkpoint_pages = 1'000;
  // The most connections for reading: at least one for each thread that may read at the same time
  // (hub::ReaderPool, webhooks).
  std::size_t readers = 12;
  // The time for which a batch waits for a lock that another process holds.
  int busy_timeout_ms = 5'000;
  // The time for which a commit may wait for readers if the log has grown long. The longest query
  // of a reader is a page of trials, which takes a few milliseconds.
  int reader_patience_ms = 250;
  std::optional<StandbyTarget> standby{};
};

// Keeps a second server away from the same file. It holds an exclusive lock on FILE.lock, which the
// system releases when the process ends.
class FileLock {
 public:
  static Result<std::unique_ptr<FileLock>> take(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

class SqliteStorage final : public Storage {
 public:
  static Result<std::unique_ptr<SqliteStorage>> open(const std::string& path, WallClock clock,
                                                     SqliteSettings settings);

  Result<std::vector<Outcome>> apply(std::span<const Transition> batch) override;
  void idle() override;
  int synchronous() override { return std::stoi(db_->single("PRAGMA synchronous")); }
  std::int64_t reusable_bytes() override;
  Result<Snapshot> load() override;
  Result<Identities> identities() override;
  Result<StudyPage> studies(const StudyQuery& query) override;
  Result<std::vector<std::string>> running_runtimes() override;
  Result<ProjectTotals> project_totals(const std::string& project) override;
  Result<std::vector<protocol::StudySpec>> open_specs(const std::string& project,
                                                      std::int64_t limit) override;
  Result<std::optional<StudyRow>> study(StudyId id) override;
  Result<std::optional<protocol::StudySpec>> spec(StudyId id, std::int64_t code) override;
  Result<std::vector<TrialDetail>> finished_trials(StudyId id, std::int64_t after,
                                                   std::int64_t limit) override;
  Result<std::vector<TrialDetail>> unfinished_trials(StudyId id, std::int64_t from,
                                                     std::int64_t limit) override;
  Result<std::vector<TrialDetail>> best_trials(StudyId id, std::int64_t from,
                                               std::int64_t limit) override;
  Result<std::optional<TrialDetail>> trial(TrialKey key) override;
  Result<std::vector<protocol::Point>> curve(const AttemptRow& attempt) override;
  Result<std::vector<NamedSeries>> series(const AttemptRow& attempt,
                                          std::optional<std::int64_t> only) override;
  Result<std::vector<SeriesName>> series_names(StudyId study, std::int64_t after,
                                               std::int64_t limit) override;
  Result<std::optional<AttemptRow>> attempt(AttemptId id) override;
  Result<std::vector<ArtifactRow>> artifacts(StudyId study, std::optional<TrialNumber> trial,
                                             std::int64_t after, std::int64_t limit) override;
  using Storage::artifact;
  Result<std::optional<ArtifactRow>> artifact(StudyId study, const std::string& id,
                                              std::optional<TrialNumber> trial) override;
  Result<std::vector<SeenDevice>> devices_seen_before(std::int64_t before, const SeenDevice& after,
                                                      std::int64_t limit) override;
  Result<std::vector<StudyId>> studies_of_device(const std::string& device) override;
  Result<std::vector<Contribution>> contributions(const std::string& device) override;
  Result<ContributionTogether> contributions_together(const std::string& key_hash) override;
  Result<ContributionPiece> next_contributions(std::int64_t today, PieceLimits limits) override;
  Result<std::vector<std::string>> devices_of_code(std::int64_t code) override;
  Result<StoredBytes> stored(const std::string& owner) override;
  Result<Outcome> judge_bytes(AttemptId attempt, UploadKind kind, std::int64_t bytes,
                              std::int64_t room) override;
  Result<std::vector<std::string>> kept_blobs() override;
  Result<std::vector<std::string>> owned_blobs() override;
  Result<std::vector<std::string>> not_owned(const std::string& owner,
                                             const std::vector<std::string>& blobs) override;
  Result<StudyPage> awaiting_approval(std::int64_t after, std::int64_t limit) override;
  Result<bool> project_references(const std::string& project, const std::string& sha256) override;
  Result<Usage> usage(const std::string& owner) override;
  Result<Outbox> outbox(std::int64_t now) override;
  Result<std::optional<std::string>> webhook_secret(const std::string& owner) override;
  Result<std::int64_t> kept_time() override;
  Result<AuditSize> audit_size() override;
  Result<std::vector<AuditEntry>> audit(std::int64_t after, std::int64_t limit) override;

  // Limits the size of the database, for tests of a full disk. Writer thread only.
  void limit_pages(std::int64_t pages);

 private:
  SqliteStorage(std::unique_ptr<FileLock> lock, std::unique_ptr<sqlite::Db> db,
                const std::string& path, WallClock clock, const SqliteSettings& settings);
  Status ship_to(const std::string& path, StandbyTarget standby);

  // Declared in this order so that the lock outlives the connections.
  std::unique_ptr<FileLock> lock_;
  std::unique_ptr<sqlite::Db> db_;  // of the writer
  sqlite::LogKeeper log_;
  sqlite::LeaseRows rows_;
  std::unique_ptr<sqlite::Shipper> shipper_;  // null: there is no standby
  sqlite::Writer writer_;
  sql::ReadPool readers_;
};

}  // namespace hyperflock::storage
