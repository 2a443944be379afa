// See placement.h.
#include "dispatch/placement.h"

#include <algorithm>

#include "dispatch/dispatcher.h"
#include "dispatch/state.h"

namespace hyperflock::dispatch {
namespace {

// The devices that may run a study.
struct Fitting {
  std::int64_t any = 0;   // of the project, or lent to it
  std::int64_t idle = 0;  // those that ask for work now
};

ShareOfOwner share_of(const State& state, const PlacementQuery& query) {
  ShareOfOwner out{.weight = storage::weight_of_researcher(state.rules, query.owner),
                   .guaranteed = storage::guaranteed_to_researcher(state.rules, query.owner)};
  const auto running = state.running_of.find(query.owner);
  if (running != state.running_of.end()) out.devices = running->second;
  const auto project = state.projects.find(query.project);
  if (project == state.projects.end()) {
    out.weights = out.weight;
    return out;
  }
  const StudyOrder::Place place = project->second.ranked.place_of(query.owner);
  out.ahead = place.ahead;
  out.weights = place.weights + (place.ahead ? 0 : out.weight);
  return out;
}

// Returns why the next trial of the study is not leased; see the table of rest.md.
std::string_view waits_for(const State& state, const PlacementQuery& query, const Placement& found,
                           const Fitting& fitting) {
  const auto one = state.studies.find(query.study);
  if (one == state.studies.end() || one->second.ending) return "ended";
  const Study& study = one->second;
  if (study.is_held()) return "held";
  if (study.asked && !study.asked->owner) return "no_owner";
  if (!study.has_work()) return "no_trial";
  if (state.leases_nothing()) return "server";
  if (state.is_at_ceiling(study.owner, study.project)) return "ceiling";
  if (fitting.any == 0) return found.devices == 0 ? "no_device" : "no_match";
  if (fitting.idle > 0) return {};
  const StudyOrder& order = state.projects.at(study.project).ranked;
  if (order.has_above(study.account, study.priority)) return "own_priority";
  if (found.share.ahead.value_or(0) > 0) return "others_first";
  return "busy";
}

}  // namespace

Placement Dispatcher::placement(const PlacementQuery& query) const {
  Placement out;
  Fitting fitting;
  for (const auto& [id, session] : state_->sessions) {
    const bool is_own = session.project == query.project;
    if (!is_own && !storage::lends(state_->rules, session.project, query.project)) continue;
    const std::string_view reason = protocol::unmet(query.spec, session.capabilities);
    if (is_own) ++out.devices;
    if (is_own && !reason.empty()) ++out.reasons[reason];
    if (!reason.empty() || std::ranges::count(session.cannot_run, query.study) != 0) continue;
    if (const Study* study = state_->find_study(query.study);
        study != nullptr && state_->is_barred(*study, session.device, State::Turn::asks))
      continue;
    ++fitting.any;
    if (session.idle_order != 0) ++fitting.idle;
  }
  out.share = share_of(*state_, query);
  out.waits = waits_for(*state_, query, out, fitting);
  return out;
}

}  // namespace hyperflock::dispatch
