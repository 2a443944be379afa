// Handles deadlines (R20, R23, R24). Every committed attempt has one entry in State::timers at or
// before its deadline. A message moves only the deadline, and the entry is moved when it fires. So
// a heartbeat needs no search.
#include <algorithm>

#include "dispatch/state.h"

namespace hyperflock::dispatch {

namespace {

// A rule that ends an attempt at a deadline, and the failure that the attempt then gets.
struct Limit {
  Instant at;
  protocol::Failure failure;
  storage::AttemptState state = storage::AttemptState::failed;
  std::optional<protocol::RevokeCode> code;
};

Limit limit_of(const Attempt& attempt, const Study& study, const Settings& settings) {
  using protocol::Cause;
  Limit first{.at = attempt.seen + settings.lease_ms,
              .failure = {Cause::worker_lost, "lease_expired",
                          "The device was silent for longer than its lease.", ""},
              .state = storage::AttemptState::expired,
              .code = {}};
  const auto take = [&first](Instant at, protocol::RevokeCode code, const char* name,
                             Cause cause = Cause::timeout) {
    if (at >= first.at) return;
    first = {.at = at,
             .failure = {cause, name, std::string(revoke_text(code)), ""},
             .state = storage::AttemptState::failed,
             .code = code};
  };
  if (!attempt.began) {
    take(attempt.loading_since + settings.loading_ms, protocol::RevokeCode::timeout,
         "loading_timeout");
  } else if (study.time_limit_ms > 0) {
    take(*attempt.began + study.time_limit_ms, protocol::RevokeCode::timeout, "time_limit");
  }
  if (attempt.pulse == protocol::PulseState::running && study.spec.stall_ms > 0) {
    take(attempt.progressed + study.spec.stall_ms, protocol::RevokeCode::stalled, "stalled");
  } else if (attempt.pulse == protocol::PulseState::running) {
    // The study sets no limit for stalls, so the stall counts as a lost worker and not as a failure
    // of the objective.
    take(attempt.progressed + attempt.patience_ms, protocol::RevokeCode::stalled, "stalled",
         Cause::worker_lost);
  }
  return first;
}

}  // namespace

RuntimeStats& State::stats_of(const Attempt& attempt) {
  return studies.at(attempt.trial.study).class_stats[attempt.device_class];
}

void State::touch(AttemptId id, Attempt& attempt) {
  attempt.seen = now;
  if (now >= attempt.paid_until) charge_more(attempt);
  attempt.patience_ms = patience(stats_of(attempt));
  arm(id, attempt);
}

void State::touch_running(AttemptId id, Attempt& attempt) {
  if (!attempt.began) attempt.began = now;
  attempt.progressed = now;
  touch(id, attempt);
}

Instant State::deadline(const Attempt& attempt) {
  return limit_of(attempt, studies.at(attempt.trial.study), settings).at;
}

void State::arm(AttemptId id, Attempt& attempt) {
  const Instant at = deadline(attempt);
  if (attempt.timer && *attempt.timer <= at) return;
  disarm(id, attempt);
  attempt.timer = at;
  timers.emplace(at, id);
}

void State::disarm(AttemptId id, Attempt& attempt) {
  if (!attempt.timer) return;
  timers.erase({*attempt.timer, id});
  attempt.timer.reset();
}

protocol::RunMetrics State::times_of(const Attempt& attempt, Instant end) {
  const Instant began = attempt.began.value_or(end);
  return {.load_ms = std::max<Millis>(0, began - attempt.loading_since),
          .run_ms = std::max<Millis>(0, end - began)};
}

void State::on(const Tick&) {
  while (!timers.empty() && timers.begin()->first <= now) {
    const AttemptId id = timers.begin()->second;
    Attempt& attempt = attempts.at(id);
    disarm(id, attempt);
    if (deadline(attempt) > now) {
      arm(id, attempt);
    } else {
      overdue(id, attempt);
    }
  }
  while (!back_offs.empty() && back_offs.begin()->first <= now) {
    const TrialKey key = back_offs.begin()->second;
    back_offs.erase(back_offs.begin());
    Trial& trial = *find_trial(key);
    trial.due.reset();
    enqueue(*find_study(key.study), key.number, trial);
  }
  break_silences();
  note_absences();
}

// Refuses calls that waited too long. State::silences has an entry at or before each limit (R43).
void State::break_silences() {
  while (!silences.empty() && silences.begin()->first <= now) {
    Study& study = studies.at(silences.begin()->second);
    silences.erase(silences.begin());
    study.asked->due.reset();
    std::vector<std::int64_t> over;
    for (const auto& [id, question] : study.asked->questions) {
      const Instant since = std::max(question.since, study.asked->away);
      if (!question.value && since + settings.call_ms <= now) over.push_back(id);
    }
    for (const std::int64_t id : over) refuse_question(study, id, "no_owner");
    arm_silence(study);
  }
}

void State::overdue(AttemptId id, Attempt& attempt) {
  Limit limit = limit_of(attempt, studies.at(attempt.trial.study), settings);
  if (limit.code) revoke(attempt, id, *limit.code);
  if (limit.code == protocol::RevokeCode::stalled)
    learn_stall(stats_of(attempt), now - attempt.progressed);
  if (limit.failure.cause == protocol::Cause::timeout)
    count_in_row(studies.at(attempt.trial.study), attempt.trial.number, attempt.device,
                 protocol::Cause::timeout);
  fail_attempt(id, limit.state, std::move(limit.failure));
}

}  // namespace hyperflock::dispatch
