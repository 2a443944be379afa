// The readers of the storage contract, for every back end that speaks SQL. Each call sees one
// committed state and never waits for the writer. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/sql/connection.h"
#include "storage/sqlite/db/db.h"
#include "storage/storage.h"

namespace hyperflock::storage::sqlite {

// Each of these functions throws DbError.
Snapshot load(Connection& db);
Identities identities(Connection& db);
StudyPage studies(Connection& db, const StudyQuery& query);
std::vector<std::string> running_runtimes(Connection& db);
ProjectTotals project_totals(Connection& db, const std::string& project);
std::vector<protocol::StudySpec> open_specs(Connection& db, const std::string& project,
                                            std::int64_t limit);
std::optional<StudyRow> study(Connection& db, StudyId id);
std::optional<protocol::StudySpec> spec(Connection& db, StudyId id, std::int64_t code);
std::vector<TrialDetail> finished_trials(Connection& db, StudyId id, std::int64_t after,
                                         std::int64_t limit);
std::vector<TrialDetail> unfinished_trials(Connection& db, StudyId id, std::int64_t from,
                                           std::int64_t limit);
std::vector<TrialDetail> best_trials(Connection& db, StudyId id, std::int64_t from,
                                     std::int64_t limit);
std::optional<TrialDetail> trial(Connection& db, TrialKey key);
std::vector<protocol::Point> curve(Connection& db, const AttemptRow& attempt);
std::vector<NamedSeries> series(Connection& db, const AttemptRow& attempt,
                                std::optional<std::int64_t> only);
std::vector<SeriesName> series_names(Connection& db, StudyId study, std::int64_t after,
                                     std::int64_t limit);
std::optional<AttemptRow> attempt(Connection& db, AttemptId id);
// Returns all attempts of a trial, oldest first. `newest` is the last one.
std::vector<AttemptRow> all_attempts(Connection& db, std::int64_t newest);
// Returns the newest checkpoint of a trial.
std::optional<protocol::Checkpoint> newest_checkpoint(Connection& db, TrialKey key);
std::vector<ArtifactRow> artifacts(Connection& db, StudyId study, std::optional<TrialNumber> trial,
                                   std::int64_t after, std::int64_t limit);
std::optional<ArtifactRow> artifact(Connection& db, StudyId study, const std::string& id,
                                    std::optional<TrialNumber> trial);
std::vector<std::string> kept_blobs(Connection& db);
std::vector<std::string> owned_blobs(Connection& db);
bool project_references(Connection& db, const std::string& project, const std::string& sha256);
Usage usage(Connection& db, const std::string& owner);
StoredBytes stored(Connection& db, const std::string& owner);
// Returns the bytes of a researcher's quota; 0: no limit.
std::int64_t quota_bytes(Connection& db, const std::string& owner);
Outcome judge_bytes(Connection& db, AttemptId attempt, UploadKind kind, std::int64_t bytes,
                    std::int64_t room);
// operator_rules.cc
Rules rules(Connection& db);
std::vector<BarredBlob> barred_blobs(Connection& db);
// Returns the blobs of earlier versions of a study's code that its spec does not name any more.
std::vector<std::string> earlier_blobs(Connection& db, const StudyRow& study);
std::vector<std::string> not_owned(Connection& db, const std::string& owner,
                                   const std::vector<std::string>& blobs);
StudyPage awaiting_approval(Connection& db, std::int64_t after, std::int64_t limit);
// webhooks.cc
std::optional<StudyWebhook> webhook_of(Connection& db, StudyId id);
Outbox outbox(Connection& db, std::int64_t now);
std::optional<std::string> webhook_secret(Connection& db, const std::string& owner);
std::int64_t kept_time(Connection& db);
std::vector<SeenDevice> devices_seen_before(Connection& db, std::int64_t before,
                                            const SeenDevice& after, std::int64_t limit);
std::vector<StudyId> studies_of_device(Connection& db, const std::string& device);
std::vector<std::string> devices_of_code(Connection& db, std::int64_t code);
AuditSize audit_size(Connection& db);
std::vector<AuditEntry> audit(Connection& db, std::int64_t after, std::int64_t limit);

}  // namespace hyperflock::storage::sqlite
