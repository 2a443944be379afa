// Ends attempts, issues trials again, and fails them (R17 to R19).
#include <algorithm>

#include "dispatch/state.h"

namespace hyperflock::dispatch {

namespace {

constexpr Millis kFirstBackOffMs = 1'000;
constexpr Millis kLongestBackOffMs = 60'000;

// Returns the back-off before jitter. `nth` counts the trial's failures by this cause, from 1.
Millis back_off(protocol::Cause cause, int nth) {
  const bool at_once = cause == protocol::Cause::worker_lost || cause == protocol::Cause::cancelled;
  const int doublings = at_once ? nth - 2 : nth - 1;
  if (doublings < 0) return 0;
  constexpr int kEnoughDoublings = 6;
  return std::min(kLongestBackOffMs, kFirstBackOffMs << std::min(doublings, kEnoughDoublings));
}

}  // namespace

Attempt& State::add_attempt(AttemptId id, Study& study, TrialKey key, const std::string& device,
                            const std::string& device_class) {
  Attempt& attempt = attempts[id];
  attempt = {.trial = key,
             .kind = protocol::AttemptKind::primary,
             .device = device,
             .device_class = device_class,
             .from = {},
             .committed = false,
             .end_state = {},
             .seen = now,
             .loading_since = now,
             .began = {},
             .progressed = now,
             .progress = 0,
             .patience_ms = patience(study.class_stats[device_class]),
             .pulse = protocol::PulseState::loading,
             .timer = {},
             .paid_until = now};
  study.trials.at(to_int(key.number)).open.push_back(id);
  devices[device].open.push_back(id);
  ++study.running;
  count_running(study, 1);
  count_work(study, attempt, 1);
  return attempt;
}

void State::count_work(Study& study, const Attempt& attempt, int sign) {
  WorkOfClass& work = study.work[attempt.device_class];
  work.devices += sign;
  work.since_sum += sign * attempt.loading_since.ms;
  work.newest = std::max(work.newest, attempt.loading_since);
  work_changed.insert(study.id);
}

void State::drop_attempt(AttemptId id) {
  const auto found = attempts.find(id);
  Attempt& attempt = found->second;
  disarm(id, attempt);
  if (Study* study = find_study(attempt.trial.study); study != nullptr && study->asked)
    drop_waiters(*study, id, attempt);
  const auto device = devices.find(attempt.device);
  std::erase(device->second.open, id);
  if (device->second.open.empty() && !device->second.session) devices.erase(device);
  if (Trial* trial = find_trial(attempt.trial)) std::erase(trial->open, id);
  if (Study* study = find_study(attempt.trial.study)) {
    settle(*study, attempt);
    --study->running;
    count_running(*study, -1);
    count_work(*study, attempt, -1);
    rank(*study);
  }
  attempts.erase(found);
}

void State::fail_attempt(AttemptId id, storage::AttemptState state, protocol::Failure failure) {
  const TrialKey trial = attempts.at(id).trial;
  const std::string device = attempts.at(id).device;
  // An expired attempt may have run on after its device's last message, so it ends at that message.
  const bool silent = state == storage::AttemptState::expired;
  const Instant end = silent ? attempts.at(id).seen : now;
  propose(storage::EndAttempt{id, state, failure, times_of(attempts.at(id), end)});
  drop_attempt(id);
  count_failure(trial, device, failure, {.attempt = id, .device = device});
}

void State::count_failure(TrialKey key, const std::string& device, const protocol::Failure& failure,
                          Ending ending) {
  Trial* trial = find_trial(key);
  if (trial == nullptr || trial->failing) return;
  if (auto last = trial->budget.spend(device, failure)) {
    take_from_queue(*find_study(key.study), *trial, key);
    fail_trial(key, *last, std::move(ending));
    return judge_failure(key, device);
  }
  const bool is_odd = failure.code == protocol::kValueOutOfRange;
  if (is_odd || failure.code == storage::kNoPoints) {
    Study& study = *find_study(key.study);
    if (!trial->excludes(device) && has_other_device(study, device))
      set_odd_device(study, key, *trial, device);
    requeue(key, 0);
    if (is_odd) judge_failure(key, device);
    return;
  }
  const int nth = trial->budget.failures(failure.cause);
  const Millis delay = back_off(failure.cause, nth);
  requeue(key, delay == 0 ? 0 : jitter(delay));
  judge_failure(key, device);
}

void State::fail_trial(TrialKey key, const protocol::Failure& failure, Ending ending) {
  Study& study = *find_study(key.study);
  find_trial(key)->failing = true;
  bool pauses = false;
  if (!study.succeeded && study.spec.max_failures > 0) {
    const AlikeFailures::Count alike = study.failures.add(failure, ending.device);
    // One device alone pauses the study only if no other one could tell whose fault it is (R72).
    const bool enough = alike.several_devices || study.spec.max_failures == 1;
    pauses = alike.failures >= study.spec.max_failures && !study.paused && !study.ending &&
             (enough || !has_other_device(study, ending.device));
  }
  // The study pauses at once in memory, as if FailTrial had been applied already.
  if (pauses) set_paused(study, true);
  propose(storage::FailTrial{key, failure, pauses},
          PendingFail{key, failure, pauses, std::move(ending)});
}

void State::requeue(TrialKey key, Millis delay) {
  Study* study = find_study(key.study);
  Trial* trial = find_trial(key);
  if (trial == nullptr || trial->failing) return;
  if (!trial->open.empty() && study->asked) follow_lead(key);
  if (!trial->open.empty() || trial->queue_order != 0 || trial->due) return;
  ++queued;
  if (delay <= 0) return enqueue(*study, key.number, *trial);
  trial->due = now + delay;
  back_offs.emplace(*trial->due, key);
}

void State::enqueue(Study& study, TrialNumber number, Trial& trial) {
  trial.queue_order = next_order++;
  study.queue.emplace(trial.queue_order, number);
  count_excluded(study, trial, 1);
  rank(study);
}

void State::dequeue(Study& study, Trial& trial) {
  study.queue.erase(trial.queue_order);
  trial.queue_order = 0;
  --queued;
  count_excluded(study, trial, -1);
}

void State::take_from_queue(Study& study, Trial& trial, TrialKey key) {
  if (trial.due) {
    back_offs.erase({*trial.due, key});
    trial.due.reset();
    --queued;
  }
  if (trial.queue_order != 0) {
    dequeue(study, trial);
    rank(study);
  }
}

void State::finish_trial(TrialKey key) {
  Study* study = find_study(key.study);
  if (study == nullptr) return;
  changed.insert(key.study);
  forget_trial(*study, key, protocol::RevokeCode::superseded);
  end_if_finished(*study);
}

void State::forget_trial(Study& study, TrialKey key, protocol::RevokeCode code) {
  const auto found = study.trials.find(to_int(key.number));
  if (found == study.trials.end()) return;
  take_from_queue(study, found->second, key);
  if (study.asked) refuse_trial(study, key);
  if (!found->second.odd_device.empty()) projects[study.project].odd_trials.erase(key);
  const std::vector<AttemptId> open = found->second.open;
  study.trials.erase(found);
  for (const AttemptId id : open) {  // the trial has its outcome, so they must stop (R17)
    revoke(attempts.at(id), id, code);
    let_go(id, storage::AttemptState::revoked);
  }
}

}  // namespace hyperflock::dispatch
