// The rules of administrators in the reference model: stops, approvals and ceilings (R67, R68). See
// reference.h.
#include <algorithm>

#include "dispatch/model/reference.h"

namespace hyperflock::dispatch {

using storage::AttemptState;
using storage::CeilingScope;
using storage::StudyState;

bool Reference::is_stopped(const Study& study) const {
  const auto has = [this](Stopped what, const std::string& name) {
    const auto found = stopped_.find(what);
    return found != stopped_.end() && found->second.contains(name);
  };
  return has(Stopped::researcher, study.options.owner) ||
         has(Stopped::project, study.options.project) || has(Stopped::code, study.code_name);
}

bool Reference::ran_stopped_code(const Study& study) const {
  const auto found = stopped_.find(Stopped::code);
  return found != stopped_.end() &&
         std::ranges::any_of(study.earlier_codes,
                             [&](const std::string& code) { return found->second.contains(code); });
}

Said Reference::stop(Stopped what, const std::string& name, bool stopped) {
  begin();
  std::set<Id> ran;
  for (const auto& [id, study] : studies_) {
    if (!is_stopped(study)) ran.insert(id);
  }
  std::set<std::string>& names = stopped_[what];
  if (stopped == names.contains(name)) return done();
  if (stopped) {
    names.insert(name);
  } else {
    names.erase(name);
  }
  for (const auto& [id, study] : studies_) {
    if (study.state != StudyState::running) continue;
    if (is_stopped(study) == ran.contains(id)) changed_.insert(id);
    const bool stops = is_stopped(study) && ran.contains(id);
    const bool has_old_code =
        stopped && what == Stopped::code && study.earlier_codes.contains(name);
    if (stops || has_old_code) stop_attempts(id);
  }
  finish_event();
  return done();
}

void Reference::stop_attempts(Id study) {
  for (auto& [number, attempt] : attempts_) {
    if (attempt.study != study || attempt.state != AttemptState::live) continue;
    say(attempt.device, "revoke #" + std::to_string(number) + " operator_stopped");
    let_go(attempt, AttemptState::revoked);
  }
}

Said Reference::limit(CeilingScope scope, const std::string& name,
                      const storage::Ceiling& ceiling) {
  begin();
  ceilings_[{scope, name}] = ceiling;
  finish_event();
  return done();
}

Said Reference::judge(Id study, bool approved) {
  begin();
  const auto found = studies_.find(study);
  if (found == studies_.end()) return {"answer unknown_study"};
  if (found->second.state != StudyState::running || !found->second.awaits_approval)
    return {"answer not_waiting"};
  found->second.awaits_approval = false;
  if (!approved) return cancel(study);
  said_.push_back("answer study " + std::to_string(study));
  changed_.insert(study);
  finish_event();
  return done();
}

bool Reference::is_at_ceiling(const Study& study) const {
  const auto ceiling = [this](CeilingScope scope, const std::string& name) -> std::optional<Id> {
    const auto found = ceilings_.find({scope, name});
    return found == ceilings_.end() ? std::nullopt : found->second.devices;
  };
  Id of_owner = 0;
  Id of_project = 0;
  for (const auto& [id, attempt] : attempts_) {
    if (attempt.state != AttemptState::live) continue;
    const StudyOptions& other = studies_.at(attempt.study).options;
    of_owner += other.owner == study.options.owner;
    of_project += other.project == study.options.project;
  }
  const Id most_of_owner = ceiling(CeilingScope::researcher, study.options.owner)
                               .value_or(ceiling(CeilingScope::server, "").value_or(0));
  const Id most_of_project = ceiling(CeilingScope::project, study.options.project).value_or(0);
  return (most_of_owner > 0 && of_owner >= most_of_owner) ||
         (most_of_project > 0 && of_project >= most_of_project);
}

// Returns the limit of a trial's time; 0: none. It is the lowest of the study's own limit and the
// ceilings of its owner and its project. If neither owner nor project has a ceiling, the server's
// ceiling counts instead of theirs.
Millis Reference::time_limit(const Study& study) const {
  std::vector<Millis> limits{study.options.time_limit_ms};
  bool has_own = false;
  for (const auto& [key, ceiling] : ceilings_) {
    const bool mine =
        (key.first == CeilingScope::researcher && key.second == study.options.owner) ||
        (key.first == CeilingScope::project && key.second == study.options.project);
    if (!mine || !ceiling.time_limit_ms) continue;
    has_own = true;
    limits.push_back(*ceiling.time_limit_ms);
  }
  const auto server = ceilings_.find({CeilingScope::server, ""});
  if (!has_own && server != ceilings_.end())
    limits.push_back(server->second.time_limit_ms.value_or(0));
  std::erase(limits, 0);
  return limits.empty() ? 0 : *std::ranges::min_element(limits);
}

}  // namespace hyperflock::dispatch
