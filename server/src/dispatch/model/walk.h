// Applies the same events to the dispatcher and to the reference model. After each event it
// compares the messages, the stored state and the waiting workers. For tests.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dispatch/model/reference.h"
#include "dispatch/model/scenario.h"

namespace hyperflock::dispatch {

// An event; each kind uses some of the fields.
struct Action {
  enum class Kind {
    open,
    close_clean,
    close_lost,
    submit,
    cancel,
    pause,
    resume,
    reissue,
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
    prioritize,
    extend,
    stop,
    limit,
    judge,
    room,
    share,
    reject,
  };
  Kind kind = Kind::ready;
  std::string worker{};
  std::int64_t id = 0;  // of an attempt or a study
  bool next = false;
  protocol::Cause cause = protocol::Cause::user_error;
  protocol::PulseState pulse = protocol::PulseState::running;
  protocol::ReleaseReason reason = protocol::ReleaseReason::stopped;
  std::int64_t amount = 0;  // progress, step or milliseconds
  std::vector<AttemptId> held{};
  StudyOptions study{};
  std::string name{};  // the name of a suggestion
  std::string distribution{};
  protocol::OwnerReply reply{};
  bool awaits_approval = false;
  Stopped what = Stopped::project;
  storage::CeilingScope scope = storage::CeilingScope::server;
  storage::Ceiling ceiling{};
  storage::Share share{};
};
std::string text_of(const Action& action);

// The dispatcher and the reference model, after the same events.
class Pair {
 public:
  explicit Pair(const Settings& settings);
  Pair(const Pair&) = default;

  // Lets outcomes and restarts come from a store, which may already contain other studies.
  void store_in(storage::Storage& storage);

  // Applies the action to the dispatcher and the model. Returns the difference, if there is one.
  std::optional<std::string> act(const Action& action);
  // Applies the action, lets the write of its first batch fail, and loads the state again.
  std::optional<std::string> act_and_fail(const Action& action);

  Scenario& real() { return real_; }
  const Reference& model() const { return model_; }
  static std::string project_of(const std::string& worker) { return worker == "e" ? "q" : "p"; }

 private:
  // Lets each owner confirm the batches that `said` contains, and replaces each batch there by its
  // items.
  void take_in(Said& said);
  std::optional<std::string> compare_said(Said real, Said model) const;
  std::optional<std::string> compare_state() const;

  Scenario real_;
  Reference model_;
};

struct Walked {
  std::optional<std::string> disagreement{};  // the first one, with the events before it
  // Of devices that were found to invent a value (R75). Walks without one compare nothing of what
  // follows.
  std::int64_t convictions = 0;
};
// Applies random events that the seed determines. If a store is given, its rows are compared with
// the model at the end.
Walked random_walk(std::uint64_t seed, int events, storage::Storage* store);

struct Explored {
  std::int64_t sequences = 0;                 // of the full depth
  std::optional<std::string> disagreement{};  // the first one, with its events
};
// Tries every order of `depth` events in a study whose two trials run on two workers: results (also
// late and duplicate ones), reconnections with and without their attempts, new leases, and time
// that passes. With Pauses::some, the study may also be paused and resumed.
enum class Pauses { none, some };
Explored explore(int depth, Pauses pauses = Pauses::none);

}  // namespace hyperflock::dispatch
