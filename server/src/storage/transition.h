// Guarded transitions, which alone change durable state. A batch is one durable transaction. Guards
// are checked in order, and each sees the transitions before it in the batch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "storage/records.h"

namespace hyperflock::storage {

// Guard: no study of this owner has the submit_key (else `repeated`, Outcome::study is the earlier
// one), the id was never a study's (else `conflict`), and the owner's quota holds it (else
// `superseded`, with Outcome::excess). Its blobs are the owner's from then on.
struct CreateStudy {
  StudyId id{};
  std::string owner;
  std::string project;
  protocol::StudySpec spec;
  std::int64_t total = 0;
  Quota quota{};
};

// Guard: the study is running and the trial is not finished (else `superseded`); the attempt id is
// new (else `conflict`). A study that does not exist is a `conflict`. Inserts the trial's row when
// it has none.
struct StartAttempt {
  AttemptId attempt{};
  TrialKey trial;
  protocol::AttemptKind kind = protocol::AttemptKind::primary;
  std::string device;
  std::string device_class;
  std::string engine;
  std::string adapter{};  // of WebGPU; empty: none
  std::string params;
  std::uint32_t seed = 0;
  std::optional<protocol::Checkpoint> from{};
};

// Guard: the attempt exists and is `device`'s (else `conflict`). Its first result is stored once: a
// second one of the same attempt is `repeated` and changes nothing (Outcome::verdict is the first
// one's). Where the trial has no accepted attempt and its study is running, a complete or pruned
// result is accepted (`applied`, verdict accepted); else it is kept as evidence (`superseded`,
// verdict evidence). A trial that FailTrial gave up is accepted too: it then counts as complete or
// pruned instead, with a new seq (R12). A failed result ends the attempt (`applied`, verdict
// recorded); of one that has ended before it changes neither state nor failure, so that an attempt
// counts once for what its trial may lose (R18), and is kept as its failure where it has none.
// Points are stored with the attempt; a point of a known step replaces nothing. The checkpoints of
// an accepted trial go, and those of one whose live attempt failed by them (blames_checkpoint).
struct StoreResult {
  std::string device;
  protocol::TrialResult result;
};

// Guard: the attempt exists (else `conflict`) and is live (else `repeated`).
struct EndAttempt {
  AttemptId attempt{};
  AttemptState state = AttemptState::released;  // released, expired, revoked or failed
  std::optional<protocol::Failure> failure;
};

// Guard: the attempt exists and is `device`'s (else `conflict`). Points of known steps are skipped
// (`repeated` when all are).
struct AppendPoints {
  AttemptId attempt{};
  std::string device;
  std::vector<protocol::Point> points;
};

// Guard: the attempt exists and is `device`'s (else `conflict`), is live and its trial is not
// finished (else `superseded`). Where the trial's newest checkpoint is the same blob of the same
// attempt, `repeated`. The trial keeps its newest kKeptCheckpoints. `checkpoint.attempt` saved it.
struct StoreCheckpoint {
  std::string device;
  protocol::Checkpoint checkpoint;
};

// Guard: as StoreCheckpoint's, of `artifact.attempt`. An artifact of the study with this id is
// `repeated` where it is the attempt's and has the same bytes, else `superseded` with
// Refusal::artifact_exists. `superseded`, too, where the attempt has kMostArtifacts, or
// would have more than kMostArtifactBytes of them
// (Refusal::artifact_count), and where the quota of the study's owner, as it is stored, does not
// hold its bytes (Outcome::excess). Its trial, place and time are storage's to fill in.
//
// Each artifact counts its bytes for the owner as long as it stays. All of a trial's stay until a
// result of it is accepted, those of a trial that failed too. Then the accepted attempt inherits
// what those that it goes on from had uploaded before they saved, as its own; those of other
// attempts go. A result that is kept as evidence takes its attempt's along, and EndStudy those of
// the trials that it cancels.
struct StoreArtifact {
  std::string device;
  ArtifactRow artifact;
};

// Guard: the trial has a row (else `conflict`), no accepted attempt and is not finished (else
// `superseded`).
struct FailTrial {
  TrialKey trial;
  protocol::Failure failure;
};

// Guard: the study exists (else `conflict`) and is running (else `repeated`). Its unfinished trials
// become cancelled, each with its own seq; its attempts are left as they are. A result that comes
// later is evidence. Its checkpoints go.
struct EndStudy {
  StudyId study{};
  StudyState state = StudyState::finished;
};

// Guard: the study exists (else `conflict`) and has ended (else `superseded`). From then on there
// is no such study, for every reader, and none of its trials, attempts and artifacts: a transition
// that names one is a `conflict`. Its id and those of its attempts are not given again, its
// submit_key may be. What it had counts no more for its owner: artifacts, and each blob that no
// other study of theirs names. Outcome::freed tells how much, Outcome::disowned the blobs that are
// nobody's any more. Rows may stay behind, for SweepDeleted (Snapshot::unswept).
struct DeleteStudy {
  StudyId study{};
};

// How many rows of deleted studies are removed at once. It takes the writer some milliseconds.
inline constexpr std::int64_t kSweptRows = 4'000;

// Removes at most so many rows that deleted studies left; `repeated` where there are none.
// Outcome::dropped are the blobs that only these named.
struct SweepDeleted {
  std::int64_t rows = kSweptRows;
};

// Guard: the study exists (else `conflict`), is running (else `superseded`) and is not as it is to
// be already (else `repeated`). A study that ends is paused no more.
struct PauseStudy {
  StudyId study{};
  bool paused = true;
};

// Guard: the study exists (else `conflict`), was not cancelled (else `superseded`) and has failed
// trials (else `repeated`); where it does not run, `quota` holds it beside what its owner uses
// (else `superseded`, with Outcome::excess): all of its trials count again. Those that failed are
// unfinished again, without a seq and a failure, and their study runs (again). Attempts up to now
// stay as evidence, but count no more for what a trial may lose (Snapshot leaves them out), and
// their checkpoints go. Outcome::trials names the trials.
struct ReissueTrials {
  StudyId study{};
  Quota quota{};
};

// Guard: the study exists and is an ask-and-tell study (else `conflict`), was not cancelled (else
// `superseded`); where it had finished, `quota` holds it as ReissueTrials says. It runs (again),
// and has a new generation, Outcome::id.
struct ClaimStudy {
  StudyId study{};
  std::string label;
  Quota quota{};
};

// A trial that the owner of a study asked for.
struct AskedRow {
  TrialNumber number{};
  std::string params;
  std::uint32_t seed = 0;
  std::string attrs{};  // JSON text that its leases carry; empty: none
};

// Guard: the study exists (else `conflict`), runs and has this generation, and `quota` holds the
// new trials (else `superseded`, with Outcome::excess). Trials that have a row are left as they
// are; Outcome::trials are the others, in order, which get theirs. `wanted` is kept where given.
struct AskTrials {
  StudyId study{};
  std::int64_t generation = 0;
  std::vector<AskedRow> trials;
  std::optional<std::int64_t> wanted{};
  Quota quota{};
};

// Guard: the trial has a row (else `conflict`), is unfinished and its study has this generation
// (else `superseded`). A name that was given before keeps its value (`repeated`). `params` is the
// trial's new text, `position` the suggestion's place in the trial's log.
struct StoreSuggestion {
  TrialKey trial;
  std::int64_t generation = 0;
  std::int64_t position = 0;
  Suggestion suggestion;
  std::string params;
};

using Transition =
    std::variant<CreateStudy, StartAttempt, StoreResult, EndAttempt, AppendPoints, StoreCheckpoint,
                 StoreArtifact, FailTrial, EndStudy, DeleteStudy, SweepDeleted, PauseStudy,
                 ReissueTrials, ClaimStudy, AskTrials, StoreSuggestion, CreatePrincipal,
                 UpdatePrincipal, CreateToken, RevokeToken, CreateProject, CreateEnrolment,
                 RevokeEnrolment, CreateDevice, RevokeDevice, EraseDevice, OwnBlob, NoteAudit,
                 TrimAudit>;

enum class Applied {
  applied,     // the guard held; the change is durable
  repeated,    // the same change was made before; nothing was written
  superseded,  // the guard failed because of an earlier change; only what the contract says was
               // kept
  conflict,    // the transition does not fit the stored rows, or another server was first
};

// What a deleted study held.
struct Freed {
  std::int64_t trials = 0;     // trials that had an outcome
  std::int64_t artifacts = 0;  // artifacts that were kept
  std::int64_t bytes = 0;      // how many bytes less its owner uses
  bool operator==(const Freed&) const = default;
};

// Why an artifact of a live attempt was not taken.
enum class Refusal { artifact_exists, artifact_count };

struct Outcome {
  Applied applied = Applied::applied;
  std::optional<TrialKey> trial;             // of the attempt or trial concerned
  std::optional<StudyId> study;              // CreateStudy: the study's id
  std::optional<protocol::Verdict> verdict;  // StoreResult
  std::int64_t seq = 0;               // the trial's finishing order, when it finished by this
  std::vector<TrialNumber> trials{};  // ReissueTrials: those that run again; AskTrials: new ones
  std::int64_t id = 0;     // of the person, token, project or code that was made; ClaimStudy: the
                           // generation
  std::int64_t token = 0;  // CreatePrincipal: of the first token
  std::optional<Excess> excess{};       // the limit of the quota that was exceeded
  std::optional<Refusal> refusal{};     // StoreArtifact
  std::vector<std::string> dropped{};   // uploaded blobs that no row names any more
  std::optional<Freed> freed{};         // DeleteStudy
  std::vector<std::string> disowned{};  // DeleteStudy: bundles and data that nobody owns any more
  bool operator==(const Outcome&) const = default;
};

}  // namespace hyperflock::storage
