// What the dispatcher knows about studies whose trials come from an owner (R42 to R51). Private to
// dispatch/, plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/instant.h"
#include "protocol/messages.h"
#include "storage/records.h"
#include "storage/transition.h"

namespace hyperflock::dispatch {

// Of one batch for an owner (R46).
inline constexpr std::size_t kMaxBatchItems = 1'000;
inline constexpr std::size_t kMaxBatchBytes = std::size_t{512} << 10;
// An owner for whom more waits than this is closed as a slow peer.
inline constexpr std::size_t kMaxOwnerBacklogBytes = std::size_t{16} << 20;
// Calls of one attempt that wait for an owner; a further one is `rate_limited`.
inline constexpr std::size_t kMaxWaitingCalls = 16;
// Points of an open attempt that are kept to tell them later, newest first.
inline constexpr std::size_t kMaxKeptPoints = 10'000;

// A call of a device that waits for its answer.
struct Waiter {
  SessionId session{};
  AttemptId attempt{};
  std::int64_t id = 0;  // of the device's call
};

// A question to the owner, until its answer is durable.
struct Question {
  TrialKey trial;
  AttemptId attempt{};  // that asked first
  std::string name{};   // of a suggestion; empty: should_prune
  std::string distribution{};
  std::optional<std::int64_t> step{};
  Instant since;
  std::vector<Waiter> waiters{};
  std::optional<std::string> value{};  // StoreSuggestion is proposed
};

// The part of a study that only an asked one has.
struct Asked {
  std::int64_t generation = 0;
  std::optional<SessionId> owner{};  // attached: its claim is durable
  Instant away{};                    // since when nobody is, where nobody is
  std::int64_t room = 0;
  std::int64_t wanted = 0;
  bool finish = false;
  storage::Quota quota{};           // of who may ask
  std::int64_t sent = 0;            // the newest batch
  std::int64_t taken = 0;           // the newest that the owner has taken in
  std::int64_t told = 0;            // the demand that it was told last
  std::int64_t waiting = 0;         // idle sessions for which this study is next (R45)
  std::int64_t asking = 0;          // trials in AskTrials without an outcome
  std::deque<TrialNumber> fresh{};  // asked and not leased yet, in the order in which they came
  std::deque<protocol::OwnerCallItem> items{};  // that the next batches tell
  std::size_t item_bytes = 0;
  std::map<std::int64_t, Question> questions{};  // by the id that the owner answers
  std::optional<Instant> due{};                  // its entry in State::silences

  std::int64_t demand() const;
  void drop_items();
};

// What a trial of such a study has beyond others.
struct AskedPart {
  std::string params = "{}";                     // JSON text
  std::string attrs{};                           // that it was asked with; JSON text
  std::vector<storage::Suggestion> log{};        // durable
  std::size_t log_bytes = 0;                     // what it takes in `lease.suggested`
  std::int64_t next_position = 0;                // in the log
  std::map<std::string, std::int64_t> asking{};  // questions by name
  std::optional<AttemptId> lead{};               // whose points the owner is told
  bool ran = false;                              // it had an attempt before those in memory
  bool superseded = false;  // points of an attempt before the lead do not count any more
};

// A connection that claimed a study, or waits to.
struct Claim {
  StudyId study{};
  std::string label;
  bool standby = false;
  bool proposed = false;  // ClaimStudy has no outcome yet
  storage::Quota quota{};
  storage::StudyRow row;  // as stored when it came
};

// About how long the item is as text.
std::size_t bytes_of(const protocol::OwnerCallItem& item);
// What the suggestion adds to a log as text.
std::size_t bytes_of(const storage::Suggestion& one);
// `lease.suggested`, and the values by name.
std::string log_text(const std::vector<storage::Suggestion>& log);
std::string params_text(const std::vector<storage::Suggestion>& log);

}  // namespace hyperflock::dispatch
