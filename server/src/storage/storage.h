// The storage contract. Every back end must pass its test suite (contract/suite.h). There are two:
// sqlite and postgres.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/contribution.h"
#include "storage/records.h"
#include "storage/reported_points.h"
#include "storage/transition.h"

namespace hyperflock::storage {

// The next two structs contain what the dispatcher needs when the server starts: every running
// study, and its unfinished trials that have a row.
inline constexpr std::int64_t kMostFailures = 1'000;
struct RunningStudy {
  StudyRow study;
  std::int64_t next_number = 0;  // first trial number without a row
  std::vector<RunningTrial> unfinished;
  // The failures that count for R56, in the order in which the trials failed: at most the newest
  // kMostFailures. Empty if a trial has succeeded, or if the study never pauses itself.
  std::vector<protocol::Failure> failures{};
  // Of the kNewestTrials trials that ended last, the complete ones with the newest code, except for
  // attempts that began with a checkpoint (R74).
  ReportedPoints points{};
};
struct Snapshot {
  std::vector<RunningStudy> studies;
  std::int64_t next_study_id = 1;
  std::int64_t next_attempt_id = 1;
  Rules rules{};
  // Whether deleted studies left rows, which SweepDeleted removes, or a study lacks best trials,
  // which SearchBest looks for.
  bool unswept = false;
};

struct Identities {
  std::vector<Principal> principals;  // sorted by id, like the next lists
  std::vector<Token> tokens;
  std::vector<Project> projects;
  std::vector<Enrolment> enrolments;
  std::vector<Device> devices;
  std::vector<BarredBlob> barred;  // sorted by SHA-256
  Rules rules{};
};

// Selects the studies of a page. The page lists the newest first.
struct StudyQuery {
  std::optional<std::string> owner{};  // only this person's
  std::int64_t before = 0;             // only ids below it; 0: from the newest on
  std::int64_t limit = 500;            // at most so many
};
struct StudyPage {
  // A page has fewer studies than its limit if their specs are long: it ends after kPageSpecBytes
  // of specs.
  std::vector<StudyRow> studies;
  bool more = false;  // whether older ones follow
};
inline constexpr std::size_t kPageSpecBytes = std::size_t{2} << 20;

// A page of trials has fewer trials than its limit if their texts are long: it ends with the trial
// by which the texts have this many bytes (page_bytes.h).
inline constexpr std::size_t kPageTextBytes = std::size_t{4} << 20;

// The facts about a project that volunteers see.
struct ProjectTotals {
  std::int64_t studies = 0;
  std::int64_t done = 0;    // trials with an outcome, without cancelled ones
  std::int64_t trials = 0;  // of all studies, at most kManyTrials
  // The owners of the project's studies: at most kNamedOwners, those who submitted last first.
  std::vector<std::string> owners;
  bool operator==(const ProjectTotals&) const = default;
};
inline constexpr std::int64_t kNamedOwners = 3;
inline constexpr std::int64_t kOpenStudiesSought = 256;

struct AuditSize {
  std::int64_t entries = 0;
  std::int64_t bytes = 0;  // as TrimAudit counts them
  bool operator==(const AuditSize&) const = default;
};

// The kept time may be this far ahead of a batch's time, so that not each batch writes it.
inline constexpr std::int64_t kTimeAheadMs = 1'000;

// The error code of apply() when the disk is full. Callers outside of the server get
// `storage_unavailable` or `no_room` instead.
inline constexpr const char* kStorageFull = "storage_full";

// Returns the current time in Unix milliseconds. Tests pass their own clock.
using WallClock = std::function<std::int64_t()>;

class Storage {
 public:
  virtual ~Storage() = default;

  // Applies the batch in one durable transaction. Returns all outcomes in order, or an error
  // (kStorageFull, or `storage_unavailable`: a locked or damaged file) and changes nothing. After
  // it has returned outcomes, the batch survives kill -9. Writer thread only.
  virtual Result<std::vector<Outcome>> apply(std::span<const Transition> batch) = 0;

  // Does housekeeping of a few milliseconds. Call it when no batch waits. Writer thread only.
  virtual void idle() {}

  // Returns how many bytes of the database's file are free for new rows; 0 if the file is not this
  // server's (PostgreSQL). Writer thread, or before that thread starts.
  virtual std::int64_t reusable_bytes() { return 0; }

  // Returns the value of SQLite's `PRAGMA synchronous` of the writing connection. 2 is FULL:
  // apply() returns only after the batch is on the disk. PostgreSQL returns 2, too. Writer thread,
  // or before that thread starts.
  virtual int synchronous() = 0;

  // The functions below may be called on any thread, also while apply() runs; each sees a committed
  // state.
  virtual Result<Snapshot> load() = 0;
  virtual Result<Identities> identities() = 0;
  virtual Result<StudyPage> studies(const StudyQuery& query) = 0;
  // Returns the runtimes that running studies name (StudySpec::runtime_index), sorted and without
  // duplicates.
  virtual Result<std::vector<std::string>> running_runtimes() = 0;
  // Returns what storage has counted for a project. The cost does not depend on the number of
  // studies.
  virtual Result<ProjectTotals> project_totals(const std::string& project) = 0;
  // Returns the specs of the project's studies whose trials may be leased, the newest first, at
  // most `limit`. It looks at the newest kOpenStudiesSought running studies of all projects only.
  virtual Result<std::vector<protocol::StudySpec>> open_specs(const std::string& project,
                                                              std::int64_t limit) = 0;
  virtual Result<std::optional<StudyRow>> study(StudyId id) = 0;
  // Returns the spec of a study as it was when this version of its code was the newest (R64).
  virtual Result<std::optional<protocol::StudySpec>> spec(StudyId id, std::int64_t code) = 0;
  // The next three functions return pages of at most `limit` trials and kPageTextBytes, without
  // points. The first one returns finished trials with seq > after in order of seq.
  virtual Result<std::vector<TrialDetail>> finished_trials(StudyId id, std::int64_t after,
                                                           std::int64_t limit) = 0;
  // Returns the unfinished trials of a study that have a row and numbers from `from` on, in that
  // order.
  virtual Result<std::vector<TrialDetail>> unfinished_trials(StudyId id, std::int64_t from,
                                                             std::int64_t limit) = 0;
  // Returns the trials that are the best of a study (R57) and have numbers from `from` on, in that
  // order: those that no other one beats, or the one of StudyRow::best_trial.
  virtual Result<std::vector<TrialDetail>> best_trials(StudyId id, std::int64_t from,
                                                       std::int64_t limit) = 0;
  // Returns one trial with points and its newest kShownAttempts attempts.
  virtual Result<std::optional<TrialDetail>> trial(TrialKey key) = 0;
  // Returns the points of an attempt in the order of steps. Points of the attempts from whose
  // checkpoints it continues come first. REQUIRES: `attempt` was returned by this storage.
  virtual Result<std::vector<protocol::Point>> curve(const AttemptRow& attempt) = 0;
  // Returns the series of an attempt and of those that it continues, as in curve(). If two attempts
  // have a value at the same step, the later attempt's value counts. `only`: just the series with
  // this number.
  virtual Result<std::vector<NamedSeries>> series(const AttemptRow& attempt,
                                                  std::optional<std::int64_t> only) = 0;
  // Returns names of the study's series with id > after in that order, at most `limit`.
  virtual Result<std::vector<SeriesName>> series_names(StudyId study, std::int64_t after,
                                                       std::int64_t limit) = 0;
  virtual Result<std::optional<AttemptRow>> attempt(AttemptId id) = 0;
  // Returns the artifacts of a study, or of one of its trials, with `arrived` > after in that
  // order, at most `limit`.
  virtual Result<std::vector<ArtifactRow>> artifacts(StudyId study,
                                                     std::optional<TrialNumber> trial,
                                                     std::int64_t after, std::int64_t limit) = 0;
  // Returns the artifact with this id, of one trial if it is given. If several attempts chose the
  // id, that of an accepted attempt is preferred, and then the oldest.
  virtual Result<std::optional<ArtifactRow>> artifact(StudyId study, const std::string& id,
                                                      std::optional<TrialNumber> trial) = 0;
  // Returns the SHA-256 of every blob that an attempt uploaded and that a row still names, sorted
  // and without duplicates.
  virtual Result<std::vector<std::string>> kept_blobs() = 0;
  // Returns the SHA-256 of every blob that a researcher uploaded or a study names, sorted and
  // without duplicates.
  virtual Result<std::vector<std::string>> owned_blobs() = 0;
  // Returns those of these blobs that the researcher has neither uploaded nor named in a study.
  virtual Result<std::vector<std::string>> not_owned(const std::string& owner,
                                                     const std::vector<std::string>& blobs) = 0;
  // Returns the studies that await approval (R68), oldest first, with id > after, at most `limit`.
  virtual Result<StudyPage> awaiting_approval(std::int64_t after, std::int64_t limit) = 0;
  // Returns whether a study of `project` names the blob as its bundle or data.
  virtual Result<bool> project_references(const std::string& project,
                                          const std::string& sha256) = 0;
  // Returns devices that were seen before this time, in the order of seen_at and id, after `after`,
  // at most `limit`.
  virtual Result<std::vector<SeenDevice>> devices_seen_before(std::int64_t before,
                                                              const SeenDevice& after,
                                                              std::int64_t limit) = 0;
  // Returns the studies of which the device has had attempts, sorted. It reads all attempts.
  virtual Result<std::vector<StudyId>> studies_of_device(const std::string& device) = 0;
  // Returns what the device has contributed, sorted by project and day: at most kContributionDays
  // + 1 rows for each project. Results that FoldContributions has not added yet are missing.
  virtual Result<std::vector<Contribution>> contributions(const std::string& device) = 0;
  // Returns what the devices of the passphrase with this hash contributed, each counted once.
  virtual Result<ContributionTogether> contributions_together(const std::string& key_hash) = 0;
  // Returns the next piece for FoldContributions, as on the day `today`.
  virtual Result<ContributionPiece> next_contributions(std::int64_t today, PieceLimits limits) = 0;
  // Returns the devices that joined by the code with this id, sorted. It reads all devices.
  virtual Result<std::vector<std::string>> devices_of_code(std::int64_t code) = 0;
  // Returns what the owner has stored.
  virtual Result<StoredBytes> stored(const std::string& owner) = 0;
  // Returns the outcome that an upload of this many bytes would have because of the owner's quota
  // and the device's share: `applied`, or `superseded` as StoreArtifact says. `conflict` if the
  // attempt does not exist. `room` is as in StoreArtifact.
  virtual Result<Outcome> judge_bytes(AttemptId attempt, UploadKind kind, std::int64_t bytes,
                                      std::int64_t room) = 0;
  // Returns how much of the quota the owner uses. The cost does not depend on the number of
  // studies.
  virtual Result<Usage> usage(const std::string& owner) = 0;
  // Returns the deliveries that are due at `now`.
  virtual Result<Outbox> outbox(std::int64_t now) = 0;
  // Returns the key with which an owner's deliveries are signed; nullopt if there is none yet.
  virtual Result<std::optional<std::string>> webhook_secret(const std::string& owner) = 0;
  // Returns a time that is not before any time that a transition has stored; 0 if there is none. It
  // is at most kTimeAheadMs after the last stored time, and never decreases.
  virtual Result<std::int64_t> kept_time() = 0;
  // Returns how many entries the audit log has, and how many bytes.
  virtual Result<AuditSize> audit_size() = 0;
  // Returns entries with id > after, oldest first, at most `limit`.
  virtual Result<std::vector<AuditEntry>> audit(std::int64_t after, std::int64_t limit) = 0;
};

}  // namespace hyperflock::storage
