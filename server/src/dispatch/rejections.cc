// Rejects attempts: their results do not count any more, and their trials run again on other
// devices (R71). A rejection is done in pieces, one commit each, so that the writer is free for
// others between two of them.
#include <algorithm>
#include <utility>

#include "dispatch/state.h"

namespace hyperflock::dispatch {

using storage::Applied;

void State::on(const StudyRejectRequested& event) {
  if (read_only) {
    effects.emplace_back(Answer{event.request, unavailable()});
    return;
  }
  const StudyId id = event.study.id;
  // Attempts that begin from now on are not meant, also those that begin between two pieces.
  storage::RejectResults first{.study = id,
                               .which = event.which,
                               .last = AttemptId{next_attempt - 1},
                               .quota = event.quota,
                               .by = event.by,
                               .reason = event.reason,
                               .trials = settings.rejection_trials};
  revoke_selected(id, event.which);
  propose_rejection({event.request, from_row(event.study), std::move(first), event.note, {}},
                    TrialNumber{0});
}

void State::propose_rejection(PendingReject what, TrialNumber from) {
  what.next.from = from;
  const StudyId id = what.next.study;
  const std::optional<storage::NoteAudit> note = what.note;
  storage::RejectResults piece = what.next;
  propose(std::move(piece), std::move(what));
  propose_note(note, id);
}

// These attempts end at once. Otherwise one could fail before the rejection is stored, and its
// failure would count.
void State::revoke_selected(StudyId id, const storage::Selection& which) {
  Study* study = find_study(id);
  if (study == nullptr) return;
  std::vector<AttemptId> selected;
  if (which.device) {
    const auto device = devices.find(*which.device);
    if (device != devices.end()) selected = device->second.open;
  } else if (which.trial) {
    const Trial* trial = find_trial({id, *which.trial});
    if (trial != nullptr) selected = trial->open;
  }
  // After a restart they are in the order of their trials. Trials wait in the order of attempts.
  std::ranges::sort(selected);
  for (const AttemptId one : selected) {
    const TrialKey key = attempts.at(one).trial;
    if (key.study != id || (which.trial && key.number != *which.trial)) continue;
    exclude(*study, *find_trial(key), attempts.at(one).device);
    revoke_rejected(one);
  }
}

void State::revoke_rejected(AttemptId id) {
  const Attempt& attempt = attempts.at(id);
  const auto device = devices.find(attempt.device);
  if (attempt.end_state) return;
  if (attempt.committed && device != devices.end() && device->second.session) {
    send(*device->second.session,
         protocol::Revoke{id, protocol::RevokeCode::cancelled, "The study rejects this attempt."});
  }
  let_go(id, storage::AttemptState::revoked);
}

void State::exclude(Study& study, Trial& trial, const std::string& device) {
  if (std::ranges::find(trial.rejected, device) != trial.rejected.end()) return;
  const bool waits = trial.queue_order != 0;
  if (waits) count_excluded(study, trial, -1);
  if (trial.odd_device == device) trial.odd_device.clear();
  trial.rejected.push_back(device);
  if (!waits) return;
  count_excluded(study, trial, 1);
  rank(study);
}

void State::count_excluded(Study& study, const Trial& trial, int sign) {
  const auto count = [&](const std::string& device) {
    if (sign > 0) {
      ++study.excluded[device];
    } else if (const auto found = study.excluded.find(device); --found->second == 0) {
      study.excluded.erase(found);
    }
  };
  for (const std::string& device : trial.rejected) count(device);
  if (!trial.odd_device.empty()) count(trial.odd_device);
}

std::optional<protocol::Failure> State::count_attempts(
    Trial& trial, const std::vector<storage::AttemptRow>& attempts) {
  std::optional<protocol::Failure> spent;
  for (const storage::AttemptRow& row : attempts) {
    trial.speculated |= row.kind == protocol::AttemptKind::duplicate;
    if (!storage::counts(row)) continue;
    if (auto last = trial.budget.spend(row.device, *row.failure)) spent = std::move(last);
  }
  return spent;
}

void State::on_outcome(PendingReject& what, const storage::Outcome& outcome) {
  const StudyId id = what.next.study;
  const auto answer = [&](Result<StudyId> result) {
    if (what.request)
      effects.emplace_back(Answer{*what.request, std::move(result), false, what.counts});
  };
  if (!outcome.rejected) {
    answer(outcome.excess ? storage::quota_error(*outcome.excess) : unknown_study());
  } else {
    if (outcome.applied == Applied::applied) {
      what.note.reset();
      apply_rejection(what, outcome);
    }
    what.counts.attempts += outcome.rejected->attempts;
    what.counts.trials += outcome.rejected->runs_again;
    what.next.rejection = outcome.rejected->rejection;
    if (outcome.rejected->next) {
      propose_rejection(std::move(what), *outcome.rejected->next);
      return;
    }
    answer(id);
  }
  if (Study* study = find_study(id)) end_if_finished(*study);
}

void State::apply_rejection(PendingReject& what, const storage::Outcome& outcome) {
  const StudyId id = what.next.study;
  const storage::Rejected& rejected = *outcome.rejected;
  changed.insert(id);
  Study* study = find_study(id);
  if (study == nullptr && rejected.runs_again > 0) {  // the study has finished
    what.study.priority = outcome.priority;
    open_study(what.study);
    study = find_study(id);
  }
  if (study == nullptr) return;
  study->succeeded = rejected.succeeded;
  if (rejected.changed) study->failures.clear();  // they are counted anew (R56)
  for (const storage::RejectedTrial& one : rejected.trials) apply_rejection(*study, one);
  if (study->asked) queue_rejections(what, rejected);
  study->skip_known();
  rank(*study);
  judge_devices(*study);
}

// For the owner, these trials finish a second time.
void State::queue_rejections(const PendingReject& what, const storage::Rejected& rejected) {
  Study& study = studies.at(what.next.study);
  for (const storage::RejectedTrial& one : rejected.trials) {
    if (!one.failed) continue;
    add_item(study, protocol::FinishedCall{
                        .trial = one.trial.key.number,
                        .attempt = {},
                        .state = protocol::Outcome::failed,
                        .values = {},
                        .params = "{}",
                        .failure = storage::result_rejected(what.next.by, what.next.reason),
                        .seq = one.seq});
  }
}

void State::apply_rejection(Study& study, const storage::RejectedTrial& rejected) {
  const TrialKey key = rejected.trial.key;
  const auto is_rejected = [&](AttemptId id) {
    const auto& rows = rejected.trial.attempts;
    const auto row = std::ranges::find(rows, id, &storage::AttemptRow::id);
    return row != rows.end() && row->rejection.has_value();
  };
  Trial* trial = find_trial(key);
  std::optional<protocol::Failure> spent;
  if (rejected.runs_again) {
    trial = &study.trials[to_int(key.number)];
    *trial = {};
    spent = count_attempts(*trial, rejected.trial.attempts);
    trial->checkpoint = rejected.trial.checkpoint;
  }
  if (trial == nullptr) return;
  for (const std::string& device : rejected.trial.rejected_devices) exclude(study, *trial, device);
  if (!rejected.runs_again) {
    for (storage::AttemptRow row : rejected.trial.attempts) {
      if (std::ranges::find(rejected.attempts, row.id) == rejected.attempts.end()) continue;
      row.rejection.reset();
      if (storage::counts(row)) trial->budget.give_back(row.device, *row.failure);
    }
    if (trial->checkpoint && is_rejected(trial->checkpoint->attempt))
      trial->checkpoint = rejected.trial.checkpoint;
  }
  for (const AttemptId id : std::vector<AttemptId>(trial->open)) {
    Attempt& attempt = attempts.at(id);
    if (is_rejected(id)) {
      revoke_rejected(id);
    } else if (!attempt.committed && attempt.from && is_rejected(attempt.from->attempt)) {
      attempt.from.reset();  // storage begins it without the checkpoint, too
    }
  }
  if (spent) return fail_trial(key, *spent);
  if (rejected.runs_again) return requeue(key, 0);
  // The trial may have failed only because of rejected attempts. Storage knows it after FailTrial.
  if (trial->failing) {
    storage::RejectResults again{.study = key.study, .which = {.trial = key.number}};
    propose_rejection({.next = std::move(again)}, key.number);
  }
}

}  // namespace hyperflock::dispatch
