// Rejects attempts in pieces, so that their trials run again (R71). See writer.h.
#include <algorithm>
#include <iterator>
#include <memory>
#include <set>

#include "storage/failure_budget.h"
#include "storage/sqlite/contribution/contribution.h"
#include "storage/sqlite/db/rows.h"
#include "storage/sqlite/readers.h"
#include "storage/sqlite/writer.h"
#include "storage/study_ledger.h"

namespace hyperflock::storage::sqlite {
namespace {

// Returns whether the trial has failed only because of rejected attempts.
bool may_run_again(const std::vector<AttemptRow>& attempts, std::int64_t forgiven) {
  FailureBudget budget;
  bool was_blamed = false;  // whether a failure of a rejected attempt counted before
  for (const AttemptRow& one : attempts) {
    if (to_int(one.id) <= forgiven) continue;
    if (one.rejection) {
      AttemptRow before = one;
      before.rejection.reset();
      was_blamed |= counts(before);
    } else if (counts(one) && budget.spend(one.device, *one.failure)) {
      return false;
    }
  }
  return was_blamed;
}

bool selects(const Selection& which, std::string_view device, TrialNumber trial, AttemptState state,
             std::int64_t finished_at) {
  if (which.device && device != *which.device) return false;
  if (which.trial && trial != *which.trial) return false;
  if (!which.since) return true;
  if (state == AttemptState::live) return which.device || which.trial;
  return finished_at >= *which.since;
}

// Chooses the attempts to reject, and marks them in `attempts`.
std::vector<std::size_t> choose(const RejectResults& reject, std::vector<AttemptRow>& attempts) {
  std::vector<std::size_t> chosen;
  std::set<AttemptId> rejected;
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    AttemptRow& one = attempts[i];
    if (!one.rejection) {
      const bool selected =
          one.id <= reject.last &&
          selects(reject.which, one.device, one.trial.number, one.state, one.finished_at);
      if (!selected && !(one.from && rejected.contains(one.from->attempt))) continue;
      one.rejection = Rejection{.by = reject.by, .reason = reject.reason, .inherited = !selected};
      chosen.push_back(i);
    }
    rejected.insert(one.id);
  }
  return chosen;
}

}  // namespace

std::vector<Writer::Suspect> Writer::next_suspects(const RejectResults& reject, const Study& study,
                                                   Rejected& result) {
  const TrialNumber from = reject.which.trial.value_or(reject.from);
  const std::int64_t most = reject.which.trial ? 1 : std::max<std::int64_t>(reject.trials, 1);
  std::vector<Suspect> looked;
  std::vector<bool> alone;  // whether the trial's newest attempt is its only one, not selected
  {
    Query row = db_->query(
        "SELECT t.number, t.state, t.accepted_attempt, t.newest_attempt, t.forgiven_attempt,"
        " t.constrained, t.rejected, a.previous, a.state, a.finished_at, d.device FROM trials AS t"
        " JOIN attempts AS a ON a.id = t.newest_attempt"
        " LEFT JOIN device_versions AS d ON d.id = a.device_version"
        " WHERE t.study = ? AND t.number >= ? ORDER BY t.number LIMIT ?",
        study.row.id, from, most);
    while (row.next()) {
      Suspect one{.newest_attempt = row.integer(3),
                  .forgiven_attempt = row.integer(4),
                  .accepted_attempt = row.maybe_integer(2),
                  .number = TrialNumber{row.integer(0)},
                  .state = static_cast<TrialState>(row.integer(1)),
                  .constrained = static_cast<Constrained>(row.integer(5))};
      const bool only = row.null(7);
      const bool untouched = row.integer(6) == 0;
      const bool chosen =
          one.newest_attempt <= to_int(reject.last) &&
          selects(reject.which, row.null(10) ? std::string_view(kErasedDevice) : row.text(10),
                  one.number, static_cast<AttemptState>(row.integer(8)), row.integer(9));
      alone.push_back(only && (untouched ? !chosen : one.state != TrialState::failed));
      looked.push_back(std::move(one));
    }
  }
  if (!reject.which.trial && std::ssize(looked) == most)
    result.next = TrialNumber{to_int(looked.back().number) + 1};
  std::vector<Suspect> suspects;
  std::int64_t attempts = 0;
  for (std::size_t i = 0; i < looked.size(); ++i) {
    Suspect& one = looked[i];
    if (reject.which.trial && one.number != *reject.which.trial) break;
    if (alone[i]) continue;
    if (attempts >= reject.attempts) {
      result.next = one.number;
      break;
    }
    one.attempts = all_attempts(*db_, one.newest_attempt);
    one.chosen = choose(reject, one.attempts);
    attempts += std::ssize(one.chosen);
    const bool grid = study.row.spec.kind != protocol::StudyKind::asked;
    if (grid && study.row.state != StudyState::cancelled) {
      const bool loses = std::ranges::any_of(one.chosen, [&](std::size_t at) {
        return to_int(one.attempts[at].id) == one.accepted_attempt;
      });
      one.runs_again = loses || (one.state == TrialState::failed &&
                                 may_run_again(one.attempts, one.forgiven_attempt));
    }
    if (!one.chosen.empty() || one.runs_again) suspects.push_back(std::move(one));
  }
  return suspects;
}

bool Writer::was_replaced(const Study& study, TrialKey trial, TrialState state) {
  if (state != TrialState::failed || study.row.spec.kind != protocol::StudyKind::asked)
    return false;
  // Devices choose the codes of their failures, so the code alone says nothing.
  return db_
      ->query(
          "SELECT 1 FROM trials WHERE study = ? AND number = ? AND failure_code = ?"
          " AND rejected > 0",
          trial.study, trial.number, kResultRejected)
      .next();
}

std::int64_t Writer::add_rejection(const RejectResults& reject) {
  std::int64_t id = 0;
  {
    Query newest =
        db_->query("SELECT coalesce(max(id), 0) + 1 FROM rejections WHERE study = ?", reject.study);
    newest.next();
    id = newest.integer(0);
  }
  db_->run(
      "INSERT INTO rejections (study, id, rejected_at, rejected_by, reason) VALUES (?, ?, ?, ?, ?)",
      reject.study, id, now_, reject.by, reject.reason);
  return id;
}

std::shared_ptr<const Rejected> Writer::rejected_among(StudyId study,
                                                       const std::vector<TrialNumber>& trials) {
  if (!db_->query("SELECT 1 FROM rejections WHERE study = ? LIMIT 1", study).next()) return nullptr;
  auto found = std::make_shared<Rejected>();
  for (const TrialNumber number : trials) {
    std::int64_t newest = 0;
    {
      Query row = db_->query(
          "SELECT newest_attempt FROM trials WHERE study = ? AND number = ? AND rejected > 0",
          study, number);
      if (!row.next()) continue;
      newest = row.integer(0);
    }
    RunningTrial trial =
        running_trial({study, number}, all_attempts(*db_, newest), AttemptId{newest});
    // A device whose rejected attempts have only inherited it may get the trial again.
    if (!trial.rejected_devices.empty()) found->trials.push_back({std::move(trial)});
  }
  return found->trials.empty() ? nullptr : found;
}

void Writer::reject_attempts(Study& study, const Suspect& suspect, std::int64_t rejection,
                             bool has_checkpoints, Outcome& outcome) {
  const TrialKey key{study.row.id, suspect.number};
  for (const std::size_t at : suspect.chosen) {
    const AttemptRow& one = suspect.attempts[at];
    const bool accepted = one.state == AttemptState::accepted;
    if (accepted) {
      take_back_contribution(*db_, one.id);
      db_->post(
          "UPDATE attempts SET rejection = ?, inherited = ?, state = ?, verdict = ? WHERE id = ?",
          rejection, one.rejection->inherited ? 1 : 0, AttemptState::evidence,
          protocol::Verdict::evidence, one.id);
    } else {
      db_->post("UPDATE attempts SET rejection = ?, inherited = ? WHERE id = ?", rejection,
                one.rejection->inherited ? 1 : 0, one.id);
    }
    std::ranges::move(drop_artifacts_of(study, key, one.id), std::back_inserter(outcome.dropped));
  }
  if (has_checkpoints) {
    constexpr Sql kRejected =
        "SELECT number, saved, sha256, attempt, bytes FROM checkpoints WHERE study = ?"
        " AND number = ? AND EXISTS (SELECT 1 FROM attempts AS a WHERE a.id = checkpoints.attempt"
        " AND a.rejection IS NOT NULL)";
    std::ranges::move(drop_checkpoints(study.row.id, db_->query(kRejected, key.study, key.number)),
                      std::back_inserter(outcome.dropped));
  }
}

bool Writer::change_trial(Study& study, const RejectResults& reject, const Suspect& suspect,
                          RejectedTrial& trial, Outcome& outcome) {
  const auto rejected = std::ssize(suspect.chosen);
  const StudyId id = study.row.id;
  const bool loses = std::ranges::any_of(suspect.chosen, [&](std::size_t at) {
    return to_int(suspect.attempts[at].id) == suspect.accepted_attempt;
  });
  if (!loses && !suspect.runs_again) {
    db_->post("UPDATE trials SET rejected = rejected + ? WHERE study = ? AND number = ?", rejected,
              id, suspect.number);
    return false;
  }
  TrialState state = TrialState::running;
  if (!suspect.runs_again) {
    state = study.row.state == StudyState::cancelled ? TrialState::cancelled : TrialState::failed;
    trial.seq = last_seq_ = next_seq();
    trial.failed = state == TrialState::failed;
  }
  const protocol::Failure failure = result_rejected(reject.by, reject.reason);
  const FailureColumns columns(state == TrialState::failed ? &failure : nullptr);
  // The owner computes the constraints of the next result anew.
  const Constrained constrained =
      suspect.constrained == Constrained::judged ? Constrained::waits : suspect.constrained;
  db_->post(
      "UPDATE trials SET state = ?, seq = ?, finished_at = ?, accepted_attempt = NULL,"
      " constrained = ?, constraints = x'', failure_cause = ?, failure_code = ?,"
      " failure_message = ?, failure_traceback = ?, rejected = rejected + ?"
      " WHERE study = ? AND number = ?",
      state, trial.seq, trial.seq > 0 ? now_ : 0, constrained, columns.cause, columns.code,
      columns.message, columns.traceback, rejected, id, suspect.number);
  ledger::trial_rejected(study.row, suspect.number, suspect.state, state, trial.seq);
  outcome.searches |= take_back(study, suspect.number);
  return true;
}

Outcome Writer::apply_one(const RejectResults& reject) {
  Study* study = find_study(reject.study);
  if (study == nullptr) return of_study(Applied::conflict, reject.study);
  Outcome outcome = of_study(Applied::repeated, reject.study);
  auto result = std::make_shared<Rejected>();
  result->rejection = reject.rejection;
  std::vector<Suspect> suspects = next_suspects(reject, *study, *result);
  if (std::ranges::any_of(suspects, &Suspect::runs_again) && !ledger::is_running(study->row)) {
    if (const auto excess = excess_of_reissue(study->row, reject.quota, 0)) {
      outcome = of_study(Applied::superseded, reject.study);
      outcome.excess = excess;
      return outcome;
    }
  }
  const bool has_checkpoints =
      db_->query("SELECT 1 FROM checkpoints WHERE study = ? LIMIT 1", reject.study).next();
  for (const Suspect& one : suspects) {
    if (!one.chosen.empty() && result->rejection == 0) result->rejection = add_rejection(reject);
    reject_attempts(*study, one, result->rejection, has_checkpoints, outcome);
    RejectedTrial& trial = result->trials.emplace_back();
    result->changed |= change_trial(*study, reject, one, trial, outcome);
    result->attempts += std::ssize(one.chosen);
    result->runs_again += one.runs_again ? 1 : 0;
  }
  if (result->runs_again > 0) ledger::reopened(study->row);
  result->succeeded = ledger::has_succeeded(study->row);
  if (!suspects.empty()) {
    touch(*study);
    outcome.applied = Applied::applied;
    outcome.priority = study->row.priority;
  }
  for (std::size_t i = 0; i < suspects.size(); ++i) {
    Suspect& one = suspects[i];
    const TrialKey key{reject.study, one.number};
    RejectedTrial& trial = result->trials[i];
    trial.runs_again = one.runs_again;
    for (const std::size_t at : one.chosen) trial.attempts.push_back(one.attempts[at].id);
    trial.trial = running_trial(key, std::move(one.attempts), AttemptId{one.forgiven_attempt});
    if (has_checkpoints) trial.trial.checkpoint = newest_checkpoint(*db_, key);
  }
  outcome.rejected = std::move(result);
  return outcome;
}

}  // namespace hyperflock::storage::sqlite
