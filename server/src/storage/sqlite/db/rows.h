// Conversions between rows of the database and records.h: column lists, stored enumerations,
// doubles as bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/records.h"
#include "storage/sql/lease_rows.h"
#include "storage/sqlite/db/db.h"

namespace hyperflock::storage::sqlite {

// Returns doubles as the bytes of a BLOB. `values` must outlive the result.
Blob as_blob(const std::vector<double>& values);
std::vector<double> doubles_of(std::string_view bytes);

// Reads a failure from four columns, starting at `column`.
std::optional<protocol::Failure> read_failure(const Query& row, int column);

// A failure as four query parameters, which are NULL if there is no failure. The failure must
// outlive this object.
struct FailureColumns {
  explicit FailureColumns(const protocol::Failure* failure);
  std::optional<std::int64_t> cause;
  std::optional<std::string_view> code;
  std::optional<std::string_view> message;
  std::optional<std::string_view> traceback;
};

using sql::Constrained;

// These functions read rows of the queries below, whose columns are in the order shown there.
StudyRow read_study(const Query& row);
// Reads the spec of a study. Throws SqliteError if it cannot be read.
protocol::StudySpec read_spec(std::string_view text, StudyId id);
TrialDetail read_trial(const Query& row);  // without its attempts
struct StoredAttempt {
  AttemptRow row;
  std::optional<std::int64_t> previous;
};
StoredAttempt read_attempt(const Query& row);

// Reads a checkpoint from six columns, starting at `column`: attempt, format, sha256, bytes, step,
// logged.
std::optional<protocol::Checkpoint> read_checkpoint(const Query& row, int column);

ArtifactRow read_artifact(const Query& row);

// A checkpoint as six query parameters, which are NULL if there is no checkpoint. The checkpoint
// must outlive this object.
struct CheckpointColumns {
  explicit CheckpointColumns(const protocol::Checkpoint* checkpoint);
  std::optional<std::int64_t> attempt;
  std::optional<std::int64_t> format;
  std::optional<std::string_view> sha256;
  std::optional<std::int64_t> bytes;
  std::optional<std::int64_t> step;
  std::optional<std::int64_t> logged;
};

// Returns the newest attempt of a trial from the trial's row. Each attempt names the attempt before
// it.
std::int64_t newest_attempt_of(const Query& trial_row);
// Returns the newest attempt whose failure a reissue has forgiven; 0: none.
std::int64_t forgiven_attempt_of(const Query& trial_row);
// Returns the attributes that the trial got when the owner asked for it.
std::string asked_attrs_of(const Query& trial_row);

#define HYPERFLOCK_TRIAL_COLUMNS                                                          \
  "SELECT study, number, state, seq, attempts, accepted_attempt, newest_attempt, seed,"   \
  " started_at, finished_at, params, failure_cause, failure_code, failure_message,"       \
  " failure_traceback, forgiven_attempt, asked_attrs, constrained, constraints, rejected" \
  " FROM trials "

#define HYPERFLOCK_STUDY_COLUMNS                                                                  \
  "SELECT id, owner, project, spec, total, created_at, state, complete, pruned, failed, running," \
  " attempts, cursor, finished_at, best_trial, best_value, asked, generation, sampler,"           \
  " sampler_since, wanted, paused, artifacts, artifact_bytes, stopped_by, forgiven_seq,"          \
  " priority, code, resumable_code, approval, refusal, search_from "

inline constexpr Sql kSelectStudy =
    HYPERFLOCK_STUDY_COLUMNS "FROM studies JOIN study_progress ON study = id WHERE id = ?1";
// Studies with ids below ?1, newest first, at most ?2. The page is read from the progress rows,
// because a study that is deleted has none.
inline constexpr Sql kSelectStudies = HYPERFLOCK_STUDY_COLUMNS
    "FROM study_progress CROSS JOIN studies ON id = study WHERE study < ?1"
    " ORDER BY study DESC LIMIT ?2";
// The same for the studies of the owner ?3. A study that is deleted has no owner.
inline constexpr Sql kSelectStudiesOfOwner = HYPERFLOCK_STUDY_COLUMNS
    "FROM studies INDEXED BY studies_by_owner CROSS JOIN study_progress ON study = id"
    " WHERE owner = ?3 AND id < ?1 ORDER BY id DESC LIMIT ?2";
// The condition is that of the index `running_studies`, so that SQLite can use the index.
inline constexpr Sql kSelectRunning =
    "SELECT study FROM study_progress WHERE state = 0 ORDER BY study";
// The specs of the project ?1 among the ?2 newest running studies, at most ?3: of those that are
// neither paused nor wait for an administrator.
inline constexpr Sql kSelectOpenSpecs =
    "SELECT id, spec FROM (SELECT study AS running_study, paused, approval FROM study_progress"
    " WHERE state = 0 ORDER BY study DESC LIMIT ?2) AS newest"
    " JOIN studies ON id = running_study WHERE project = ?1 AND paused = 0 AND approval = 0"
    " ORDER BY id DESC LIMIT ?3";
inline constexpr Sql kSelectProjectTotals =
    "SELECT studies, done, trials_high, trials_low FROM project_totals WHERE project = ?1";
// The names of at most ?2 owners, those who submitted last first.
inline constexpr Sql kSelectProjectOwners =
    "SELECT owner FROM project_owners INDEXED BY project_owners_by_newest WHERE project = ?1"
    " ORDER BY newest DESC LIMIT ?2";
inline constexpr Sql kSelectUsage =
    "SELECT running, trials_high, trials_low, blob_bytes + artifact_bytes + checkpoint_bytes"
    " FROM owner_totals"
    " WHERE owner = ?1";
inline constexpr Sql kSelectTrial = HYPERFLOCK_TRIAL_COLUMNS "WHERE study = ?1 AND number = ?2";
// Finished trials with seq > ?2. Unfinished trials have seq 0.
inline constexpr Sql kSelectFinishedTrials =
    HYPERFLOCK_TRIAL_COLUMNS "WHERE study = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
// Unfinished trials with numbers from ?2 on, at most ?3.
inline constexpr Sql kSelectUnfinishedTrials = HYPERFLOCK_TRIAL_COLUMNS
    "INDEXED BY trials_by_seq WHERE study = ?1 AND seq = 0 AND number >= ?2 ORDER BY number"
    " LIMIT ?3";
// The best trials of a study with numbers from ?2 on, at most ?3.
inline constexpr Sql kSelectBestTrials = HYPERFLOCK_TRIAL_COLUMNS
    "WHERE study = ?1 AND number IN (SELECT * FROM (SELECT number FROM best_trials"
    " WHERE study = ?1 AND number >= ?2 ORDER BY number LIMIT ?3) AS front"
    " UNION ALL SELECT best_trial FROM study_progress WHERE study = ?1 AND best_trial >= ?2)"
    " ORDER BY number LIMIT ?3";
inline constexpr Sql kSelectAttempt =
    "SELECT attempts.id, attempts.study, number, previous, kind, state, result_seq, load_ms,"
    " run_ms, started_at, finished_at, device, device_class, engine, backend, result_values, "
    "failure_cause,"
    " failure_code, failure_message, failure_traceback, resumed_attempt, resumed_format,"
    " resumed_sha256, resumed_bytes, resumed_step, resumed_logged, adapter, attrs, software, code,"
    " rejected_by, rejected_at, reason, inherited"
    " FROM attempts LEFT JOIN device_versions ON device_versions.id = device_version"
    " LEFT JOIN rejections ON rejections.study = attempts.study AND rejections.id = rejection"
    " WHERE attempts.id = ?1";
// A page of at most ?4 devices that were last seen before ?3. It follows the device with the time
// ?1 and the id ?2. The last column is 1 if a device has sent no result and is not revoked.
inline constexpr Sql kSelectSeenDevices =
    "SELECT id, seen_at, revoked_at IS NULL AND NOT EXISTS (SELECT 1 FROM device_versions"
    " WHERE device = devices.id AND finished = 1) FROM devices INDEXED BY devices_by_seen"
    " WHERE (seen_at, id) > (?1, ?2) AND seen_at < ?3 ORDER BY seen_at, id LIMIT ?4";
// Gives the live attempts of the device ?3 the state ?1 and the end ?2. The condition is that of
// the index `live_attempts`, so that SQLite can use the index.
inline constexpr Sql kRevokeAttempts =
    "UPDATE attempts INDEXED BY live_attempts SET state = ?1, finished_at = ?2 WHERE state = 0"
    " AND device_version IN (SELECT id FROM device_versions WHERE device = ?3)";
inline constexpr Sql kSelectSuggestions =
    "SELECT name, distribution, value FROM suggestions WHERE study = ?1 AND number = ?2"
    " ORDER BY position";
inline constexpr Sql kSelectNewestCheckpoint =
    "SELECT attempt, format, sha256, bytes, step, logged FROM checkpoints"
    " WHERE study = ?1 AND number = ?2 ORDER BY saved DESC LIMIT 1";
inline constexpr Sql kSelectPoints =
    "SELECT step, value FROM points WHERE attempt = ?1 ORDER BY step";

#define HYPERFLOCK_ARTIFACT_COLUMNS                                                          \
  "SELECT id, study, number, attempt, name, type, store, sha256, bytes, arrived, created_at" \
  " FROM artifacts "

// Artifacts with arrived > ?2, at most ?3.
inline constexpr Sql kSelectArtifacts =
    HYPERFLOCK_ARTIFACT_COLUMNS "WHERE study = ?1 AND arrived > ?2 ORDER BY arrived LIMIT ?3";
inline constexpr Sql kSelectArtifactsOfTrial = HYPERFLOCK_ARTIFACT_COLUMNS
    "INDEXED BY artifacts_by_trial WHERE study = ?1 AND number = ?4 AND arrived > ?2 ORDER BY "
    "arrived LIMIT ?3";
// The artifact with this id. If several attempts have one, that of an accepted attempt is
// preferred, and then the oldest.
inline constexpr Sql kSelectArtifact = HYPERFLOCK_ARTIFACT_COLUMNS
    "INDEXED BY artifacts_by_id WHERE study = ?1 AND id = ?2 AND (?3 IS NULL OR number = ?3) ORDER "
    "BY EXISTS (SELECT 1 FROM"
    " trials WHERE trials.study = ?1 AND trials.number = artifacts.number"
    " AND accepted_attempt = attempt) DESC, arrived LIMIT 1";

#undef HYPERFLOCK_ARTIFACT_COLUMNS
#undef HYPERFLOCK_STUDY_COLUMNS
#undef HYPERFLOCK_TRIAL_COLUMNS

}  // namespace hyperflock::storage::sqlite
