// Guarded transitions. Only they change durable state. A batch is one durable transaction. The
// conditions of a transition (guards) are checked in order, and they see the changes of the
// transitions before it in the batch. "(else `name`)" after a condition names the outcome if the
// condition is false.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "storage/contribution.h"
#include "storage/records.h"

namespace hyperflock::storage {

// Is applied only if no study of this owner has the submit_key (else `repeated`, and Outcome::study
// is that study), no study ever had this id (else `conflict`), and the owner's quota has room for
// the study (else `superseded`, with Outcome::excess). From then on the study's blobs belong to the
// owner.
struct CreateStudy {
  StudyId id{};
  std::string owner;
  std::string project;
  protocol::StudySpec spec;
  std::int64_t total = 0;
  Quota quota{};
  // Sets the study's webhook, as SetWebhook does. A webhook in the spec itself is not stored.
  std::optional<protocol::Webhook> webhook{};
  std::string webhook_secret{};
  bool awaits_approval = false;
};

// Is applied only if the study is running and the trial is not finished (else `superseded`), and
// the attempt id is new (else `conflict`). A study that does not exist is a `conflict`. Inserts the
// trial's row when it has none. The attempt runs the newest version of the study's code. It begins
// without `from` if checkpoints of that version's code are not handed out any more (R64), or if the
// attempt that saved it is rejected (R71).
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

// Is applied only if the attempt exists and belongs to `device` (else `conflict`). Only the first
// result of an attempt is stored. Another result is `repeated` and changes nothing;
// Outcome::verdict is then that of the first.
//
// A complete or pruned result is accepted if the study is running, the trial has no accepted
// attempt, and the attempt is not rejected (`applied`, verdict accepted). Otherwise it is kept as
// evidence (`superseded`, verdict evidence). The result of a trial that FailTrial gave up can be
// accepted, too. The trial then counts as complete or pruned instead, with a new seq (R12).
//
// A complete result with a value outside of the study's range counts as failed, with the code
// value_out_of_range (R73), unless the dispatcher has checked it. Its values are kept.
//
// A failed result ends the attempt (`applied`, verdict recorded). If the attempt has ended before,
// its state stays, and its failure too if it has one. So an attempt counts only once against the
// budget of its trial (R18).
//
// An accepted complete trial that meets the constraints in its attributes may become one of the
// best (R57), unless its owner still has to compute constraints from the result.
//
// Points are stored with the attempt; a point of a known step replaces nothing. The series of its
// reports are put together, so that a reader finds them in one piece. The checkpoints of an
// accepted trial are dropped. So are those of a trial whose live attempt failed because of its
// checkpoint (blames_checkpoint).
struct StoreResult {
  std::string device;
  protocol::TrialResult result;
  bool in_range = false;  // the study's range was checked already
};

// Ends an attempt. Outcomes: `conflict` if it does not exist, `repeated` if it is not live.
struct EndAttempt {
  AttemptId attempt{};
  AttemptState state = AttemptState::released;  // released, expired, revoked or failed
  std::optional<protocol::Failure> failure;
  protocol::RunMetrics metrics{};  // as the server has seen it; a later result replaces them
};

// Is applied only if the attempt exists and belongs to `device` (else `conflict`). Points of known
// steps are skipped, and so are the series of a report whose `seq` is known. If all are skipped,
// the outcome is `repeated`. If the attempt would have more than kMostSeries series or
// kMostSeriesValues values in them, the points are stored without the series, and the outcome is
// `superseded` with Refusal::series_count or Refusal::series_size.
// The outcome is `superseded` with Refusal::quota, and nothing is stored, if the records of the
// study's owner would exceed their part of the stored quota.
struct AppendPoints {
  AttemptId attempt{};
  std::string device;
  std::vector<protocol::Point> points;
  std::int64_t seq = 0;  // of the report; used only with `series`
  std::optional<protocol::Series> series{};
};

// The default of `room`, the number of bytes that the server can still store in files. If an owner
// has no quota, a device's share is computed from `room` (quota.h).
inline constexpr std::int64_t kAmpleRoom = std::int64_t{1} << 60;

// Is applied only if the attempt exists and belongs to `device` (else `conflict`), is live and not
// rejected, and its trial is not finished (else `superseded`). If the newest checkpoint of the
// trial is the same blob of the same attempt, the outcome is `repeated`. The outcome is also
// `repeated` if the attempt runs an earlier version of the study's code whose checkpoints are not
// handed out any more (R64); nothing is stored then, and Outcome::dropped has the blob. The trial
// keeps its newest kKeptCheckpoints. `checkpoint.attempt` is the attempt that saved it.
//
// The bytes of a checkpoint count for the study's owner as long as it is stored. The outcome is
// `superseded` if the owner's stored quota has no room for them (Outcome::excess), or if the device
// would keep more than its share of it (Refusal::device_share; quota.h). What the new checkpoint
// replaces counts as free.
struct StoreCheckpoint {
  std::string device;
  protocol::Checkpoint checkpoint;
  std::int64_t room = kAmpleRoom;
};

// Has the conditions of StoreCheckpoint, for `artifact.attempt`, and its limits. If the attempt has
// uploaded an artifact with this id, the outcome is `repeated` if that has the same bytes, else
// `superseded` with Refusal::artifact_exists. The outcome is also `superseded` if the attempt would
// have more than kMostArtifacts artifacts or more than kMostArtifactBytes of them
// (Refusal::artifact_count). Storage fills in the trial, the position and the time.
//
// The bytes of an artifact count for the owner as long as it is stored. All artifacts of a trial
// stay until one of its results is accepted, even if the trial fails. Then the accepted attempt
// gets the artifacts that the attempts from whose checkpoints it continues had uploaded before they
// saved the checkpoints. Of two with the same id, the newer one stays. Artifacts of other attempts
// are dropped. If a result is kept as evidence,
// the artifacts of its attempt are dropped. EndStudy drops the artifacts of the trials that it
// cancels.
struct StoreArtifact {
  std::string device;
  ArtifactRow artifact;
  std::int64_t room = kAmpleRoom;
};

// Is applied only if the trial has a row (else `conflict`), no accepted attempt and is not finished
// (else `superseded`). With `pauses`, the study pauses with this failure as the reason, unless it
// is paused or a trial of it has succeeded. Outcome::paused says whether it did (R56).
struct FailTrial {
  TrialKey trial;
  protocol::Failure failure;
  bool pauses = false;
};

// Is applied only if the study exists (else `conflict`) and is running (else `repeated`). Its
// unfinished trials become cancelled, each with its own seq. Its attempts do not change, and
// results that come later are evidence. Its checkpoints are dropped.
struct EndStudy {
  StudyId study{};
  StudyState state = StudyState::finished;
};

// Is applied only if the study exists (else `conflict`) and has ended (else `superseded`). From
// then on no reader sees the study or its trials, attempts and artifacts, and a transition that
// names one of them is a `conflict`. The ids of the study and of its attempts are never used again,
// but its submit_key may be. Its artifacts stop counting for its owner, and so does each blob that
// no other study of the owner names. Outcome::freed says how much that is. Outcome::disowned lists
// the blobs that nobody owns any more. Rows may remain until SweepDeleted removes them
// (Snapshot::unswept).
struct DeleteStudy {
  StudyId study{};
};

// The number of rows of deleted studies that are removed at once. This takes some milliseconds.
inline constexpr std::int64_t kSweptRows = 4'000;

// Removes at most this many rows of deleted studies; `repeated` if there are none. Outcome::dropped
// lists the blobs that only these rows named.
struct SweepDeleted {
  std::int64_t rows = kSweptRows;
};

// Is applied only if the study exists (else `conflict`), is running (else `superseded`), and
// `paused` would change (else `repeated`). A study that ends is not paused any more. Failures from
// before a study was resumed do not count for R56 any more.
struct PauseStudy {
  StudyId study{};
  bool paused = true;
};

// Is applied only if the study exists (else `conflict`) and its priority would change (else
// `repeated`).
struct SetPriority {
  StudyId study{};
  std::int64_t priority = 0;
};

// Decides about a study that exists (else `conflict`), runs (else `superseded`) and awaits approval
// (else `repeated`). A refused study is cancelled, as EndStudy does it.
struct JudgeStudy {
  StudyId study{};
  bool approved = true;
  std::string reason{};
};

// Is applied only if the study exists (else `conflict`), was not cancelled (else `superseded`) and
// has failed trials (else `repeated`). If the study does not run, all of its trials count again, so
// `quota` must have room for them in addition to what the owner uses (else `superseded`, with
// Outcome::excess).
//
// The failed trials become unfinished, without seq and failure, and the study runs (again). Earlier
// attempts stay as evidence, but do not count against the budgets of their trials any more, and
// Snapshot leaves them out. Their checkpoints are dropped. Outcome::trials lists the reissued
// trials.
//
// With `code`, the study gets a new version of its code, unless it runs this code already. The
// attempts that start from then on run the new version, and Outcome::spec is the study's new spec.
// Attempts that run continue. Without `code->checkpoints`, all checkpoints of the study are
// dropped, and so are those that an attempt of an earlier version saves from then on.
struct ReissueTrials {
  StudyId study{};
  Quota quota{};
  std::optional<protocol::NewCode> code{};
  std::string runtime_index{};   // the runtime of the new code
  bool awaits_approval = false;  // from now on, if it is applied
};

// The number of trials that are looked at at once, and of attempts that are rejected at once. This
// takes some milliseconds.
inline constexpr std::int64_t kRejectionTrials = 1'000;
inline constexpr std::int64_t kRejectionAttempts = 250;

// Selects attempts of a study. All conditions that are given must hold.
struct Selection {
  std::optional<std::string> device{};
  std::optional<TrialNumber> trial{};
  // Attempts that ended at this Unix time (ms) or later. An attempt that still runs is selected if
  // `device` or `trial` is given.
  std::optional<std::int64_t> since{};
};

// Rejects attempts of a study that exists (else `conflict`), in pieces: looks at its trials with
// numbers from `from` on, at most `trials`, and stops early after `attempts` attempts. If it
// rejects nothing and no trial runs again, the outcome is `repeated`. Outcome::rejected says what
// was rejected and from which trial on to look further.
//
// Of those attempts that have an id up to `last` and are not rejected yet, it rejects the ones that
// `which` selects. It also rejects attempts that began with a checkpoint of a rejected attempt. An
// accepted result becomes evidence (also its verdict), and a result that comes later is never
// accepted. The attempt's artifacts and checkpoints are dropped, and no attempt begins with one of
// its checkpoints. Everything else of it is kept.
//
// A trial whose accepted result is rejected becomes unfinished, without seq, and the study runs
// (again). It becomes cancelled in a cancelled study. In an ask-and-tell study, it becomes failed
// with the code kResultRejected, because its owner has used the result; a later result of it is
// evidence, because the owner asks for another trial in its place. A failed trial becomes
// unfinished if the failures of its other attempts do not spend a budget (failure_budget.h).
// Failures from before do not count for R56 any more. If one of the best trials is rejected, the
// next ones are looked for by SearchBest (Outcome::searches).
//
// If the study does not run, all of its trials count again, so `quota` must have room for them
// (else `superseded`, with Outcome::excess).
struct RejectResults {
  StudyId study{};
  Selection which{};
  AttemptId last{};
  Quota quota{};
  std::string by{};      // who rejects; empty: the server. Kept with the attempts, like the reason
  std::string reason{};  // may be empty
  // The number of the study's rejection to which the attempts belong; 0: a new one.
  std::int64_t rejection = 0;
  TrialNumber from{};
  std::int64_t trials = kRejectionTrials;
  std::int64_t attempts = kRejectionAttempts;
};

// Is applied only if the study exists (else `conflict`), was not cancelled (else `superseded`), and
// `more` extends its space (else `superseded` with Refusal::space_changed). If nothing is new, the
// outcome is `repeated`. `quota` must have room for the new trials, and for all if the study does
// not run (else `superseded`, with Outcome::excess). The study then has them and runs (again).
// Outcome::spec is its new spec, and Outcome::id the number of trials that it had.
struct ExtendStudy {
  StudyId study{};
  protocol::Extension more{};
  Quota quota{};
  bool awaits_approval = false;  // from now on, if it is applied
};

// Is applied only if the study exists and is an ask-and-tell study (else `conflict`), and was not
// cancelled (else `superseded`). If it had finished, `quota` must have room for it, as in
// ReissueTrials. The study then runs (again) and has a new generation, which is Outcome::id.
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
  // Whether the owner computes constraints from the trial's result. Before it has sent them, the
  // trial is not among the best (R57).
  bool constrained = false;
};

// Is applied only if the study exists (else `conflict`), runs and has this generation, and `quota`
// has room for the new trials (else `superseded`, with Outcome::excess if there is no room). Trials
// that have a row do not change. The other trials get a row, and Outcome::trials lists them in
// order. `wanted` is stored if it is given.
struct AskTrials {
  StudyId study{};
  std::int64_t generation = 0;
  std::vector<AskedRow> trials;
  std::optional<std::int64_t> wanted{};
  Quota quota{};
};

// Is applied only if the trial has a row (else `conflict`), is unfinished, and its study has this
// generation (else `superseded`). A name that has a value keeps it (`repeated`). `params` is the
// trial's new text, `position` the suggestion's place in the trial's log.
struct StoreSuggestion {
  TrialKey trial;
  std::int64_t generation = 0;
  std::int64_t position = 0;
  Suggestion suggestion;
  std::string params;
};

// Is applied only if the trial has a row (else `conflict`), its study has this generation (else
// `superseded`), and the trial has a result and no constraints of its owner yet (else `repeated`).
// A complete trial may then become one of the best, or no longer be one (R57). If it was one, the
// next ones are looked for by SearchBest (Outcome::searches).
struct StoreConstraints {
  TrialKey trial;
  std::int64_t generation = 0;
  std::vector<double> values;
};

// The number of trials that are looked at at once. This takes some milliseconds.
inline constexpr std::int64_t kSearchedTrials = 1'000;

// Looks at the next trials, at most this many, of a study that has lost one of its best trials
// (StudyRow::search_from), and makes those that no other one beats its best trials. `repeated` if
// there is no such study. Outcome::study is the study.
struct SearchBest {
  std::int64_t trials = kSearchedTrials;
};

// Adds a piece of results to what devices have contributed. Is applied only if the sums go as far
// as where the piece begins, and no result behind that has changed since the piece was read (else
// `superseded`).
struct FoldContributions {
  ContributionPiece piece;
};

using Transition =
    std::variant<CreateStudy, StartAttempt, StoreResult, EndAttempt, AppendPoints, StoreCheckpoint,
                 StoreArtifact, FailTrial, EndStudy, DeleteStudy, SweepDeleted, PauseStudy,
                 SetPriority, JudgeStudy, ExtendStudy, ReissueTrials, RejectResults, ClaimStudy,
                 AskTrials, StoreSuggestion, StoreConstraints, SearchBest, FoldContributions,
                 SetWebhook, StoreWebhookSecret, NoteDevices, NoteDelivery, CreatePrincipal,
                 UpdatePrincipal, CreateToken, RevokeToken, CreateProject, FreezeProject, BarBlob,
                 SetCeiling, SetShare, CreateEnrolment, RevokeEnrolment, CreateDevice, SeeDevice,
                 CollectDevice, RevokeDevice, EraseDevice, JoinPassphrase, OwnBlob, NoteAudit,
                 TrimAudit, KeepTime>;

enum class Applied {
  applied,     // the guard held; the change is durable
  repeated,    // the same change was made before; nothing was written
  superseded,  // an earlier change broke the guard; only what the contract says was kept
  conflict,    // the transition does not fit the stored rows, or another server was first
};

// The amounts that the deletion of a study has released.
struct Freed {
  std::int64_t trials = 0;     // trials that had an outcome
  std::int64_t artifacts = 0;  // artifacts that were kept
  std::int64_t bytes = 0;      // how much less its owner uses
  bool operator==(const Freed&) const = default;
};

// A trial of which attempts were rejected.
struct RejectedTrial {
  RunningTrial trial;  // as it is now
  bool runs_again = false;
  std::vector<AttemptId> attempts{};  // that are rejected now
  // Whether it lost its result and failed, as in an ask-and-tell study, and its new `seq`.
  bool failed = false;
  std::int64_t seq = 0;
};

// What one RejectResults has done.
struct Rejected {
  std::int64_t rejection = 0;  // its number; 0: nothing was rejected yet
  std::int64_t attempts = 0;
  std::int64_t runs_again = 0;  // trials
  std::vector<RejectedTrial> trials;
  bool changed = false;    // whether the state of a trial has changed
  bool succeeded = false;  // whether a trial of the study is complete or pruned
  // The first trial that was not looked at; nullopt: all were.
  std::optional<TrialNumber> next;
};

// The reason why an upload of a live attempt, a report, an extension, a device or its passphrase
// was refused.
enum class Refusal {
  artifact_exists,
  artifact_count,
  device_share,
  passphrase_taken,
  quota,
  series_count,
  series_size,
  space_changed,
  too_many_devices,
};

struct Outcome {
  Applied applied = Applied::applied;
  std::optional<TrialKey> trial;             // of the attempt or trial concerned
  std::optional<StudyId> study;              // CreateStudy: the study's id
  std::optional<protocol::Verdict> verdict;  // StoreResult
  // The trial's place in the order in which trials finish, if this transition finished the trial.
  std::int64_t seq = 0;
  std::vector<TrialNumber> trials{};  // ReissueTrials: those that run again; AskTrials: new ones
  // The id of the new person, token, project or code; for ClaimStudy the generation.
  std::int64_t id = 0;
  std::int64_t token = 0;               // CreatePrincipal: of the first token
  std::optional<Excess> excess{};       // the limit of the quota that was exceeded
  std::optional<Refusal> refusal{};     // StoreArtifact, AppendPoints, ExtendStudy
  std::vector<std::string> dropped{};   // uploaded blobs that no row names any more
  std::optional<Freed> freed{};         // DeleteStudy
  std::vector<std::string> disowned{};  // DeleteStudy: bundles and data that nobody owns any more
  bool paused = false;                  // FailTrial: whether the study paused with it
  // ReissueTrials, RejectResults, ExtendStudy, ClaimStudy: the study's
  std::int64_t priority = 0;
  // RejectResults. For ReissueTrials, `trials` has the reissued trials of which attempts are
  // rejected; nullptr if there are none.
  std::shared_ptr<const Rejected> rejected{};
  std::shared_ptr<const protocol::StudySpec> spec{};  // ReissueTrials, ExtendStudy: the new one
  bool queued = false;  // an event waits for its delivery to a webhook (R62)
  // StoreConstraints, RejectResults: SearchBest has to look for the best trials again
  bool searches = false;
  bool operator==(const Outcome&) const = default;
};

}  // namespace hyperflock::storage
