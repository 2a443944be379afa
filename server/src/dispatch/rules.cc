// Applies what administrators set to stop misuse: stops (R67), approval and ceilings (R68).
#include <algorithm>
#include <utility>

#include "dispatch/state.h"

namespace hyperflock::dispatch {

using storage::Applied;

protocol::Failure operator_stopped() {
  return {protocol::Cause::cancelled, "operator_stopped",
          std::string(revoke_text(protocol::RevokeCode::operator_stopped)), ""};
}

void State::apply_rules(Study& study) {
  study.stopped =
      static_cast<bool>(storage::stop_of(rules, study.owner, study.project, study.spec));
  study.time_limit_ms =
      storage::time_limit(rules, study.owner, study.project, study.spec.time_limit_ms);
}

void State::on(const RulesChanged& event) {
  const storage::Rules before = std::exchange(rules, event.rules);
  apply_shares();
  const auto is_newly_barred = [&](const std::string& blob) {
    return rules.blobs.contains(blob) && !before.blobs.contains(blob);
  };
  for (auto& [id, study] : studies) {
    const bool was_stopped = study.stopped;
    apply_rules(study);
    if (study.stopped != was_stopped) {
      rank(study);
      judge_devices(study);
      changed.insert(id);
    }
    // Attempts may still run an earlier version of the study's code, whose blob is barred.
    const bool ran_barred = std::ranges::any_of(study.earlier_blobs, is_newly_barred);
    if ((study.stopped && !was_stopped) || ran_barred) stop_attempts(study);
    dirty_projects.insert(study.project);  // more devices may be allowed
  }
  for (auto& [id, attempt] : attempts) {  // a limit of time may be shorter
    if (attempt.committed) arm(id, attempt);
  }
}

void State::stop_attempts(const Study& study) {
  std::vector<AttemptId> open;
  for (const auto& [number, trial] : study.trials)
    open.insert(open.end(), trial.open.begin(), trial.open.end());
  std::ranges::sort(open);  // effects must not depend on the order of a hash table
  for (const AttemptId id : open) {
    revoke(attempts.at(id), id, protocol::RevokeCode::operator_stopped);
    let_go(id, storage::AttemptState::revoked, operator_stopped());
  }
}

void State::count_running(const Study& study, std::int64_t change) {
  if (change == 0) return;
  projects[study.project].running += change;
  const auto of = running_of.try_emplace(study.owner).first;
  const std::int64_t running = of->second += change;
  if (running == 0) running_of.erase(of);
  const std::int64_t guaranteed = storage::guaranteed_to_researcher(rules, study.owner);
  if ((running < guaranteed) != (running - change < guaranteed)) note_guarantee(study.owner);
  // At a ceiling, idle workers get no more studies of this owner or project, and count no longer as
  // demand for them. So a change matters only if it reaches a ceiling or falls below one.
  const auto crosses = [change](std::int64_t now_running, std::int64_t ceiling) {
    return ceiling > 0 && (now_running >= ceiling) != (now_running - change >= ceiling);
  };
  if (crosses(projects[study.project].running, storage::devices_of_project(rules, study.project)))
    dirty_projects.insert(study.project);
  if (!crosses(running, storage::devices_of_researcher(rules, study.owner))) return;
  for (const auto& [name, project] : projects) {
    if (!project.idle.empty()) dirty_projects.insert(name);
  }
}

bool State::is_at_ceiling(const std::string& owner, const std::string& project) const {
  if (const std::int64_t most = storage::devices_of_researcher(rules, owner); most > 0) {
    const auto of = running_of.find(owner);
    if (of != running_of.end() && of->second >= most) return true;
  }
  const std::int64_t most = storage::devices_of_project(rules, project);
  return most > 0 && projects.at(project).running >= most;
}

void State::on(const StudyJudged& event) {
  if (read_only) {
    effects.emplace_back(Answer{event.request, unavailable()});
    return;
  }
  propose(storage::JudgeStudy{event.study, event.approved, event.reason},
          PendingJudgement{event.request, event.study, event.approved});
  propose_note(event.note, event.study);
}

void State::on_outcome(PendingJudgement& what, const storage::Outcome& outcome) {
  if (outcome.applied != Applied::applied) {
    const Error error =
        outcome.applied == Applied::conflict
            ? unknown_study()
            : Error{"not_waiting", "The study does not wait for approval, or not any more."};
    effects.emplace_back(Answer{what.request, error});
    return;
  }
  changed.insert(what.study);
  effects.emplace_back(Answer{what.request, what.study});
  if (!what.approved) {
    drop_study(what.study);
    end_claims(what.study, "study_cancelled");
  } else if (Study* study = find_study(what.study)) {
    study->awaits_approval = false;
    rank(*study);
    judge_devices(*study);
    dirty_projects.insert(study->project);
  }
}

}  // namespace hyperflock::dispatch
