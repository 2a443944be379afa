// Speculative attempts (R36): when a study has nothing left to lease, idle workers get duplicates
// of the attempts that will probably take longest.
#include <algorithm>

#include "dispatch/state.h"

namespace hyperflock::dispatch {

namespace {

// The number of accepted runs after which the duration of a run counts as known.
constexpr int kRunsToKnow = 2;

// Returns the expected duration of a run on this class of devices, or on all classes if none was
// measured on this one.
std::optional<Millis> expected_run(const Study& study, const std::string& device_class) {
  if (study.stats.runs < kRunsToKnow) return std::nullopt;
  const auto own = study.class_stats.find(device_class);
  return own == study.class_stats.end() || own->second.runs == 0 ? study.stats.run_ms
                                                                 : own->second.run_ms;
}

}  // namespace

// Returns how long the attempt will probably still run. If it has run for longer than expected, it
// is assumed to be half done, because the reason for the delay is not known.
Millis State::remaining(const Attempt& attempt, Millis expected) const {
  const Millis ran = now.ms - attempt.loading_since.ms;
  return ran > expected ? ran : expected - ran;
}

bool State::may_duplicate(const Trial& trial, const Session& session) const {
  if (trial.open.size() != 1 || trial.speculated || trial.failing) return false;
  const Attempt& attempt = attempts.at(trial.open.front());
  return attempt.committed && !attempt.end_state && attempt.device != session.device &&
         !trial.budget.was_lost_with(session.device) && !trial.excludes(session.device);
}

std::optional<TrialKey> State::choose_speculative(const Session& session) const {
  std::optional<TrialKey> best;
  Millis farthest = 0;
  const auto& refused = session.cannot_run;
  for (const StudyId id : projects.at(session.project).finishing) {
    const Study& study = studies.at(id);
    if (is_at_ceiling(study.owner, study.project)) continue;
    // If the owner still accepts requests for trials (`room`), it is asked for a new trial, and no
    // attempt is duplicated (R51).
    if (study.asked && (!study.asked->owner || study.asked->room > 0)) continue;
    if (std::find(refused.begin(), refused.end(), id) != refused.end()) continue;
    if (!protocol::unmet(needs[study.needs], session.capabilities).empty()) continue;
    if (is_barred(study, session.device, Turn::asks)) continue;
    const auto here = expected_run(study, session.capabilities.device_class);
    if (!here) continue;
    for (const auto& [number, trial] : study.trials) {
      if (!may_duplicate(trial, session)) continue;
      const Attempt& attempt = attempts.at(trial.open.front());
      const Millis left = remaining(attempt, *expected_run(study, attempt.device_class));
      if (left <= std::max(*here, settings.min_speculative_ms)) continue;
      // Of trials with equal times, the one with the lowest key is chosen, so that the result does
      // not depend on the order of a hash table.
      const TrialKey key{id, TrialNumber{number}};
      if (best && (left < farthest || (left == farthest && *best < key))) continue;
      best = key;
      farthest = left;
    }
  }
  return best;
}

std::optional<TransitionId> State::start_speculative(SessionId id) {
  Session& session = sessions.at(id);
  if (leases_nothing() || session.idle_order == 0 || awaits_owner(session)) return std::nullopt;
  const std::optional<TrialKey> key = choose_speculative(session);
  if (!key) return std::nullopt;
  find_trial(*key)->speculated = true;
  return start_attempt({.study = find_study(key->study)}, *key, protocol::AttemptKind::duplicate,
                       id, session);
}

}  // namespace hyperflock::dispatch
