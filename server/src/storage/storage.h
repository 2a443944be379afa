// The storage contract. Every back end passes its test suite (contract/suite.h): SQLite, later
// PostgreSQL.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/records.h"
#include "storage/transition.h"

namespace hyperflock::storage {

// The next three structs contain what the dispatcher needs after a start: every running study, its
// unfinished trials that have a row, and the attempts of each trial since it began or was last
// reissued, oldest first.
inline constexpr std::int64_t kMostFailures = 1'000;
struct RunningTrial {
  TrialKey key;
  std::vector<AttemptRow> attempts;
  std::optional<protocol::Checkpoint> checkpoint{};  // the newest
  // This and the next two: only of an ask-and-tell study.
  std::string params{};
  std::vector<Suggestion> suggested{};
  std::string attrs{};  // the attributes given when it was asked
};
struct RunningStudy {
  StudyRow study;
  std::int64_t next_number = 0;  // first trial number without a row
  std::vector<RunningTrial> unfinished;
  // The failures that count for R56, in the order in which the trials failed: at most the newest
  // kMostFailures. Empty if a trial has succeeded, or if the study never pauses itself.
  std::vector<protocol::Failure> failures{};
};
struct Snapshot {
  std::vector<RunningStudy> studies;
  std::int64_t next_study_id = 1;
  std::int64_t next_attempt_id = 1;
  bool unswept = false;  // whether deleted studies left rows, which SweepDeleted removes
};

struct Identities {
  std::vector<Principal> principals;  // sorted by id, like the next lists
  std::vector<Token> tokens;
  std::vector<Project> projects;
  std::vector<Enrolment> enrolments;
  std::vector<Device> devices;
};

// Returns Unix milliseconds. Tests pass their own clock.
using WallClock = std::function<std::int64_t()>;

class Storage {
 public:
  virtual ~Storage() = default;

  // Applies the batch in one durable transaction. Returns all outcomes in order, or an error
  // (`storage_unavailable`: a full disk, a locked file) and changes nothing. After it has returned
  // outcomes, the batch survives kill -9. Writer thread only.
  virtual Result<std::vector<Outcome>> apply(std::span<const Transition> batch) = 0;

  // Does housekeeping of a few milliseconds. Call it when no batch waits. Writer thread only.
  virtual void idle() {}

  // `PRAGMA synchronous` as the writing connection reads it back now (2 is FULL). Writer thread, or
  // before it starts.
  virtual int synchronous() = 0;

  // The functions below may be called on any thread, also while apply() runs; each sees a committed
  // state.
  virtual Result<Snapshot> load() = 0;
  virtual Result<Identities> identities() = 0;
  virtual Result<std::vector<StudyRow>> studies() = 0;  // newest first
  virtual Result<std::optional<StudyRow>> study(StudyId id) = 0;
  // Returns finished trials with seq > after in order of seq, at most `limit`, without points.
  virtual Result<std::vector<TrialDetail>> finished_trials(StudyId id, std::int64_t after,
                                                           std::int64_t limit) = 0;
  // Returns the trials of an ask-and-tell study that have no outcome yet, by number, without
  // points.
  virtual Result<std::vector<TrialDetail>> unfinished_trials(StudyId id) = 0;
  // Returns the trials that are the best of a study (R57), by number, without points: those of
  // StudyRow::best_trials, or the one of StudyRow::best_trial.
  virtual Result<std::vector<TrialDetail>> best_trials(StudyId id) = 0;
  // Returns one trial with points and all attempts.
  virtual Result<std::optional<TrialDetail>> trial(TrialKey key) = 0;
  // Returns the points of an attempt by step, after those of the attempts from whose checkpoints it
  // continues. REQUIRES: `attempt` was returned by this storage.
  virtual Result<std::vector<protocol::Point>> curve(const AttemptRow& attempt) = 0;
  // Returns the series of an attempt like its curve: at a step that a later attempt has too, its
  // value counts. With `only` it returns the series with this number. REQUIRES: as for curve().
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
  virtual Result<std::optional<ArtifactRow>> artifact(StudyId study, const std::string& id) = 0;
  // Returns the SHA-256 of every blob that an attempt uploaded and a row still names, each once, in
  // order.
  virtual Result<std::vector<std::string>> kept_blobs() = 0;
  // Returns the SHA-256 of every blob that a researcher uploaded or a study names, each once, in
  // order.
  virtual Result<std::vector<std::string>> owned_blobs() = 0;
  // Returns whether a study of `project` names the blob as its bundle or data.
  virtual Result<bool> project_references(const std::string& project,
                                          const std::string& sha256) = 0;
  // Returns the owner's use of its quota.
  virtual Result<Usage> usage(const std::string& owner) = 0;
  // Returns entries with id > after, oldest first, at most `limit`.
  virtual Result<std::vector<AuditEntry>> audit(std::int64_t after, std::int64_t limit) = 0;
};

}  // namespace hyperflock::storage
