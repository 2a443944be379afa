// The dispatcher's state of ask-and-tell studies, whose trials come from an owner: the researcher's
// process (R42 to R51). Private to dispatch/; plain data.
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

// The most items of one batch for an owner (R46).
inline constexpr std::size_t kMaxBatchItems = 1'000;
inline constexpr std::size_t kMaxBatchBytes = std::size_t{512} << 10;
// An owner is disconnected as a slow peer if its waiting items have more bytes than this.
inline constexpr std::size_t kMaxOwnerBacklogBytes = std::size_t{16} << 20;
// The most calls of one attempt that may wait for an owner. A further call gets `rate_limited`.
inline constexpr std::size_t kMaxWaitingCalls = 16;
// The most points of an open attempt that are kept for its owner. The newest are kept.
inline constexpr std::size_t kMaxKeptPoints = 10'000;

// A call of a device that waits for the owner's answer.
struct Waiter {
  SessionId session{};
  AttemptId attempt{};
  std::int64_t id = 0;  // of the device's call
};

// A question to the owner. It is kept until its answer is durable.
struct Question {
  TrialKey trial;
  AttemptId attempt{};  // the attempt that asked first
  std::string name{};   // the parameter; empty: should_prune
  std::string distribution{};
  std::optional<std::int64_t> step{};
  Instant since;
  std::vector<Waiter> waiters{};
  std::optional<std::string> value{};  // set when StoreSuggestion is proposed
};

// The fields of a study that only an ask-and-tell study has.
struct Asked {
  std::int64_t generation = 0;
  // The session of the owner, set when its claim is durable.
  std::optional<SessionId> owner{};
  Instant away{};  // when the last owner left
  std::int64_t room = 0;
  std::int64_t wanted = 0;
  bool finish = false;
  storage::Quota quota{};             // of the study's owner
  std::int64_t sent = 0;              // the newest batch that was sent
  std::int64_t taken = 0;             // the newest batch that the owner has acknowledged
  std::int64_t told = 0;              // the demand that was last sent to the owner
  std::int64_t waiting = 0;           // idle sessions for which this study is next (R45)
  std::int64_t uncommitted_asks = 0;  // trials of AskTrials transitions without an outcome
  std::deque<TrialNumber> fresh{};    // trials that were never leased, in order of arrival
  std::deque<protocol::OwnerCallItem> items{};  // the items of the next batches
  std::size_t item_bytes = 0;
  std::map<std::int64_t, Question> questions{};  // by the id that the owner answers
  std::optional<Instant> due{};                  // its entry in State::silences

  std::int64_t demand() const;
  void drop_items();
};

// The fields of a trial that only a trial of an ask-and-tell study has.
struct AskedPart {
  std::string params = "{}";               // JSON text
  std::string attrs{};                     // attributes given when it was asked; JSON text
  std::vector<storage::Suggestion> log{};  // durable suggestions
  // The size of `log` as the text of the field `lease.suggested`, in bytes.
  std::size_t log_bytes = 0;
  std::int64_t next_position = 0;                        // in the log
  std::map<std::string, std::int64_t> open_questions{};  // ids of open questions by name
  std::optional<AttemptId> lead{};  // the attempt whose points are sent to the owner
  bool ran = false;                 // whether attempts ran before those in memory
  bool superseded = false;          // whether points of attempts before the lead are superseded
};

// A connection that claimed a study or waits to do so.
struct Claim {
  StudyId study{};
  std::string label;
  bool standby = false;
  bool proposed = false;  // ClaimStudy has no outcome yet
  storage::Quota quota{};
  storage::StudyRow row;  // as stored when the claim came
};

// Returns the approximate size of the item's text, in bytes.
std::size_t bytes_of(const protocol::OwnerCallItem& item);
// Returns how many bytes the suggestion adds to the text that log_text() returns.
std::size_t bytes_of(const storage::Suggestion& one);
// Returns a trial's suggestions as the JSON text of the field `lease.suggested`.
std::string log_text(const std::vector<storage::Suggestion>& log);
std::string params_text(const std::vector<storage::Suggestion>& log);

}  // namespace hyperflock::dispatch
