// The dispatcher's effects. The hub carries them out in order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "dispatch/estimate.h"
#include "dispatch/event.h"
#include "protocol/messages.h"
#include "storage/transition.h"

namespace hyperflock::dispatch {

// Transitions to commit. Storage gets all those of one handle() call in one batch, in order.
struct Propose {
  TransitionId id{};
  storage::Transition transition;
};
struct Send {
  SessionId session{};
  protocol::ServerMessage message;
};
// Close codes of WebSocket (protocol.md, section "Close codes").
inline constexpr int kCloseTryAgainLater = 1013;
inline constexpr int kCloseReplaced = 4001;  // by a newer session of the device
inline constexpr int kCloseSlowPeer = 4002;
inline constexpr int kCloseDeviceRevoked = 4003;
inline constexpr int kCloseOwnerReplaced = 4005;  // by another connection that owns the study
struct Close {
  SessionId session{};
  int code = 1000;  // WebSocket close code of protocol.md
  std::string reason;
};
// How many attempts a request has rejected, and how many trials run again because of it (R71).
struct RejectedCounts {
  std::int64_t attempts = 0;
  std::int64_t trials = 0;
  bool operator==(const RejectedCounts&) const = default;
};
// The answer to StudySubmitted or to a request to change a study: the study or an error.
struct Answer {
  RequestId request{};
  Result<StudyId> result;
  bool repeated =
      false;  // StudySubmitted: the submit_key was used before, and this is the study that it made
  std::optional<RejectedCounts> rejected{};  // StudyRejectRequested
};
// Rows of the study have changed in storage. The hub wakes the study's watchers, which read the
// rows.
struct StudyChanged {
  StudyId study{};
};

// The devices that compute a study, or the usual duration of its runs, have changed. Without
// `work` the study does not run any more.
struct WorkChanged {
  StudyId study{};
  std::optional<StudyWork> work{};
};

// Lines that a running attempt printed. `dropped` counts the lines that were left out before them.
// Lines are kept in memory only (R39).
struct Printed {
  TrialKey trial;
  AttemptId attempt{};
  std::vector<std::string> lines;
  std::int64_t dropped = 0;
  std::string device{};
};

// An ask-and-tell study has got or lost its owner.
struct OwnerChanged {
  StudyId study{};
  bool attached = false;
};

using Effect =
    std::variant<Propose, Send, Close, Answer, StudyChanged, WorkChanged, Printed, OwnerChanged>;
using Effects = std::vector<Effect>;

}  // namespace hyperflock::dispatch
