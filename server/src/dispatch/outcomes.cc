// Handles storage's outcomes, and sends the messages that had to wait for them (R11 to R15).
#include <algorithm>

#include "dispatch/state.h"

namespace hyperflock::dispatch {

using storage::Applied;

Error unknown_study() { return {"unknown_study", "No study has this number."}; }

namespace {

constexpr Millis kConflictBackOffMs = 1'000;

// Returns why a study could not run again.
Error not_running(const storage::Outcome& outcome) {
  if (outcome.applied != Applied::superseded) return unknown_study();
  return {"study_cancelled", "A study that was cancelled stays so."};
}

// Returns the session that counts the proposal in Session::pending.
std::optional<SessionId> counted_session(const Pending& what) {
  if (const auto* result = std::get_if<PendingResult>(&what)) return result->session;
  if (const auto* ack = std::get_if<PendingAck>(&what)) return ack->session;
  if (const auto* call = std::get_if<PendingCall>(&what)) return call->session;
  if (const auto* points = std::get_if<PendingPoints>(&what)) return points->session;
  return std::nullopt;
}

}  // namespace

void State::on(const BatchCommitted& event) {
  for (const auto& [id, outcome] : event.outcomes) {
    const auto found = pending.find(id);
    // Nobody waits for this outcome, or its proposal was made before a failure of storage.
    if (found == pending.end()) continue;
    Pending what = std::move(found->second);
    pending.erase(found);
    if (const auto counted = counted_session(what)) {
      if (const auto session = sessions.find(*counted); session != sessions.end())
        --session->second.pending;
    }
    std::visit([&, &result = outcome](auto& one) { on_outcome(one, result); }, what);
  }
}

void State::on(const BatchFailed&) {
  reset();
  read_only = true;
}

void State::reset() {
  for (auto& [id, what] : pending) {
    std::optional<RequestId> request;
    if (const auto* study = std::get_if<PendingStudy>(&what)) request = study->request;
    if (const auto* end = std::get_if<PendingEnd>(&what)) request = end->request;
    if (const auto* pause = std::get_if<PendingPause>(&what)) request = pause->request;
    if (const auto* priority = std::get_if<PendingPriority>(&what)) request = priority->request;
    if (const auto* judged = std::get_if<PendingJudgement>(&what)) request = judged->request;
    if (const auto* more = std::get_if<PendingExtension>(&what)) request = more->request;
    if (const auto* reissue = std::get_if<PendingReissue>(&what)) request = reissue->request;
    if (const auto* reject = std::get_if<PendingReject>(&what)) request = reject->request;
    if (request) {
      effects.emplace_back(Answer{*request, unavailable()});
    }
  }
  for (const auto& [id, session] : sessions) {
    effects.emplace_back(Close{id, kCloseTryAgainLater, "storage_unavailable"});
  }
  for (const auto& [id, claim] : claims) {
    effects.emplace_back(Close{id, kCloseTryAgainLater, "storage_unavailable"});
  }
  for (const auto& [id, study] : studies) {
    if (study.asked && study.asked->owner) effects.emplace_back(OwnerChanged{id, false});
    work_changed.insert(id);
  }
  pending.clear();
  sessions.clear();
  devices.clear();
  attempts.clear();
  studies.clear();
  projects.clear();
  needs = {};
  running_of.clear();
  lent_time = 0;
  lent_by_guarantee = false;
  timers.clear();
  back_offs.clear();
  claims.clear();
  owners_to_flush.clear();
  erasing.clear();
  silences.clear();
  absences.clear();
  queued = 0;
}

void State::on_outcome(PendingStudy& what, const storage::Outcome& outcome) {
  if (outcome.applied == Applied::repeated && outcome.study) {
    effects.emplace_back(Answer{what.request, *outcome.study, true});
    return;
  }
  if (outcome.excess) {
    effects.emplace_back(Answer{what.request, storage::quota_error(*outcome.excess)});
    return;
  }
  if (outcome.applied != Applied::applied) {
    effects.emplace_back(Answer{
        what.request, Error{"storage_unavailable", "The study was not stored; submit it again."}});
    return;
  }
  effects.emplace_back(Answer{what.request, what.study.id});
  const StudyId id = what.study.id;
  changed.insert(id);
  open_study(std::move(what.study));
  if (what.watches_devices) watch_devices(studies.at(id), false);
}

void State::on_outcome(PendingStart& what, const storage::Outcome& outcome) {
  Attempt& attempt = attempts.at(what.attempt);
  const TrialKey key = attempt.trial;
  const bool started = outcome.applied == Applied::applied;
  if (started && !attempt.end_state) {
    attempt.committed = true;
    Study& study = studies.at(key.study);
    count_work(study, attempt, -1);
    attempt.loading_since = attempt.progressed = now;
    count_work(study, attempt, 1);
    touch(what.attempt, attempt);
    changed.insert(key.study);
    if (study.asked) {
      add_item(study, protocol::StartedCall{key.number, what.attempt, attempt.device});
      follow_lead(key);
    }
    protocol::Lease lease = lease_of(what.attempt, attempt);
    if (what.ack) {
      what.ack->lease = std::move(lease);
      send(what.session, *std::move(what.ack));
    } else {
      send(what.session, protocol::LeaseOffer{std::move(lease)});
    }
    return;
  }
  if (started) propose(storage::EndAttempt{what.attempt, *attempt.end_state, {}});
  drop_attempt(what.attempt);
  if (outcome.applied == Applied::superseded) {
    // Storage says that the trial has finished. If it is still in memory, another server finished
    // it, or this server did so before a restart. After a restart, restore_study may have set the
    // grid's cursor to 0, so that trials that have finished are tried again.
    if (find_trial(key) != nullptr) finish_trial(key);
  } else {
    requeue(key, started ? 0 : jitter(kConflictBackOffMs));
  }
  if (what.ack) send(what.session, *std::move(what.ack));
  ask(what.session, outcome.applied == Applied::superseded ? what.tries : what.tries + 1);
}

void State::on_outcome(PendingResult& what, const storage::Outcome& outcome) {
  apply_result(what, outcome);
  const bool known = outcome.applied != Applied::conflict;
  protocol::ResultAck ack{.attempt = what.attempt,
                          .seq = what.seq,
                          .verdict = outcome.verdict.value_or(protocol::Verdict::evidence),
                          .lease = {}};
  if (!known) send_error(what.session, "unknown_attempt", what.attempt);
  if (const auto start = what.start ? pending.find(*what.start) : pending.end();
      start != pending.end()) {
    if (known) std::get<PendingStart>(start->second).ack = std::move(ack);
    return;
  }
  if (known) send(what.session, std::move(ack));
  if (what.next) ask(what.session);
}

void State::apply_result(const PendingResult& what, const storage::Outcome& outcome) {
  if (what.trial) {
    if (Trial* trial = find_trial(*what.trial); trial != nullptr && trial->storing > 0)
      --trial->storing;
    recount_demand(what.trial->study);
  }
  const bool counts = outcome.applied == Applied::applied;
  if (counts && outcome.verdict == protocol::Verdict::accepted) {
    if (Study* study = outcome.trial ? find_study(outcome.trial->study) : nullptr) {
      study->succeeded = true;
      study->failures.clear();
      judge_success(*study, outcome.trial->number, what.device);
      if (what.values.empty()) {
        end_probe(*study, outcome.trial->number);
      } else {
        judge_values(*study, outcome.trial->number, what.device, what.values);
      }
    }
    if (Study* study = what.trial ? find_study(what.trial->study) : nullptr; study != nullptr) {
      learn_run(study->stats, what.run_ms);
      learn_run(study->class_stats[what.device_class], what.run_ms);
      learn_points(*study, what);
      work_changed.insert(study->id);
    }
    if (what.result) queue_result(what, outcome);
    if (const std::optional<TrialKey> trial = outcome.trial ? outcome.trial : what.trial)
      finish_trial(*trial);
    return;
  }
  if (!what.trial) return;  // its end was counted when its lease expired
  if (counts && what.failure && what.resumed && storage::blames_checkpoint(*what.failure)) {
    if (Trial* trial = find_trial(*what.trial)) trial->checkpoint.reset();
    return requeue(*what.trial, 0);
  }
  if (counts && what.failure) {
    Ending ending{.attempt = what.attempt, .device = what.device};
    if (what.result) {
      ending.attrs = what.result->attrs;
      if (what.led) ending.points = what.result->points;
    }
    count_failure(*what.trial, what.device, *what.failure, std::move(ending));
    return;
  }
  // The result was kept as evidence, or another server changed the row. If the trial is open in
  // memory, it is issued again. If it has finished in storage, storage refuses the new attempt.
  requeue(*what.trial, 0);
}

void State::on_outcome(PendingAck& what, const storage::Outcome& outcome) {
  if (outcome.applied == Applied::conflict)
    return send_error(what.session, "unknown_attempt", what.attempt);
  if (outcome.refusal) {
    if (*outcome.refusal == storage::Refusal::quota) {
      // Without this acknowledgement, the device would send the report again.
      send_error(what.session, "quota_exceeded", what.attempt);
      return send(what.session, protocol::Ack{what.attempt, what.seq});
    }
    const bool many = *outcome.refusal == storage::Refusal::series_count;
    return send_error(what.session, many ? "series_count" : "series_size", what.attempt);
  }
  send(what.session, protocol::Ack{what.attempt, what.seq});
}

void State::on_outcome(PendingCall& what, const storage::Outcome& outcome) {
  if (outcome.applied == Applied::conflict)
    return send_error(what.session, "unknown_attempt", what.call.attempt, what.call.id);
  if (outcome.applied == Applied::applied) keep_points(what.call.attempt, what.call.points);
  carry(what.session, what.call, outcome.trial);
}

void State::on_outcome(PendingPoints& what, const storage::Outcome& outcome) {
  // Points are stored even if the series of the same report are refused.
  const bool only_points = outcome.refusal && *outcome.refusal != storage::Refusal::quota;
  if (outcome.applied == Applied::applied || only_points) keep_points(what.attempt, what.points);
  PendingAck ack{what.session, what.attempt, what.seq};
  on_outcome(ack, outcome);
}

void State::recount_demand(StudyId id) {
  if (const Study* study = find_study(id); study != nullptr && study->asked)
    dirty_projects.insert(study->project);
}

void State::on_outcome(PendingFail& what, const storage::Outcome& outcome) {
  recount_demand(what.trial.study);
  // The study did not pause, because a trial of it had succeeded.
  if (Study* study = find_study(what.trial.study); study && what.pauses && !outcome.paused)
    set_paused(*study, pause_pending(study->id));
  Trial* trial = find_trial(what.trial);
  if (outcome.applied == Applied::conflict) {
    if (trial == nullptr) return;
    trial->failing = false;
    return requeue(what.trial, jitter(kConflictBackOffMs));
  }
  // If the outcome is not `applied`, the trial had finished before: an earlier result was accepted,
  // or another server finished the trial. Then no failure is sent to the owner.
  if (outcome.applied == Applied::applied) queue_failure(what, outcome.seq);
  if (Study* study = find_study(what.trial.study)) end_probe(*study, what.trial.number);
  if (outcome.applied == Applied::applied || trial != nullptr) finish_trial(what.trial);
}

void State::on_outcome(PendingEnd& what, const storage::Outcome& outcome) {
  if (outcome.applied == Applied::conflict) {
    if (what.request) effects.emplace_back(Answer{*what.request, unknown_study()});
    if (Study* study = find_study(
            what.study)) {  // another server changed the row: the study continues, or ends again
      study->ending = false;
      rank(*study);
      end_if_finished(*study);
    }
    return;
  }
  if (outcome.applied == Applied::applied) changed.insert(what.study);
  if (what.request) effects.emplace_back(Answer{*what.request, what.study});
  if (!what.request) send_all_items(what.study);
  drop_study(what.study);
  end_claims(what.study, what.request ? "study_cancelled" : "study_stopped");
}

void State::on_outcome(PendingPause& what, const storage::Outcome& outcome) {
  if (outcome.applied == Applied::conflict) {
    effects.emplace_back(Answer{what.request, unknown_study()});
    return;
  }
  // A study that has ended does not change.
  if (Study* study = find_study(what.study); study && outcome.applied == Applied::applied) {
    set_paused(*study, what.paused || pause_pending(what.study));
    changed.insert(what.study);
  }
  effects.emplace_back(Answer{what.request, what.study});
}

void State::on_outcome(PendingPriority& what, const storage::Outcome& outcome) {
  if (outcome.applied == Applied::conflict) {
    effects.emplace_back(Answer{what.request, unknown_study()});
    return;
  }
  if (outcome.applied == Applied::applied) changed.insert(what.study);
  if (Study* study = find_study(what.study)) {
    study->priority = what.priority;
    rank(*study);
  }
  effects.emplace_back(Answer{what.request, what.study});
}

void State::on_outcome(PendingExtension& what, const storage::Outcome& outcome) {
  const StudyId id = what.study.id;
  Study* study = find_study(id);
  if (outcome.applied == Applied::applied) {
    changed.insert(id);
    const bool ended = study == nullptr;
    if (ended) study = &what.study;
    study->spec = *outcome.spec;
    study->total = protocol::trial_count(study->spec);
    study->awaits_approval |= what.awaits_approval;
    if (ended) {
      study->priority = outcome.priority;
      study->next_number = outcome.id;
      open_study(std::move(what.study));
    } else {
      rank(*study);
      judge_devices(*study);
    }
  }
  if (outcome.applied == Applied::applied || outcome.applied == Applied::repeated) {
    effects.emplace_back(Answer{what.request, id});
  } else if (outcome.excess) {
    effects.emplace_back(Answer{what.request, storage::quota_error(*outcome.excess)});
  } else {
    const Error error = outcome.refusal ? Error{"space_changed",
                                                "Another request has extended the study: read "
                                                "its space and extend it again."}
                                        : not_running(outcome);
    effects.emplace_back(Answer{what.request, error});
  }
  if (Study* running = find_study(id)) end_if_finished(*running);
}

void State::on_outcome(PendingReissue& what, const storage::Outcome& outcome) {
  const StudyId id = what.study.id;
  Study* study = find_study(id);
  if (study != nullptr && what.awaits_approval && study->unapproved > 0) {
    --study->unapproved;
    if (outcome.applied != Applied::applied) rank(*study);
  }
  if (outcome.applied == Applied::applied) {
    changed.insert(id);
    if (study == nullptr) {  // the study has finished
      what.study.priority = outcome.priority;
      what.study.awaits_approval |= what.awaits_approval;
      open_study(std::move(what.study));
      study = find_study(id);
    }
    study->awaits_approval |= what.awaits_approval;
    study->failures.clear();  // no trial of the study is failed any more
    study->breaker = {};
    study->repeats = {};
    dirty_projects.insert(study->project);
    if (outcome.spec) {
      for (const protocol::BlobRef& blob : protocol::blobs_of(study->spec))
        study->earlier_blobs.insert(blob.sha256);
      study->spec = *outcome.spec;
      study->points = {};
      for (const protocol::BlobRef& blob : protocol::blobs_of(study->spec))
        study->earlier_blobs.erase(blob.sha256);
      const bool was_stopped = study->stopped;
      apply_rules(*study);
      if (study->stopped && !was_stopped) stop_attempts(*study);
      if (!what.keeps_checkpoints) drop_checkpoints(*study);
    }
    rank(*study);
    judge_devices(*study);
    for (const TrialNumber number : outcome.trials) study->trials.try_emplace(to_int(number));
    if (outcome.rejected) {
      for (const storage::RejectedTrial& one : outcome.rejected->trials)
        study->trials.at(to_int(one.trial.key.number)).rejected = one.trial.rejected_devices;
    }
    for (const TrialNumber number : outcome.trials) requeue({id, number}, 0);
    study->skip_known();
  } else if (outcome.excess) {
    effects.emplace_back(Answer{what.request, storage::quota_error(*outcome.excess)});
    return;
  } else if (outcome.applied != Applied::repeated) {
    effects.emplace_back(Answer{what.request, not_running(outcome)});
    return;
  }
  if (outcome.applied == Applied::repeated && what.has_code) {
    effects.emplace_back(Answer{what.request, protocol::no_failed_trial()});
  } else {
    effects.emplace_back(Answer{what.request, id});
  }
  if (study != nullptr) end_if_finished(*study);
}

}  // namespace hyperflock::dispatch
