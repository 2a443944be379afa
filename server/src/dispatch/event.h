// The events of the dispatcher.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "protocol/messages.h"
#include "storage/storage.h"

namespace hyperflock::dispatch {

// Identifies a proposed transition until its outcome is known.
enum class TransitionId : std::uint64_t {};

// An authenticated device has connected. The Send that this event causes carries `welcome`.
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
// A message of an open session: ready, heartbeat, report, call, result or release.
struct MessageReceived {
  SessionId session{};
  protocol::ClientMessage message;
};
// A request of a researcher or an administrator. `note` is the entry of the audit log, which is
// written in the transaction of the change. The dispatcher fills in the study.
struct StudySubmitted {
  RequestId request{};
  std::string owner;
  std::string project;
  protocol::StudySpec spec;
  storage::Quota quota{};  // of the owner
  std::optional<storage::NoteAudit> note{};
  std::optional<protocol::Webhook> webhook{};
  std::string webhook_secret{};  // as in storage::CreateStudy
  bool awaits_approval = false;  // of an administrator (R68)
};
struct StudyCancelRequested {
  RequestId request{};
  StudyId study{};
  std::optional<storage::NoteAudit> note{};
};
// A request to pause or resume the study (R53).
struct StudyPauseRequested {
  RequestId request{};
  StudyId study{};
  bool paused = true;
  std::optional<storage::NoteAudit> note{};
};
// A request to give the study another priority among those of its owner (R61).
struct StudyPriorityRequested {
  RequestId request{};
  StudyId study{};
  std::int64_t priority = 0;
  std::optional<storage::NoteAudit> note{};
};
// An administrator approves or refuses a study that awaits approval (R68).
struct StudyJudged {
  RequestId request{};
  StudyId study{};
  bool approved = true;
  std::string reason{};
  std::optional<storage::NoteAudit> note{};
};
// A request to issue every failed trial of a study again (R33). `study` is its row as stored,
// because a finished study is not in memory.
struct StudyReissueRequested {
  RequestId request{};
  storage::StudyRow study;
  storage::Quota quota{};  // of the caller
  std::optional<storage::NoteAudit> note{};
  std::optional<protocol::NewCode> code{};  // of the trials that follow (R64)
  std::string runtime_index{};              // the runtime of this code
  bool awaits_approval = false;             // the study, from now on
};
// A request to reject attempts of a study (R71). `study` is its row as stored.
struct StudyRejectRequested {
  RequestId request{};
  storage::StudyRow study;
  storage::Selection which{};
  storage::Quota quota{};  // of the caller
  std::string by{};        // the caller's name
  std::string reason{};
  std::optional<storage::NoteAudit> note{};
};
// A request to extend the space of a study (R65). `study` is its row as stored.
struct StudyExtendRequested {
  RequestId request{};
  storage::StudyRow study;
  protocol::Extension more;
  storage::Quota quota{};  // of the caller
  std::optional<storage::NoteAudit> note{};
  bool awaits_approval = false;  // the study, from now on
};
// A researcher's connection claims an ask-and-tell study (R42). `study` is its row as stored.
struct StudyClaimed {
  SessionId session{};
  storage::StudyRow study;
  std::string label;
  bool standby = false;
  storage::Quota quota{};  // of the study's owner
};
// A `reply` from a connection that claimed a study.
struct OwnerReplied {
  SessionId session{};
  protocol::OwnerReply reply;
};
struct OwnerClosed {
  SessionId session{};
};
// Administrators have changed a rule that stops studies, or a ceiling (R67, R68). The change is
// already stored.
struct RulesChanged {
  storage::Rules rules;
};
// The webhook of a study was set or removed in storage (R62). `wants_devices`: the webhook wants an
// event when the study has no devices any more.
struct WebhookSet {
  StudyId study{};
  bool wants_devices = false;
};
bool wants_devices(const std::optional<protocol::Webhook>& webhook);
// A checkpoint was stored. The trial's next attempt begins with it (R37).
struct CheckpointStored {
  TrialKey trial;
  protocol::Checkpoint checkpoint;
};
// An artifact is stored. It renews the lease of its attempt (R54).
struct ArtifactStored {
  AttemptId attempt{};
};
// The device's erasure is about to be proposed, or it has failed. Between these events the device
// gets no lease, so that no row names it after the erasure. If the device asks for work between
// them, it gets work only after the erasure has failed.
struct DeviceErasing {
  std::string device;
  enum class Step { begins, failed } step = Step::begins;
};
// The device's revocation is stored. Its credential is refused from now on.
struct DeviceRevoked {
  std::string device;
};
// A batch was committed. Its outcomes are in the order of its transitions.
struct BatchCommitted {
  std::vector<std::pair<TransitionId, storage::Outcome>> outcomes;
};
// The batch was not written. The dispatcher forgets what it has proposed, refuses work (read_only)
// and waits for Restored.
struct BatchFailed {
  std::vector<TransitionId> transitions;
  Error error;
};
// The stored state. It comes at the start and after BatchFailed.
struct Restored {
  storage::Snapshot snapshot;
};
// The disk has no room for more rows, or it has room again. Without room, nothing is leased and no
// point is stored. Results are stored, so that nothing is lost.
struct RoomChanged {
  bool has_room = true;
};
// From now on nothing is leased. Running attempts may go on until they end.
struct DrainStarted {};
// The time next_deadline() has come.
struct Tick {};

using Event =
    std::variant<SessionOpened, SessionClosed, MessageReceived, StudySubmitted,
                 StudyCancelRequested, StudyPauseRequested, StudyPriorityRequested, StudyJudged,
                 StudyReissueRequested, StudyRejectRequested, StudyExtendRequested, StudyClaimed,
                 OwnerReplied, OwnerClosed, RulesChanged, WebhookSet, CheckpointStored,
                 ArtifactStored, DeviceErasing, DeviceRevoked, BatchCommitted, BatchFailed,
                 Restored, RoomChanged, DrainStarted, Tick>;

}  // namespace hyperflock::dispatch
