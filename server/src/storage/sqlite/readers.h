// The readers of the storage contract, over a small pool of connections. Each call sees one
// committed state and never waits for the writer. Any thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "storage/sqlite/db/db.h"
#include "storage/storage.h"

namespace hyperflock::storage::sqlite {

// A pool of at most `limit` connections, opened when they are first needed. If all are in use, a
// caller waits a limited time.
class ReadPool {
 public:
  ReadPool(std::string path, std::size_t limit) : path_(std::move(path)), limit_(limit) {}

  // A borrowed connection; the destructor returns it.
  class Loan {
   public:
    Loan(ReadPool& pool, std::unique_ptr<Db> db) : pool_(pool), db_(std::move(db)) {}
    ~Loan() { pool_.give_back(std::move(db_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    Db& operator*() { return *db_; }

   private:
    ReadPool& pool_;
    std::unique_ptr<Db> db_;
  };

  // Throws SqliteError (SQLITE_BUSY) if no connection becomes free in time.
  Loan borrow();

 private:
  void give_back(std::unique_ptr<Db> db);

  const std::string path_;
  const std::size_t limit_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<std::unique_ptr<Db>> free_;  // under mutex_
  std::size_t opened_ = 0;                 // under mutex_
};

// Each of these functions throws SqliteError.
Snapshot load(Db& db);
Identities identities(Db& db);
StudyPage studies(Db& db, const StudyQuery& query);
std::vector<std::string> running_runtimes(Db& db);
ProjectTotals project_totals(Db& db, const std::string& project);
std::optional<StudyRow> study(Db& db, StudyId id);
std::optional<protocol::StudySpec> spec(Db& db, StudyId id, std::int64_t code);
std::vector<TrialDetail> finished_trials(Db& db, StudyId id, std::int64_t after,
                                         std::int64_t limit);
std::vector<TrialDetail> unfinished_trials(Db& db, StudyId id, std::int64_t from,
                                           std::int64_t limit);
std::vector<TrialDetail> best_trials(Db& db, StudyId id, std::int64_t from, std::int64_t limit);
std::optional<TrialDetail> trial(Db& db, TrialKey key);
std::vector<protocol::Point> curve(Db& db, const AttemptRow& attempt);
std::vector<NamedSeries> series(Db& db, const AttemptRow& attempt,
                                std::optional<std::int64_t> only);
std::vector<SeriesName> series_names(Db& db, StudyId study, std::int64_t after, std::int64_t limit);
std::optional<AttemptRow> attempt(Db& db, AttemptId id);
std::vector<ArtifactRow> artifacts(Db& db, StudyId study, std::optional<TrialNumber> trial,
                                   std::int64_t after, std::int64_t limit);
std::optional<ArtifactRow> artifact(Db& db, StudyId study, const std::string& id,
                                    std::optional<TrialNumber> trial);
std::vector<std::string> kept_blobs(Db& db);
std::vector<std::string> owned_blobs(Db& db);
bool project_references(Db& db, const std::string& project, const std::string& sha256);
Usage usage(Db& db, const std::string& owner);
StoredBytes stored(Db& db, const std::string& owner);
// Returns the bytes of a researcher's quota; 0: no limit.
std::int64_t quota_bytes(Db& db, const std::string& owner);
Outcome judge_bytes(Db& db, AttemptId attempt, UploadKind kind, std::int64_t bytes,
                    std::int64_t room);
// operator_rules.cc
Rules rules(Db& db);
std::vector<BarredBlob> barred_blobs(Db& db);
// Returns the blobs of earlier versions of a study's code that its spec does not name any more.
std::vector<std::string> earlier_blobs(Db& db, const StudyRow& study);
std::vector<std::string> not_owned(Db& db, const std::string& owner,
                                   const std::vector<std::string>& blobs);
std::vector<StudyRow> awaiting_approval(Db& db, std::int64_t after, std::int64_t limit);
// webhooks.cc
std::optional<StudyWebhook> webhook_of(Db& db, StudyId id);
Outbox outbox(Db& db, std::int64_t now);
std::optional<std::string> webhook_secret(Db& db, const std::string& owner);
std::int64_t kept_time(Db& db);
std::vector<SeenDevice> devices_seen_before(Db& db, std::int64_t before, const SeenDevice& after,
                                            std::int64_t limit);
AuditSize audit_size(Db& db);
std::vector<AuditEntry> audit(Db& db, std::int64_t after, std::int64_t limit);

}  // namespace hyperflock::storage::sqlite
