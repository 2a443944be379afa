// What the dispatcher is told.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "protocol/messages.h"
#include "storage/storage.h"

namespace hyperflock::dispatch {

// Names one proposed transition until its outcome comes back.
enum class TransitionId : std::uint64_t {};

// An authenticated device; the transport answers `welcome` from the Send that this event causes.
struct SessionOpened {
  SessionId session{};
  std::string device;
  std::string project;
  protocol::Capabilities capabilities;
  std::vector<AttemptId> held;
};
struct SessionClosed {
  SessionId session{};
  enum class How { clean, lost } how = How::lost;
};
// ready, heartbeat, report, call, result or release of an open session.
struct MessageReceived {
  SessionId session{};
  protocol::ClientMessage message;
};
// What a researcher or an administrator asks for. `note` is the entry of the audit log that goes
// into the transaction of the change; the dispatcher fills in the study.
struct StudySubmitted {
  RequestId request{};
  std::string owner;
  std::string project;
  protocol::StudySpec spec;
  storage::Quota quota{};  // of the owner
  std::optional<storage::NoteAudit> note{};
};
struct StudyCancelRequested {
  RequestId request{};
  StudyId study{};
  std::optional<storage::NoteAudit> note{};
};
// Nothing of the study is to be leased any more, or again (R53).
struct StudyPauseRequested {
  RequestId request{};
  StudyId study{};
  bool paused = true;
  std::optional<storage::NoteAudit> note{};
};
// Every failed trial of a study is to be issued again (R33). `study` is its row as stored: one that
// had finished is not in memory any more.
struct StudyReplayRequested {
  RequestId request{};
  storage::StudyRow study;
  storage::Quota quota{};  // of who asks
  std::optional<storage::NoteAudit> note{};
};
// A researcher's connection wants to own an asked study (R42). `study` is its row as stored.
struct StudyClaimed {
  SessionId session{};
  storage::StudyRow study;
  std::string label;
  bool standby = false;
  storage::Quota quota{};  // of the study's owner
};
// `reply` of a connection that claimed a study.
struct OwnerReplied {
  SessionId session{};
  protocol::OwnerReply reply;
};
struct OwnerClosed {
  SessionId session{};
};
// Durable by now: what the next attempt of the trial begins with (R37).
struct CheckpointStored {
  TrialKey trial;
  protocol::Checkpoint checkpoint;
};
// Durable by now: a sign of life of the attempt that uploaded it (R54).
struct ArtifactStored {
  AttemptId attempt{};
};
// The device's erasure is about to be proposed, or did not happen. In between nothing is leased to
// it, so that no row names it after the erasure. A session that asks for work meanwhile is served
// when the erasure fails.
struct DeviceErasing {
  std::string device;
  enum class Step { begins, failed } step = Step::begins;
};
// Durable by now: the device's credential is refused at the edge.
struct DeviceRevoked {
  std::string device;
};
// Outcomes of proposed transitions, durable by now, in the order of the batch.
struct BatchCommitted {
  std::vector<std::pair<TransitionId, storage::Outcome>> outcomes;
};
// The batch was not written. The dispatcher forgets what it proposed, refuses work (read_only) and
// waits for Restored.
struct BatchFailed {
  std::vector<TransitionId> transitions;
  Error error;
};
// The state as stored: at start and after BatchFailed.
struct Restored {
  storage::Snapshot snapshot;
};
// Leases nothing more; attempts that run may end.
struct DrainStarted {};
// Sent at or after next_deadline().
struct Tick {};

using Event =
    std::variant<SessionOpened, SessionClosed, MessageReceived, StudySubmitted,
                 StudyCancelRequested, StudyPauseRequested, StudyReplayRequested, StudyClaimed,
                 OwnerReplied, OwnerClosed, CheckpointStored, ArtifactStored, DeviceErasing,
                 DeviceRevoked, BatchCommitted, BatchFailed, Restored, DrainStarted, Tick>;

}  // namespace hyperflock::dispatch
