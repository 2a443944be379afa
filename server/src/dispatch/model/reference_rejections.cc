// Rejections of attempts in the reference model (R71); see reference.h.
#include <algorithm>
#include <iterator>

#include "dispatch/model/reference.h"
#include "dispatch/state.h"  // kBudget, kPoisonDevices

namespace hyperflock::dispatch {

using protocol::Cause;
using storage::AttemptState;
using storage::kBudget;
using storage::kPoisonDevices;
using storage::StudyState;
using storage::TrialState;

std::optional<Reference::RejectedTrial> Reference::reject_trial(Id study, Id number,
                                                                const std::set<Id>& meant,
                                                                bool excludes) {
  Study& one = studies_.at(study);
  Trial& trial = one.trials.at(number);
  RejectedTrial found{.trial = number, .attempts = {}};
  std::set<Id> rejected;
  std::array<int, 7> failures{};
  int odd_values = 0;
  std::set<std::string> lost_with;
  bool blamed = false;
  for (auto& [id, attempt] : attempts_) {
    if (attempt.study != study || attempt.trial != number || undelivered_.contains(id)) continue;
    const bool inherits = attempt.from && rejected.contains(attempt.from->first);
    if (!attempt.rejected && (meant.contains(id) || inherits)) {
      attempt.rejected = true;
      found.attempts.push_back(id);
      if (excludes && meant.contains(id)) trial.rejected.insert(attempt.device);
    }
    if (attempt.rejected) rejected.insert(id);
    if (!attempt.counted) continue;
    if (attempt.rejected) {
      blamed = true;
      continue;
    }
    if (attempt.failure_code == storage::kNoPoints) continue;
    if (attempt.failure_code == protocol::kValueOutOfRange) {
      if (++odd_values == 1) continue;
      found.failed_by = attempt.counted;
      found.failure_code = attempt.failure_code;
      continue;
    }
    const auto index = static_cast<std::size_t>(*attempt.counted);
    ++failures[index];
    bool poison = false;
    if (*attempt.counted == Cause::worker_lost) {
      const bool is_new = lost_with.insert(attempt.device).second;
      poison = is_new && lost_with.size() == kPoisonDevices;
    }
    if (!poison && (kBudget[index] == 0 || failures[index] < kBudget[index])) continue;
    found.failed_by = attempt.counted;
    found.failure_code = poison ? "poison" : attempt.failure_code;
  }
  const bool loses = trial.accepted && rejected.contains(*trial.accepted);
  const bool failed = trial.state == TrialState::failed && blamed && !found.failed_by;
  found.runs_again = !one.asked() && one.state != StudyState::cancelled && (loses || failed);
  if (found.attempts.empty() && !found.runs_again) return std::nullopt;
  trial.failures = failures;
  trial.odd_values = odd_values;
  if (found.runs_again) trial.odd_device.clear();
  trial.lost_with = std::move(lost_with);
  if (loses) {
    Attempt& accepted = attempts_.at(*trial.accepted);
    accepted.state = AttemptState::evidence;
    accepted.verdict = protocol::Verdict::evidence;
    trial.accepted.reset();
    trial.state = one.state == StudyState::cancelled ? TrialState::cancelled : TrialState::failed;
    trial.failure_code = storage::kResultRejected;
  }
  found.fails = loses && one.asked() && one.state != StudyState::cancelled;
  if (loses || found.runs_again) {
    one.alike.clear();
    if (one.stopped_by == number) one.stopped_by.reset();
  }
  const auto lost = [&](const std::optional<Saved>& saved) {
    return saved && rejected.contains(saved->first);
  };
  if (lost(trial.saved_before)) trial.saved_before.reset();
  if (lost(trial.saved)) trial.saved = std::exchange(trial.saved_before, std::nullopt);
  for (const Id id : undelivered_) {
    Attempt& attempt = attempts_.at(id);
    if (attempt.study == study && attempt.trial == number && lost(attempt.from))
      attempt.from.reset();
  }
  return found;
}

void Reference::tell_rejection(Id study, const RejectedTrial& rejected) {
  if (!rejected.fails) return;
  tell(studies_.at(study),
       "finished t" + std::to_string(rejected.trial) + " failed " + storage::kResultRejected);
}

void Reference::run_again(Id study, const RejectedTrial& rejected) {
  Study& one = studies_.at(study);
  for (const Id id : rejected.attempts) {
    Attempt& attempt = attempts_.at(id);
    if (attempt.state != AttemptState::live) continue;
    say(attempt.device, "revoke " + number(id) + " cancelled");
    let_go(attempt, AttemptState::revoked);
  }
  if (!rejected.runs_again) return;
  Trial& trial = one.trials.at(rejected.trial);
  trial.state = TrialState::running;
  trial.failure_code.clear();
  if (rejected.failed_by)
    return fail_trial(study, rejected.trial, *rejected.failed_by, rejected.failure_code);
  one.queue.push_back(rejected.trial);
}

Said Reference::reject(Id study, const std::optional<std::string>& device,
                       std::optional<Id> trial) {
  begin();
  const auto found = studies_.find(study);
  if (found == studies_.end()) {
    said_.emplace_back("answer unknown_study");
    return done();
  }
  std::set<Id> meant;
  for (auto& [id, attempt] : attempts_) {
    if (attempt.study != study || attempt.rejected) continue;
    if ((device && attempt.device != *device) || (trial && attempt.trial != *trial)) continue;
    meant.insert(id);
    if (attempt.state != AttemptState::live) continue;
    trial_of(attempt).rejected.insert(attempt.device);
    say(attempt.device, "revoke " + number(id) + " cancelled");
    let_go(attempt, AttemptState::revoked);
  }
  const std::vector<Started> started = pump_all();
  Study& one = found->second;
  std::vector<RejectedTrial> rejected;
  for (auto& [number, of_study] : one.trials) {
    if (trial && number != *trial) continue;
    if (auto changed = reject_trial(study, number, meant, true))
      rejected.push_back(*std::move(changed));
  }
  Id attempts = 0;
  Id again = 0;
  one.succeeded = std::ranges::any_of(
      one.trials, [](const auto& of_study) { return of_study.second.accepted.has_value(); });
  for (const RejectedTrial& changed : rejected) {
    changed_.insert(study);
    attempts += std::ssize(changed.attempts);
    again += changed.runs_again;
    if (changed.runs_again && one.state == StudyState::finished) {
      begin_to_run(study);
      one.state = StudyState::running;
    }
    run_again(study, changed);
  }
  for (const RejectedTrial& changed : rejected) tell_rejection(study, changed);
  said_.push_back("answer study " + std::to_string(study) + " rejected " +
                  std::to_string(attempts) + ", again " + std::to_string(again));
  deliver(started);
  for (const RejectedTrial& changed : rejected) {
    if (changed.runs_again && changed.failed_by) finish_trial(study, changed.trial);
  }
  end_if_finished(study);
  finish_event();
  return done();
}

}  // namespace hyperflock::dispatch
