// Drives the dispatcher and the reference model through the same events and compares them after
// each: what was said, what is stored, who still waits. For tests.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dispatch/model/reference.h"
#include "dispatch/model/scenario.h"

namespace hyperflock::dispatch {

// One event, with all that any kind of it needs.
struct Action {
  enum class Kind {
    open,
    close_clean,
    close_lost,
    submit,
    cancel,
    pause,
    resume,
    replay,
    remove,
    ready,
    beat,
    report,
    should_prune,
    complete,
    failed,
    release,
    checkpoint,
    revoke_device,
    drain,
    after,
    restart,
    suggest,
    claim,
    leave,
    says,
  };
  Kind kind = Kind::ready;
  std::string worker{};
  std::int64_t id = 0;  // attempt or study
  bool next = false;
  protocol::Cause cause = protocol::Cause::user_error;
  protocol::PulseState pulse = protocol::PulseState::running;
  protocol::ReleaseReason reason = protocol::ReleaseReason::stopped;
  std::int64_t amount = 0;  // progress, step or milliseconds
  std::vector<AttemptId> held{};
  StudyOptions study{};
  std::string name{};  // of a suggestion
  std::string distribution{};
  protocol::OwnerReply reply{};
};
std::string text_of(const Action& action);

// The real thing and the model, which have seen the same.
class Pair {
 public:
  explicit Pair(const Settings& settings);
  Pair(const Pair&) = default;

  // Over a store that may hold other studies from before; outcomes and restarts are its own.
  void store_in(storage::Storage& storage);

  // Both do it. What they disagree on; nothing where they agree.
  std::optional<std::string> act(const Action& action);
  // The first batch that the event causes cannot be written; then the state is read again.
  std::optional<std::string> act_and_fail(const Action& action);

  Scenario& real() { return real_; }
  const Reference& model() const { return model_; }
  static std::string project_of(const std::string& worker) { return worker == "e" ? "q" : "p"; }

 private:
  // Owners take in all that they are sent; what they are told, item by item in place of batches.
  void take_in(Said& said);
  std::optional<std::string> compare_said(Said real, Said model) const;
  std::optional<std::string> compare_state() const;

  Scenario real_;
  Reference model_;
};

// Events drawn by `seed`. What went wrong with the events before it, or nothing. Rows as the store
// has them at the end are compared too; null: in memory alone.
std::optional<std::string> random_walk(std::uint64_t seed, int events, storage::Storage* store);

struct Explored {
  std::int64_t sequences = 0;                 // of the full depth
  std::optional<std::string> disagreement{};  // the first, with its events
};
// Two workers hold the two trials of a study: every order of `depth` events out of results (late
// and duplicate ones too), reconnections with and without their attempts, new leases, and time that
// passes; with pauses, out of the study's pause and resumption as well.
enum class Pauses { none, some };
Explored explore(int depth, Pauses pauses = Pauses::none);

}  // namespace hyperflock::dispatch
