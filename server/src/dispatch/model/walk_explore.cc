// Tries every order of a few events; see walk.h.
#include "dispatch/model/walk.h"

namespace hyperflock::dispatch {
namespace {

using Kind = Action::Kind;

// Returns the attempts of the worker, the oldest first.
std::vector<std::int64_t> attempts_of(const Pair& pair, const std::string& worker) {
  std::vector<std::int64_t> out;
  for (const auto& [id, attempt] : pair.model().attempts()) {
    if (attempt.device == worker) out.push_back(id);
  }
  return out;
}

// Returns the possible next events. A result of an ended attempt is late, and a second result is a
// duplicate.
std::vector<Action> choices(const Pair& pair, Pauses pauses) {
  std::vector<Action> out;
  if (pauses == Pauses::some) {
    const std::int64_t study = pair.model().first_study();
    out.push_back({.kind = Kind::pause, .id = study});
    out.push_back({.kind = Kind::resume, .id = study});
  }
  out.push_back({.kind = Kind::after, .amount = Settings{}.lease_ms + 1});  // leases expire
  for (const std::string worker : {"a", "b"}) {
    const std::vector<std::int64_t> own = attempts_of(pair, worker);
    std::vector<AttemptId> held;
    held.reserve(own.size());
    for (const std::int64_t id : own) held.push_back(AttemptId{id});
    out.push_back({.kind = Kind::open, .worker = worker, .held = held});
    out.push_back({.kind = Kind::open, .worker = worker});  // the tab was killed before
    out.push_back({.kind = Kind::ready, .worker = worker});
    if (own.empty()) continue;
    out.push_back({.kind = Kind::complete, .worker = worker, .id = own.back()});
    if (own.size() > 1)
      out.push_back({.kind = Kind::complete, .worker = worker, .id = own.front()});
  }
  return out;
}

struct Search {
  Pauses pauses;
  Explored found{};
  std::vector<std::string> path{};

  void visit(const Pair& pair, int depth) {
    if (depth == 0) {
      ++found.sequences;
      return;
    }
    for (const Action& action : choices(pair, pauses)) {
      Pair next = pair;
      path.push_back(text_of(action));
      const auto wrong = next.act(action);
      if (wrong) {
        found.disagreement = "  events:";
        for (const std::string& step : path) *found.disagreement += "\n  " + step;
        *found.disagreement += "\n  " + *wrong;
        return;
      }
      visit(next, depth - 1);
      if (found.disagreement) return;
      path.pop_back();
    }
  }
};

}  // namespace

Explored explore(int depth, Pauses pauses) {
  Pair pair{Settings{}};
  Search search{pauses};
  const std::vector<Action> begin{
      {.kind = Kind::submit, .study = {.trials = 2, .submit_key = "two"}},
      {.kind = Kind::open, .worker = "a"},
      {.kind = Kind::open, .worker = "b"},
      {.kind = Kind::ready, .worker = "a"},
      {.kind = Kind::ready, .worker = "b"},
  };
  for (const Action& action : begin) {
    if (const auto wrong = pair.act(action)) {
      search.found.disagreement = text_of(action) + "\n  " + *wrong;
      return search.found;
    }
  }
  search.visit(pair, depth);
  return search.found;
}

}  // namespace hyperflock::dispatch
