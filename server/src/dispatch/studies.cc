// Handles studies: submission, cancellation, the end, and the reload after a start (R18, R19, R24).
#include <algorithm>

#include "dispatch/state.h"

namespace hyperflock::dispatch {

Error unavailable() {
  return {"storage_unavailable", "The server cannot write now; try again later."};
}

void State::on(const StudySubmitted& event) {
  if (read_only) {
    effects.emplace_back(Answer{event.request, unavailable()});
    return;
  }
  Study study{.id = StudyId{next_study++},
              .owner = event.owner,
              .project = event.project,
              .spec = event.spec,
              .total = protocol::trial_count(event.spec),
              .next_number = 0,
              .running = 0,
              .priority = event.spec.priority,
              .ending = false,
              .trials = {},
              .queue = {},
              .rank = {}};
  const StudyId id = study.id;
  study.awaits_approval = event.awaits_approval;
  if (event.spec.kind == protocol::StudyKind::asked) study.asked.emplace();
  storage::CreateStudy create{study.id,      event.owner,          event.project,
                              event.spec,    study.total,          event.quota,
                              event.webhook, event.webhook_secret, event.awaits_approval};
  propose(std::move(create),
          PendingStudy{event.request, std::move(study), wants_devices(event.webhook)});
  propose_note(event.note, id);
}

void State::on(const StudyCancelRequested& event) {
  if (read_only) {
    effects.emplace_back(Answer{event.request, unavailable()});
    return;
  }
  if (Study* study = find_study(event.study)) {
    study->ending = true;
    rank(*study);
  }
  propose(storage::EndStudy{event.study, storage::StudyState::cancelled},
          PendingEnd{event.study, event.request});
  propose_note(event.note, event.study);
}

void State::on(const StudyPauseRequested& event) {
  if (read_only) {
    effects.emplace_back(Answer{event.request, unavailable()});
    return;
  }
  // The study pauses at once. Otherwise a lease that is proposed from now on would be sent after
  // the answer that confirms the pause.
  if (Study* study = find_study(event.study)) {
    if (event.paused) {
      set_paused(*study, true);
    } else if (study->paused) {
      study->failures.clear();  // after a resume, failures are counted anew (R56)
    }
  }
  propose(storage::PauseStudy{event.study, event.paused},
          PendingPause{event.request, event.study, event.paused});
  propose_note(event.note, event.study);
}

void State::set_paused(Study& study, bool paused) {
  study.paused = paused;
  rank(study);
  judge_devices(study);
  // Idle workers may get work of other studies after a pause, and of this study after a resume.
  dirty_projects.insert(study.project);
}

bool State::pause_pending(StudyId id) const {
  return std::any_of(pending.begin(), pending.end(), [id](const auto& one) {
    const auto* pause = std::get_if<PendingPause>(&one.second);
    if (pause != nullptr) return pause->study == id && pause->paused;
    const auto* fail = std::get_if<PendingFail>(&one.second);
    return fail != nullptr && fail->trial.study == id && fail->pauses;
  });
}

void State::on(const StudyPriorityRequested& event) {
  if (read_only) {
    effects.emplace_back(Answer{event.request, unavailable()});
    return;
  }
  propose(storage::SetPriority{event.study, event.priority},
          PendingPriority{event.request, event.study, event.priority});
  propose_note(event.note, event.study);
}

void State::on(const StudyReissueRequested& event) {
  if (read_only) {
    effects.emplace_back(Answer{event.request, unavailable()});
    return;
  }
  const storage::StudyRow& row = event.study;
  if (row.spec.kind == protocol::StudyKind::asked) {
    effects.emplace_back(Answer{event.request, protocol::not_a_grid()});
    return;
  }
  // A lease that is proposed from now on would run the new code, which is not approved yet.
  if (Study* study = find_study(row.id); study != nullptr && event.awaits_approval) {
    ++study->unapproved;
    rank(*study);
  }
  propose(storage::ReissueTrials{row.id, event.quota, event.code, event.runtime_index,
                                 event.awaits_approval},
          PendingReissue{event.request, from_row(row), event.code.has_value(),
                         !event.code || event.code->checkpoints, event.awaits_approval});
  propose_note(event.note, row.id);
}

void State::on(const StudyExtendRequested& event) {
  if (read_only) {
    effects.emplace_back(Answer{event.request, unavailable()});
    return;
  }
  const storage::StudyRow& row = event.study;
  if (row.spec.kind == protocol::StudyKind::asked) {
    effects.emplace_back(Answer{event.request, protocol::not_a_grid()});
    return;
  }
  propose(storage::ExtendStudy{row.id, event.more, event.quota, event.awaits_approval},
          PendingExtension{event.request, from_row(row), event.awaits_approval});
  propose_note(event.note, row.id);
}

Study State::from_row(const storage::StudyRow& row) {
  Study study{.id = row.id,
              .owner = row.owner,
              .project = row.project,
              .spec = row.spec,
              .total = row.total,
              .next_number = row.total,
              .running = 0,
              .priority = row.priority,
              .ending = false,
              .trials = {},
              .queue = {},
              .rank = {}};
  study.succeeded = row.complete + row.pruned > 0;
  study.awaits_approval = row.approval == storage::Approval::awaited;
  study.earlier_blobs.insert(row.earlier_blobs.begin(), row.earlier_blobs.end());
  return study;
}

void State::drop_checkpoints(Study& study) {
  for (auto& [number, trial] : study.trials) {
    trial.checkpoint.reset();
    // An attempt whose start has no outcome yet runs the new code, so it must not begin with a
    // checkpoint of the earlier code.
    for (const AttemptId id : trial.open) {
      if (Attempt& attempt = attempts.at(id); !attempt.committed) attempt.from.reset();
    }
  }
}

void State::on(const CheckpointStored& event) {
  if (Trial* trial = find_trial(event.trial)) trial->checkpoint = event.checkpoint;
  on(ArtifactStored{event.checkpoint.attempt});
}

void State::on(const ArtifactStored& event) {
  const auto found = attempts.find(event.attempt);
  if (found != attempts.end() && found->second.committed)
    touch_running(event.attempt, found->second);
}

void State::open_study(Study study) {
  const StudyId id = study.id;
  apply_rules(study);
  study.account = projects[study.project].ranked.account(
      study.owner, storage::weight_of_researcher(rules, study.owner), now);
  study.needs = needs.add(study.spec);
  study.since = now;
  projects[study.project].ranked.set_below(study.account, is_below_guarantee(study.owner));
  rank(studies.emplace(id, std::move(study)).first->second);
  work_changed.insert(id);
}

void State::end_if_finished(Study& study) {
  bool busy = !study.trials.empty();
  if (study.asked) {  // it ends after `finish`, unless the owner sends a room again (R50)
    busy |= !study.asked->finish || study.asked->room > 0 || study.asked->uncommitted_asks > 0;
  } else {
    busy |= study.next_number < study.total;
  }
  if (study.ending || busy || reissue_pending(study.id)) return;
  study.ending = true;
  rank(study);
  propose(storage::EndStudy{study.id, storage::StudyState::finished}, PendingEnd{study.id, {}});
}

bool State::reissue_pending(StudyId id) const {
  return std::any_of(pending.begin(), pending.end(), [id](const auto& one) {
    const auto* reissue = std::get_if<PendingReissue>(&one.second);
    const auto* extension = std::get_if<PendingExtension>(&one.second);
    const auto* reject = std::get_if<PendingReject>(&one.second);
    return (reissue != nullptr && reissue->study.id == id) ||
           (reject != nullptr && reject->next.study == id) ||
           (extension != nullptr && extension->study.id == id);
  });
}

void State::drop_study(StudyId id) {
  Study* study = find_study(id);
  if (study == nullptr) return;
  study->ending = true;
  rank(*study);
  std::vector<std::int64_t> numbers;
  numbers.reserve(study->trials.size());
  for (const auto& [number, trial] : study->trials) numbers.push_back(number);
  // Effects must not depend on the order of a hash table.
  std::sort(numbers.begin(), numbers.end());
  for (const std::int64_t number : numbers) {
    forget_trial(*study, {id, TrialNumber{number}}, protocol::RevokeCode::cancelled);
  }
  unwatch_devices(*study);
  if (study->asked) {
    detach(*study);
    queued -= static_cast<std::int64_t>(study->asked->fresh.size());
    if (study->asked->due) silences.erase({*study->asked->due, id});
  }
  count_running(*study, -study->running);  // attempts whose start has no outcome yet
  needs.remove(study->needs);
  studies.erase(id);
  work_changed.insert(id);
}

void State::on(const Restored& event) {
  reset();
  read_only = false;
  next_study = std::max(next_study, event.snapshot.next_study_id);
  next_attempt = std::max(next_attempt, event.snapshot.next_attempt_id);
  rules = event.snapshot.rules;
  apply_shares();
  for (const storage::RunningStudy& stored : event.snapshot.studies) restore_study(stored);
}

void State::restore_study(const storage::RunningStudy& stored) {
  const storage::StudyRow& row = stored.study;
  Study kept = from_row(row);
  kept.next_number = stored.next_number;
  open_study(std::move(kept));
  Study& study = studies.at(row.id);
  study.paused = row.paused;
  for (const protocol::Failure& failure : stored.failures) study.failures.add(failure);
  study.points = stored.points;
  if (row.spec.kind == protocol::StudyKind::asked) {
    study.asked.emplace();
    study.asked->generation = row.generation;
    study.asked->wanted = row.wanted;
    study.asked->away = now;
  }
  for (const storage::RunningTrial& trial : stored.unfinished)
    restore_trial(study, row.code, trial);
  if (row.webhook && wants_devices(row.webhook->webhook)) {
    watch_devices(study, row.webhook->deviceless);
    study.watch->had_devices |= row.attempts > 0;
    judge_devices(study);
  }
  if (study.asked) return;  // only its owner ends it, and nothing is leased without an owner
  // If the only attempt of a trial met a conflict, the trial has no row, but later trials may have
  // rows. If a row is missing, the cursor starts at 0 again. Storage then refuses each trial that
  // has finished.
  const auto rows =
      row.complete + row.pruned + row.failed + static_cast<std::int64_t>(stored.unfinished.size());
  if (rows < stored.next_number) study.next_number = 0;
  study.skip_known();
  rank(study);
  end_if_finished(study);
}

void State::restore_trial(Study& study, std::int64_t code, const storage::RunningTrial& stored) {
  const TrialKey key = stored.key;
  Trial& trial = study.trials[to_int(key.number)];
  trial.checkpoint = stored.checkpoint;
  if (study.asked) {
    AskedPart& part = trial.asked.emplace();
    part.params = stored.params;
    part.attrs = stored.attrs;
    part.log = stored.suggested;
    for (const storage::Suggestion& one : part.log) part.log_bytes += bytes_of(one);
    part.next_position = static_cast<std::int64_t>(part.log.size());
    part.ran = !stored.attempts.empty();
    if (!part.ran) {
      ++queued;
      study.asked->fresh.push_back(key.number);
      return;
    }
  }
  // Attempts may run an earlier version of the study's code, whose blob is barred.
  const bool runs_barred = std::ranges::any_of(
      study.earlier_blobs, [this](const std::string& blob) { return rules.blobs.contains(blob); });
  trial.rejected = stored.rejected_devices;
  const std::optional<protocol::Failure> spent = count_attempts(trial, stored.attempts);
  for (const storage::AttemptRow& row : stored.attempts) {
    if (row.state != storage::AttemptState::live) continue;
    if (row.rejection) {
      // The server stopped after it had stored the rejection and before it ended the attempt.
      propose(storage::EndAttempt{row.id, storage::AttemptState::revoked, {}, {}});
    } else if (study.stopped || (row.code < code && runs_barred)) {
      // The server stopped after it had stored the stop and before it ended the attempt.
      propose(storage::EndAttempt{row.id, storage::AttemptState::revoked, operator_stopped(), {}});
    } else {
      // The attempt gets one full lease of grace, and its time limits count from now (R24).
      Attempt& attempt = add_attempt(row.id, study, key, row.device, row.device_class);
      attempt.kind = row.kind;
      attempt.from = row.from;
      attempt.committed = true;
      attempt.reported.reset();
      charge_restored(study, attempt);
      arm(row.id, attempt);
    }
  }
  if (study.asked && !trial.open.empty()) trial.asked->lead = trial.open.front();
  rank(study);
  if (!spent) return requeue(key, 0);
  // The server stopped after it had stored the failure and before it failed the trial.
  fail_trial(key, *spent);
}

}  // namespace hyperflock::dispatch
