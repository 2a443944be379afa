// Doubts results without points where all others have them (R74).
#include <algorithm>

#include "dispatch/state.h"

namespace hyperflock::dispatch {

void State::check_points(const Attempt& attempt, std::optional<bool> reported,
                         protocol::TrialResult& result) {
  const Study& study = studies.at(attempt.trial.study);
  const storage::ReportedPoints& others = study.points;
  if (result.outcome != protocol::Outcome::complete || reported != false) return;
  if (others.are_optional || others.results < settings.results_with_points ||
      others.devices.size() < settings.devices_with_points)
    return;
  // The second result without points is accepted: the trial may well be one that reports none.
  if (!find_trial(attempt.trial)->budget.doubted().empty()) return;
  if (!has_other_device(study, attempt.device)) return;
  result.outcome = protocol::Outcome::failed;
  result.failure =
      protocol::Failure{protocol::Cause::invalid, storage::kNoPoints,
                        "The attempt reported no points, unlike earlier results of the study.", ""};
}

void State::learn_points(Study& study, const PendingResult& what) {
  if (!what.reported) return;
  if (*what.reported) return study.points.add(what.device);
  const Trial* trial = find_trial(*what.trial);
  if (trial == nullptr) return;
  study.points.are_optional |= std::ranges::any_of(
      trial->budget.doubted(), [&](const std::string& device) { return device != what.device; });
}

}  // namespace hyperflock::dispatch
