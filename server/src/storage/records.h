// Rows as storage keeps them. Plain data; wall times (`*_at`, Unix ms) are written by storage's
// injected clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "protocol/messages.h"
#include "protocol/study_spec.h"
#include "storage/identity.h"

namespace hyperflock::storage {

// A trial that began with a checkpoint and failed like this may have failed by the checkpoint: it
// begins anew, and the failure does not count (R38). One device cannot fail another's trial.
inline bool blames_checkpoint(const protocol::Failure& failure) {
  return failure.cause == protocol::Cause::user_error || failure.cause == protocol::Cause::invalid;
}

// So many checkpoints of a trial are kept: the newest, and one that a device may be fetching.
inline constexpr std::size_t kKeptCheckpoints = 2;

// So many artifacts an attempt may upload, and so many bytes of them.
inline constexpr std::int64_t kMostArtifacts = 256;
inline constexpr std::int64_t kMostArtifactBytes = std::int64_t{1} << 30;

enum class StudyState { running, finished, cancelled };
enum class TrialState { running, complete, pruned, failed, cancelled };
// `released` and `expired` attempts may still bring the result that counts (R12).
enum class AttemptState { live, accepted, evidence, failed, released, expired, revoked };

struct StudyRow {
  StudyId id{};
  std::string owner;  // name of the principal
  std::string project;
  protocol::StudySpec spec;
  StudyState state = StudyState::running;
  bool paused = false;  // nothing of it is leased; of a running study only (R53)
  std::int64_t total = 0;
  std::int64_t complete = 0;
  std::int64_t pruned = 0;
  std::int64_t failed = 0;
  std::int64_t running = 0;  // trials with no outcome yet that have a row
  std::int64_t attempts = 0;
  std::int64_t cursor = 0;  // seq of the newest finished trial, 0 when none
  std::int64_t created_at = 0;
  std::int64_t finished_at = 0;  // 0: not yet
  // Best complete trial by the first value, in the study's direction; the lowest number wins a tie.
  // None where the study has several directions.
  std::optional<TrialNumber> best_trial;
  double best_value = 0;
  std::string best_params{};  // of an ask-and-tell study's best trial; only where a row is read
  // Of an ask-and-tell study (R42): its claims so far, and who made the last one.
  std::int64_t generation = 0;
  std::string sampler{};
  std::int64_t sampler_since = 0;
  std::int64_t wanted = 0;          // trials that its owner means to have; 0: unknown
  std::int64_t artifacts = 0;       // that were stored so far, also those that are gone
  std::int64_t artifact_bytes = 0;  // of those that are kept
};

// What a trial of an ask-and-tell study was given for a name (R47).
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
  std::int64_t seq = 0;  // order of finishing over all studies, from 1; 0: not finished
  std::optional<protocol::Failure> failure;
  std::vector<Suggestion> suggested{};  // in the order in which they were given
  std::string asked_attrs{};  // what each lease of it carries, JSON text; read with one trial alone
};

struct AttemptRow {
  AttemptId id{};
  TrialKey trial;
  protocol::AttemptKind kind = protocol::AttemptKind::primary;
  std::optional<protocol::Checkpoint> from;  // what it began with (R37)
  std::string device;
  AttemptState state = AttemptState::live;
  std::string device_class;
  std::string engine;
  std::string adapter;  // of WebGPU, also where `backend` is another; empty: none
  std::string backend;
  std::vector<double> values;
  std::optional<protocol::Failure> failure;
  protocol::RunMetrics metrics;
  std::int64_t result_seq = 0;  // seq of the stored result, 0: none
  std::int64_t started_at = 0;
  std::int64_t finished_at = 0;
  std::string attrs{};     // JSON text that came with its result; empty: none
  std::string software{};  // what computed its result, as name/version; empty: not told
};

// A file that an attempt uploaded (R54).
struct ArtifactRow {
  std::string id;  // the uploader's, unique in its study
  TrialKey trial;
  AttemptId attempt{};
  std::string name;     // of the file, without its folder
  std::string type;     // MIME
  std::string store{};  // by which the researcher's process knows where it belongs; may be empty
  protocol::BlobRef blob;
  std::int64_t arrived = 0;  // its place among those of its study, from 1
  std::int64_t created_at = 0;
};

// A trial with its deciding attempt (the accepted one, else the newest; none where it was asked and
// never ran).
struct TrialDetail {
  TrialRow trial;
  std::optional<AttemptRow> attempt;
  // Of the deciding attempt, and of those that it goes on from up to the step of their
  // checkpoints; only where asked for.
  std::vector<protocol::Point> points;
  std::vector<AttemptRow> attempts_list;  // only where asked for
};

}  // namespace hyperflock::storage
