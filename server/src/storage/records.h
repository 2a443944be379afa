// Rows as storage keeps them. Plain data. Storage writes wall times (`*_at`, Unix ms) by its
// injected clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "protocol/messages.h"
#include "protocol/schema/limits.h"
#include "protocol/study_spec.h"
#include "storage/identity.h"
#include "storage/webhook.h"

namespace hyperflock::storage {

// Returns whether a trial that continued from a checkpoint may have failed because of the
// checkpoint (R38). Such a trial starts again from the beginning, and the failure does not count.
// So one device cannot make the trial of another fail.
inline bool blames_checkpoint(const protocol::Failure& failure) {
  return failure.cause == protocol::Cause::user_error || failure.cause == protocol::Cause::invalid;
}

// The code of the failure of a trial of an ask-and-tell study whose result was rejected (R71).
inline constexpr const char* kResultRejected = "result_rejected";

// The reasons for which the server itself rejects attempts (R72, R75).
inline constexpr const char* kDeviceFails = "device_fails";
inline constexpr const char* kSameValue = "same_value";

// The number of checkpoints that are kept for a trial: the newest, and one that a device may be
// fetching.
inline constexpr std::size_t kKeptCheckpoints = 2;

// The limits of artifacts for one attempt, in number and in bytes.
inline constexpr std::int64_t kMostArtifacts = 256;
inline constexpr std::int64_t kMostArtifactBytes = std::int64_t{1} << 30;

// TrialDetail::attempts_list has at most this many attempts, the newest ones.
inline constexpr std::size_t kShownAttempts = 1'000;

// StudyRow::best_trials has at most this many trials.
inline constexpr std::int64_t kShownBest = 1'000;

// The limits of series for one attempt (R59): how many, and how many values in all of them.
inline constexpr std::int64_t kMostSeries = protocol::kMaxSeries;
inline constexpr std::int64_t kMostSeriesValues = protocol::kMaxSeriesValues;

enum class StudyState { running, finished, cancelled };
// Whether an administrator has to approve a study before any trial of it is leased (R68).
enum class Approval { given, awaited, refused };
enum class TrialState { running, complete, pruned, failed, cancelled };
// A result of a `released` or `expired` attempt may still count (R12).
enum class AttemptState { live, accepted, evidence, failed, released, expired, revoked };

struct StudyRow {
  StudyId id{};
  std::string owner;  // name of the principal
  std::string project;
  protocol::StudySpec spec;
  StudyState state = StudyState::running;
  bool paused = false;        // its trials are not leased; only of a running study (R53)
  std::int64_t priority = 0;  // among the studies of its owner (R61)
  Approval approval = Approval::given;
  std::string refusal{};  // why an administrator refused it; may be empty
  // The version of the study's code, counted from 1, and the first version whose checkpoints are
  // handed to attempts (R64).
  std::int64_t code = 1;
  std::int64_t resumable_code = 1;
  // The blobs that only earlier versions of the code named.
  std::vector<std::string> earlier_blobs{};
  // The failed trial with which the study paused itself (R56). Its failure is read with the row.
  std::optional<TrialNumber> stopped_by{};
  std::optional<protocol::Failure> stop_failure{};
  // Failures with a seq up to this one no longer count for R56: the study was resumed after them.
  std::int64_t forgiven_seq = 0;
  std::int64_t total = 0;
  std::int64_t complete = 0;
  std::int64_t pruned = 0;
  std::int64_t failed = 0;
  std::int64_t running = 0;  // trials that have a row and no outcome
  std::int64_t attempts = 0;
  std::int64_t cursor = 0;  // seq of the newest finished trial; 0: none
  std::int64_t created_at = 0;
  std::int64_t finished_at = 0;  // 0: not yet
  // The trial with the best first value, in the study's direction, of the complete trials that meet
  // their constraints (R57). The lowest number wins a tie. nullopt with several directions.
  std::optional<TrialNumber> best_trial;
  double best_value = 0;
  // Set while the best trials are looked for again, because one of them was taken back: trials with
  // numbers from this one on were not looked at yet, so one of them may be better (SearchBest).
  std::optional<TrialNumber> search_from{};
  // Only for a study with several directions: the complete trials that meet their constraints and
  // that no other trial beats, in the order of their numbers. At most the first kShownBest.
  std::vector<TrialNumber> best_trials{};
  // Parameters of an ask-and-tell study's best trial; only when a single row is read.
  std::string best_params{};
  // For ask-and-tell studies (R42): the number of claims so far, and who made the last one.
  std::int64_t generation = 0;
  std::string sampler{};
  std::int64_t sampler_since = 0;
  std::int64_t wanted = 0;                // how many trials its owner wants in total; 0: unknown
  std::int64_t artifacts = 0;             // stored so far, including removed ones
  std::int64_t artifact_bytes = 0;        // of stored ones
  std::int64_t checkpoint_bytes = 0;      // of stored ones
  std::int64_t record_bytes = 0;          // see StoredBytes
  std::optional<StudyWebhook> webhook{};  // (R62)
};

// The suggestion for a parameter of an ask-and-tell trial (R47).
struct Suggestion {
  std::string name;
  std::string distribution;  // JSON text
  std::string value;         // JSON text
  bool operator==(const Suggestion&) const = default;
};

struct TrialRow {
  TrialKey key;
  TrialState state = TrialState::running;
  std::string params;  // JSON text
  std::uint32_t seed = 0;
  std::vector<double> values;
  std::int64_t attempts = 0;
  std::optional<AttemptId> accepted_attempt;
  std::int64_t started_at = 0;
  std::int64_t finished_at = 0;
  std::int64_t seq = 0;  // position in the finishing order of all studies, from 1; 0: not finished
  std::optional<protocol::Failure> failure;
  std::vector<Suggestion> suggested{};  // in the order of the calls
  // The attributes that each lease of the trial carries, as JSON text; set only if a single trial
  // is read.
  std::string asked_attrs{};
  // The constraints that the owner computed from the result (R57); nullopt before that.
  std::optional<std::vector<double>> constraints{};
  std::int64_t rejected = 0;  // of its attempts (R71)
};

// Says who rejected an attempt, when and why (R71).
struct Rejection {
  std::string by;  // empty: the server (R72)
  std::int64_t at = 0;
  std::string reason{};  // may be empty
  // Whether the attempt was rejected only because it began with a checkpoint of a rejected one.
  bool inherited = false;

  // Returns whether the attempt's device gets the trial no more.
  bool excludes() const { return !inherited && !by.empty(); }
};

struct AttemptRow {
  AttemptId id{};
  TrialKey trial;
  protocol::AttemptKind kind = protocol::AttemptKind::primary;
  std::optional<protocol::Checkpoint> from;  // the checkpoint with which it began (R37)
  std::string device;
  AttemptState state = AttemptState::live;
  std::string device_class;
  std::string engine;
  std::string adapter;  // its WebGPU adapter, even if `backend` is another; empty: none
  std::string backend;
  std::vector<double> values;
  std::optional<protocol::Failure> failure;
  protocol::RunMetrics metrics;
  std::int64_t result_seq = 0;  // seq of the stored result; 0: none
  std::int64_t started_at = 0;
  std::int64_t finished_at = 0;
  std::string attrs{};     // JSON text that came with its result; empty: none
  std::int64_t code = 1;   // the version of the study's code that it runs (R64)
  std::string software{};  // the software that computed its result, as name/version; empty: unknown
  std::optional<Rejection> rejection{};
};

// An unfinished trial, as the dispatcher needs it.
struct RunningTrial {
  TrialKey key;
  // Those since the trial's start or its last reissue, oldest first.
  std::vector<AttemptRow> attempts;
  std::optional<protocol::Checkpoint> checkpoint{};  // the newest
  // `params`, `suggested` and `attrs` are set only in an ask-and-tell study.
  std::string params{};
  std::vector<Suggestion> suggested{};
  std::string attrs{};  // the attributes given when it was asked
  // Devices of rejected attempts, which get the trial no more (R71). Sorted, without duplicates.
  std::vector<std::string> rejected_devices{};
};

// A file that an attempt uploaded (R54).
struct ArtifactRow {
  std::string id;  // chosen by the uploader, unique in its attempt
  TrialKey trial;
  AttemptId attempt{};
  std::string name;  // of the file, without its folder
  std::string type;  // MIME
  // The name by which the researcher's process finds the artifact store; may be empty.
  std::string store{};
  protocol::BlobRef blob;
  std::int64_t arrived = 0;  // its position among the study's artifacts, from 1
  std::int64_t created_at = 0;
};

// A series of an attempt (R59): values, which may be NaN or infinite, at growing steps.
struct NamedSeries {
  std::string name;
  std::vector<std::int64_t> steps;
  std::vector<double> values;
};

// The newest value of a series.
struct LastValue {
  std::string name;
  double value = 0;
};

// The name of a series that attempts of the study have, and its number in the study, from 1.
struct SeriesName {
  std::int64_t id = 0;
  std::string name;
  bool operator==(const SeriesName&) const = default;
};

// A trial with its deciding attempt: the accepted one, or else the newest. A trial that never ran
// has no such attempt.
struct TrialDetail {
  TrialRow trial;
  std::optional<AttemptRow> attempt;
  // Set only if requested: the points of the deciding attempt and of the attempts from whose
  // checkpoints it continued (see lineage.h).
  std::vector<protocol::Point> points;
  std::vector<AttemptRow> attempts_list;  // only if requested
  // The newest value of each series of the deciding attempt, in the order of SeriesName::id. As in
  // `points`, the attempts from whose checkpoints it continued are included.
  std::vector<LastValue> last{};
};

}  // namespace hyperflock::storage
