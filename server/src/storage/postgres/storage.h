// The PostgreSQL back end: the rules and readers that it shares with SQLite (sqlite/writer.h,
// sqlite/readers.h) on connections to PostgreSQL. See README.md.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/postgres/client.h"
#include "storage/postgres/lease_rows.h"
#include "storage/postgres/open.h"
#include "storage/postgres/shard.h"
#include "storage/sql/read_pool.h"
#include "storage/sqlite/writer.h"
#include "storage/storage.h"

namespace hyperflock::storage {

class PostgresStorage final : public Storage {
 public:
  static Result<std::unique_ptr<PostgresStorage>> open(PostgresSettings settings, WallClock clock);
  TakenShard taken() const { return {shard_->epoch(), shard_->files()}; }

  Result<std::vector<Outcome>> apply(std::span<const Transition> batch) override;
  // Returns 2, as SQLite does with synchronous=FULL: open() refuses a database whose commits may
  // return before they are on the disk.
  int synchronous() override { return 2; }
  // Returns 0: the database's files are not this server's.
  std::int64_t reusable_bytes() override { return 0; }
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

 private:
  PostgresStorage(PostgresSettings settings, std::string place, WallClock clock,
                  std::unique_ptr<postgres::Client> db, std::unique_ptr<postgres::Shard> shard);

  // Runs a reader on a borrowed connection, and a second time if the connection was lost, because
  // the database may have been restarted since its last use.
  template <typename Reader>
  auto read(Reader reader) -> Result<decltype(reader(std::declval<sql::Connection&>()))>;

  const PostgresSettings settings_;
  const std::string place_;
  std::unique_ptr<postgres::Client> db_;  // of the writer
  std::unique_ptr<postgres::Shard> shard_;
  postgres::LeaseRows rows_;
  sqlite::Writer writer_;
  sql::ReadPool readers_;
};

}  // namespace hyperflock::storage
