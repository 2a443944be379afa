// Rejects attempts in ModelStore (R71); see scenario.h.
#include <algorithm>
#include <iterator>
#include <memory>
#include <set>

#include "dispatch/model/scenario.h"
#include "storage/failure_budget.h"

namespace hyperflock::dispatch {

using storage::Applied;
using storage::AttemptRow;
using storage::AttemptState;

storage::RunningTrial ModelStore::running_trial(TrialKey key, const TrialState& trial) const {
  std::vector<AttemptRow> rows;
  for (const auto& [id, row] : attempts) {
    if (row.trial == key) rows.push_back(row);
  }
  storage::RunningTrial running = storage::running_trial(key, std::move(rows), trial.forgiven);
  running.checkpoint = trial.checkpoint;
  return running;
}

bool ModelStore::reject(const storage::RejectResults& t, std::int64_t number,
                        storage::Rejected& result) {
  StudyState& study = studies.at(t.study);
  TrialState& trial = study.trials.at(number);
  const TrialKey key{t.study, TrialNumber{number}};
  std::vector<AttemptId> chosen;
  std::set<AttemptId> rejected;
  storage::FailureBudget budget;
  bool spent = false;
  bool blamed = false;
  bool loses = false;
  for (auto& [id, row] : attempts) {
    if (row.trial != key) continue;
    const bool counted = storage::counts(row) || (row.rejection && row.failure);
    const bool selected = id <= t.last && (!t.which.device || row.device == *t.which.device);
    if (!row.rejection && (selected || (row.from && rejected.contains(row.from->attempt)))) {
      row.rejection = {.by = t.by, .reason = t.reason, .inherited = !selected};
      chosen.push_back(id);
      if (row.state == AttemptState::accepted) {
        loses = true;
        row.state = AttemptState::evidence;
        verdicts[id] = protocol::Verdict::evidence;
      }
    }
    if (row.rejection) rejected.insert(id);
    if (id <= trial.forgiven || !counted) continue;
    AttemptRow before = row;
    before.rejection.reset();
    if (row.rejection) {
      blamed |= storage::counts(before);
    } else {
      spent |= budget.spend(row.device, *row.failure).has_value();
    }
  }
  const bool asked = study.created.spec.kind == protocol::StudyKind::asked;
  const bool cancelled = study.state == storage::StudyState::cancelled;
  const bool failed = trial.state == storage::TrialState::failed;
  const bool again = !asked && !cancelled && (loses || (failed && blamed && !spent));
  if (chosen.empty() && !again) return false;
  if (loses) {
    trial.accepted.reset();
    --trial.acceptances;
    trial.state = cancelled ? storage::TrialState::cancelled : storage::TrialState::failed;
    trial.failure = protocol::Failure{protocol::Cause::invalid, storage::kResultRejected, "", ""};
  }
  if (again) {
    trial.state = storage::TrialState::running;
    trial.failure.reset();
  }
  if ((loses || again) && study.stopped_by == number) study.stopped_by.reset();
  const auto lost = [&](const std::optional<protocol::Checkpoint>& one) {
    return one && rejected.contains(one->attempt);
  };
  if (lost(trial.earlier_checkpoint)) trial.earlier_checkpoint.reset();
  if (lost(trial.checkpoint)) {
    trial.checkpoint = trial.earlier_checkpoint;
    trial.earlier_checkpoint.reset();
  }
  result.changed |= loses || again;
  result.attempts += std::ssize(chosen);
  result.runs_again += again;
  result.trials.push_back({.trial = running_trial(key, trial),
                           .runs_again = again,
                           .attempts = std::move(chosen),
                           .failed = loses && asked && !cancelled});
  return true;
}

storage::Outcome ModelStore::apply_one(const storage::RejectResults& t) {
  storage::Outcome out;
  out.applied = Applied::conflict;
  const auto found = studies.find(t.study);
  if (found == studies.end()) return out;
  StudyState& study = found->second;
  out.applied = Applied::repeated;
  out.study = t.study;
  auto result = std::make_shared<storage::Rejected>();
  std::int64_t looked = 0;
  for (auto& [number, trial] : study.trials) {
    if (number < to_int(t.from) || (t.which.trial && number != to_int(*t.which.trial))) continue;
    if (looked++ == t.trials) {
      result->next = TrialNumber{number};
      break;
    }
    if (reject(t, number, *result)) out.applied = Applied::applied;
  }
  if (result->changed) study.failed.clear();
  if (result->runs_again > 0) study.state = storage::StudyState::running;
  if (out.applied == Applied::applied) out.priority = study.priority;
  result->succeeded = study.succeeded();
  out.rejected = std::move(result);
  return out;
}

}  // namespace hyperflock::dispatch
