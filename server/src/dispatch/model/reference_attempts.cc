// Attempts and their timers in the reference model; see reference.h.
#include <algorithm>

#include "dispatch/model/reference.h"
#include "dispatch/state.h"  // kBudget, kPoisonDevices
#include "protocol/names.h"

namespace hyperflock::dispatch {

using protocol::Cause;
using protocol::kValueOutOfRange;
using protocol::PulseState;
using storage::AttemptState;
using storage::kBudget;
using storage::kPoisonDevices;
using storage::StudyState;
using storage::TrialState;

namespace {

// Returns the time before the trial is issued again (R18), with the least jitter.
Millis back_off(Cause cause, int nth) {
  const bool at_once = cause == Cause::worker_lost || cause == Cause::cancelled;
  if (at_once && nth == 1) return 0;
  Millis delay = 1'000;
  for (int i = at_once ? 2 : 1; i < nth; ++i) delay *= 2;
  return std::min<Millis>(delay, 60'000) / 2;
}

}  // namespace

Said Reference::beat(const std::string& worker, Id id, Id progress, PulseState state) {
  begin();
  Attempt* attempt = own(worker, id);
  if (attempt != nullptr && attempt->state == AttemptState::live) {
    const bool starts = state == PulseState::running && attempt->pulse != PulseState::running;
    if (progress != attempt->progress && state == PulseState::running && !starts) {
      Speed& known = speed(*attempt);
      const Millis gap = now_ - attempt->progressed;
      ++known.moves;
      known.gap = gap > known.gap ? gap : known.gap + (gap - known.gap) / 8;
    }
    if (starts || progress != attempt->progress) attempt->progressed = now_;
    attempt->progress = progress;
    attempt->pulse = state;
    if (state != PulseState::loading && !attempt->began) attempt->began = now_;
    touch(*attempt);
  }
  say(worker, "ack");
  return done();
}

Said Reference::checkpoint(const std::string& worker, Id id, Id blob) {
  begin();
  Attempt* attempt = own(worker, id);
  if (attempt == nullptr || attempt->state != AttemptState::live) return done();
  Trial& trial = trial_of(*attempt);
  if (attempt->code < studies_.at(attempt->study).resumable) return done();  // not stored (R64)
  if (trial.saved == Saved{id, blob}) return done();
  trial.saved_before = trial.saved;
  trial.saved = Saved{id, blob};
  touch_running(*attempt);
  return done();
}

Said Reference::report(const std::string& worker, Id id, Id seq, Id step) {
  begin();
  Attempt* attempt = own(worker, id);
  // Without room on the disk, storage is not asked. Only an attempt that is live on another device
  // is then refused as unknown.
  const auto found = attempts_.find(id);
  const bool foreign = found != attempts_.end() && found->second.device != worker &&
                       found->second.state == AttemptState::live;
  if (disk_has_room_ ? attempt == nullptr : foreign) {
    say_error(worker, "unknown_attempt");
    return done();
  }
  if (attempt != nullptr) {
    touch_running(*attempt);
    if (attempt->state == AttemptState::live) attempt->reported = true;
  }
  if (!disk_has_room_) {
    say_error(worker, "no_room");
    say(worker, "ack " + number(id) + " seq " + std::to_string(seq));
    return done();
  }
  if (keep_point(*attempt, step) && leads(*attempt)) {
    tell(studies_.at(attempt->study), "points t" + std::to_string(attempt->trial) + ' ' +
                                          number(id) + ' ' + std::to_string(step));
  }
  say(worker, "ack " + number(id) + " seq " + std::to_string(seq));
  return done();
}

Said Reference::should_prune(const std::string& worker, Id id, Id step) {
  begin();
  Attempt* attempt = own(worker, id);
  if (attempt == nullptr) {
    say_error(worker, "unknown_attempt");
    return done();
  }
  touch_running(*attempt);
  if (attempt->state == AttemptState::live) attempt->reported = true;
  const bool fresh = disk_has_room_ && keep_point(*attempt, step);
  Study& study = studies_.at(attempt->study);
  if (study.asked() && leads(*attempt)) {
    const Id question = next_question_;
    ask_owner(study,
              {attempt->trial, id, "", "", now_, {{worker, id, sessions_.at(worker).number}}});
    std::string text = "prune " + std::to_string(question) + " t" + std::to_string(attempt->trial) +
                       ' ' + number(id);
    if (fresh) text += ' ' + std::to_string(step);
    tell(study, text);
    return done();
  }
  say(worker, "reply go on");
  return done();
}

Said Reference::complete(const std::string& worker, Id attempt, bool next, double value) {
  begin();
  const auto found = attempts_.find(attempt);
  const bool odd =
      value > 1 && found != attempts_.end() && studies_.at(found->second.study).options.ranged;
  result(worker, attempt, odd ? std::optional(Cause::invalid) : std::nullopt, next, value);
  finish_event();
  return done();
}

Said Reference::failed(const std::string& worker, Id attempt, Cause cause, bool next) {
  begin();
  result(worker, attempt, cause, next);
  finish_event();
  return done();
}

Said Reference::release(const std::string& worker, Id id, protocol::ReleaseReason reason) {
  begin();
  Attempt* attempt = own(worker, id);
  if (attempt == nullptr) {
    say_error(worker, "unknown_attempt");
    return done();
  }
  say(worker, "ack " + number(id) + " seq 2");
  if (attempt->state == AttemptState::live) {
    if (reason == protocol::ReleaseReason::cannot_run)
      sessions_.at(worker).refused.push_back(attempt->study);
    let_go(*attempt, AttemptState::released);
  }
  finish_event();
  return done();
}

void Reference::result(const std::string& worker, Id id, std::optional<Cause> cause, bool next,
                       std::optional<double> value) {
  Attempt* attempt = own(worker, id);
  const auto foreign = attempts_.find(id);
  if (attempt == nullptr && foreign != attempts_.end() &&
      foreign->second.state == AttemptState::live) {
    // The attempt is live on another worker. The sender gets this error and nothing else.
    return say_error(worker, "unknown_attempt");
  }
  const bool was_live = attempt != nullptr && attempt->state == AttemptState::live;
  std::string code = cause && value ? std::string(kValueOutOfRange) : "code";
  if (was_live && !cause && is_doubtful(*attempt)) {
    cause = Cause::invalid;
    code = storage::kNoPoints;
  }
  bool led = was_live;
  for (const auto& [other, one] : attempts_) {
    if (was_live && other < id && one.study == attempt->study && one.trial == attempt->trial &&
        one.state == AttemptState::live) {
      led = false;
    }
  }
  if (was_live) {
    end(*attempt, AttemptState::evidence);  // judged below
    if (!cause) end_rows(*attempt);
    if (!cause && !studies_.at(attempt->study).asked()) count_value(*attempt, *value);
    if (cause && code != storage::kNoPoints) count_in_row(*attempt, *cause);
    sessions_.at(worker).last = attempt->study;
  }
  // A session that lost its graphics device gets no more trials that need it (R41).
  if (was_live && cause == Cause::device_lost &&
      studies_.at(attempt->study).options.backend == "webgpu") {
    sessions_.at(worker).refused.push_back(attempt->study);
  }
  // The next lease is in the same batch, after the result (R15).
  std::vector<Started> started;
  if (next) started = seek(worker);
  if (was_live) {  // the order of the studies (R31) may be another now, or a ceiling is not reached
    for (const Started& one : pump_all()) started.push_back(one);
  }
  const bool leased = next && std::any_of(started.begin(), started.end(),
                                          [&](const Started& one) { return one.worker == worker; });
  std::string ack;
  bool failed = false;
  if (attempt == nullptr) {
    say_error(worker, "unknown_attempt");
  } else {
    Trial& trial = trial_of(*attempt);
    Study& study = studies_.at(attempt->study);
    if (!attempt->verdict && cause) {
      attempt->verdict = protocol::Verdict::recorded;
      if (was_live) {
        attempt->state = AttemptState::failed;
        // The checkpoint may have caused the failure, so the trial begins again without it (R38).
        if (attempt->from && (*cause == Cause::user_error || *cause == Cause::invalid)) {
          trial.saved.reset();
          requeue(attempt->study, attempt->trial, 0);
        } else {
          failed = count_failure(*attempt, *cause, code);
        }
      }
    } else if (!attempt->verdict && !trial.accepted && !attempt->rejected &&
               trial.failure_code != storage::kResultRejected &&
               study.state == StudyState::running) {
      attempt->verdict = protocol::Verdict::accepted;
      attempt->counted.reset();  // its row has no failure any more
      attempt->state = AttemptState::accepted;
      trial.accepted = id;
      trial.state = TrialState::complete;
      trial.failure_code.clear();
      trial.saved.reset();
      study.succeeded = true;
      study.alike.clear();
      judge_success(*attempt);
      if (was_live && !study.asked()) {
        judge_value(*attempt, *value);
      } else {
        end_probe(study, attempt->trial);
      }
      if (study.asked()) tell_outcome(*attempt, led || !was_live);
      if (was_live) {
        learn_run(study.speeds[""], now_ - attempt->leased);
        learn_run(study.speeds[class_of(attempt->device)], now_ - attempt->leased);
        learn_points(study, *attempt);
      }
      finish_trial(attempt->study, attempt->trial);
    } else if (!attempt->verdict) {
      attempt->verdict = protocol::Verdict::evidence;
      attempt->counted.reset();
      attempt->state = AttemptState::evidence;
    }
    ack = "result_ack " + number(id) + ' ' + std::string(protocol::name_of(*attempt->verdict));
  }
  if (!leased && !ack.empty()) say(worker, std::exchange(ack, {}));
  deliver(started, worker, ack);
  if (next && !leased) ask(worker);
  // The trial's final failure is committed in a batch of its own, after the result's.
  if (failed) finish_trial(attempt->study, attempt->trial);
}

void Reference::end(Attempt& attempt, AttemptState state) {
  settle(attempt);
  attempt.state = state;
  drop_waiter(attempt);
  std::erase(open_of(attempt.device), attempt.id);
}

void Reference::let_go(Attempt& attempt, AttemptState state) {
  end(attempt, state);
  requeue(attempt.study, attempt.trial, 0);
}

void Reference::requeue(Id study, Id id, Millis delay) {
  Study& one = studies_.at(study);
  Trial& trial = one.trials.at(id);
  if (one.state != StudyState::running || trial.state != TrialState::running) return;
  for (const auto& [other, attempt] : attempts_) {  // another attempt of the trial continues
    if (attempt.study == study && attempt.trial == id && attempt.state == AttemptState::live) {
      if (one.asked()) follow_lead(study, id);
      return;
    }
  }
  if (delay == 0) {
    one.queue.push_back(id);
  } else {
    trial.due = now_ + delay;
  }
}

bool Reference::count_failure(const Attempt& attempt, Cause cause, const std::string& code) {
  Trial& trial = trial_of(attempt);
  attempts_.at(attempt.id).counted = cause;
  attempts_.at(attempt.id).failure_code = code;
  if (trial.state != TrialState::running) return false;  // two attempts failed at the same moment
  if (code == kValueOutOfRange || code == storage::kNoPoints) {
    const bool is_odd = code == kValueOutOfRange;
    if (!is_odd || ++trial.odd_values == 1) {
      if (!trial.excludes(attempt.device) && has_other_device(attempt.study, attempt.device))
        trial.odd_device = attempt.device;
      requeue(attempt.study, attempt.trial, 0);
      if (is_odd) judge_failure(attempt);
      return false;
    }
    fail_trial(attempt.study, attempt.trial, cause, code, attempt.device);
    judge_failure(attempt);
    return true;
  }
  const auto index = static_cast<std::size_t>(cause);
  const int nth = ++trial.failures[index];
  if (cause == Cause::worker_lost) trial.lost_with.insert(attempt.device);
  const bool poison = cause == Cause::worker_lost && trial.lost_with.size() >= kPoisonDevices;
  if (!poison && (kBudget[index] == 0 || nth < kBudget[index])) {
    requeue(attempt.study, attempt.trial, back_off(cause, nth));
    judge_failure(attempt);
    return false;
  }
  fail_trial(attempt.study, attempt.trial, cause, poison ? "poison" : code, attempt.device);
  judge_failure(attempt);
  return true;
}

void Reference::fail_trial(Id study_id, Id number, Cause cause, const std::string& code,
                           const std::string& device) {
  Study& study = studies_.at(study_id);
  Trial& trial = study.trials.at(number);
  trial.state = TrialState::failed;
  trial.failure_code = code;
  end_probe(study, number);
  // A study pauses itself if its trials only fail and their failures are alike (R56).
  if (!study.succeeded && study.options.max_failures > 0) {
    const std::string kind = std::string(protocol::name_of(cause)) + ' ' + trial.failure_code;
    std::vector<std::string>& devices = study.alike[kind];
    devices.push_back(device);
    const bool several = std::ranges::count(devices, devices.front()) != std::ssize(devices);
    const bool enough =
        several || study.options.max_failures == 1 || !has_other_device(study_id, device);
    if (std::ssize(devices) >= study.options.max_failures && enough && !study.paused) {
      study.paused = true;
      study.stopped_by = number;
    }
  }
  if (study.asked())
    tell(study, "finished t" + std::to_string(number) + " failed " + trial.failure_code);
}

void Reference::finish_trial(Id study, Id id) {
  Study& one = studies_.at(study);
  one.trials.at(id).due.reset();
  std::erase(one.queue, id);
  changed_.insert(study);
  refuse_questions(one, id);
  withdraw(study, id, "superseded");
  end_if_finished(study);
}

// Revokes the live attempts of a trial, or of the whole study.
void Reference::withdraw(Id study, std::optional<Id> trial, const std::string& code) {
  for (auto& [id, attempt] : attempts_) {
    const bool meant = attempt.study == study && (!trial || attempt.trial == *trial);
    if (!meant || attempt.state != AttemptState::live) continue;
    if (undelivered_.contains(id) || late_.contains(id)) continue;
    say(attempt.device, "revoke " + number(id) + ' ' + code);
    end(attempt, AttemptState::revoked);
  }
}

// ---- measured durations of a study (R23, R36)

void Reference::learn_run(Speed& speed, Millis run) {
  speed.run = speed.runs == 0 ? run : speed.run + (run - speed.run) / 4;
  ++speed.runs;
}

Millis Reference::patience(const Attempt& attempt) {
  const Speed& known = speed(attempt);
  if (known.moves < 5) return 3'600'000;
  return std::min<Millis>(3'600'000, std::max<Millis>(120'000, 20 * known.gap));
}

// ---- time

void Reference::touch_running(Attempt& attempt) {
  if (attempt.state != AttemptState::live) return;
  if (!attempt.began) attempt.began = now_;
  attempt.progressed = now_;
  touch(attempt);
}

std::pair<Instant, std::string> Reference::deadline(const Attempt& attempt) const {
  const StudyOptions& study = studies_.at(attempt.study).options;
  std::pair<Instant, std::string> first{attempt.seen + settings_.lease_ms, "lease_expired"};
  const auto also = [&first](Instant at, const char* rule) {
    if (at < first.first) first = {at, rule};
  };
  if (!attempt.began) also(attempt.leased + settings_.loading_ms, "loading_timeout");
  const Millis most = time_limit(studies_.at(attempt.study));
  if (attempt.began && most > 0) also(*attempt.began + most, "time_limit");
  if (study.stall_ms > 0 && attempt.pulse == PulseState::running)
    also(attempt.progressed + study.stall_ms, "stalled");
  if (study.stall_ms == 0 && attempt.pulse == PulseState::running)
    also(attempt.progressed + attempt.patience, "stalled");
  return first;
}

Said Reference::after(Millis ms) {
  begin();
  const Instant last = now_ + ms;
  while (true) {
    std::optional<Instant> due;
    std::vector<std::pair<Instant, Id>> late;
    for (const auto& [id, attempt] : attempts_) {
      if (attempt.state != AttemptState::live) continue;
      late.emplace_back(deadline(attempt).first, id);
      due = std::min(due.value_or(last), late.back().first);
    }
    for (const auto& [id, study] : studies_) {
      for (const auto& [number, trial] : study.trials) {
        if (trial.due) due = std::min(due.value_or(last), *trial.due);
      }
      for (const auto& [number, question] : study.questions) {
        if (const auto at = silence(study, question)) due = std::min(due.value_or(last), *at);
      }
    }
    if (!due || *due > last) break;
    now_ = std::max(now_, *due);
    bool any = false;
    std::sort(late.begin(), late.end());
    for (const auto& [at, id] : late) {
      if (at <= now_) late_.insert(id);
    }
    for (const auto& [at, id] : late) {
      if (at > now_) break;
      any = true;
      late_.erase(id);
      overdue(attempts_.at(id), deadline(attempts_.at(id)).second);
    }
    std::vector<std::pair<Instant, std::pair<Id, Id>>> back;
    for (const auto& [id, study] : studies_) {
      for (const auto& [number, trial] : study.trials) {
        if (trial.due && *trial.due <= now_) back.push_back({*trial.due, {id, number}});
      }
    }
    std::sort(back.begin(), back.end());
    for (const auto& [at, key] : back) {
      any = true;
      studies_.at(key.first).trials.at(key.second).due.reset();
      studies_.at(key.first).queue.push_back(key.second);
    }
    for (auto& [id, study] : studies_) {
      std::vector<Id> over;
      for (const auto& [number, question] : study.questions) {
        if (silence(study, question).value_or(now_ + 1) <= now_) over.push_back(number);
      }
      for (const Id number : over) {
        any = true;
        tell_waiters(study.questions.at(number), "error no_owner");
        study.questions.erase(number);
      }
    }
    finish_event();
    if (!any) break;
  }
  now_ = last;
  return done();
}

void Reference::overdue(Attempt& attempt, const std::string& rule) {
  if (rule == "lease_expired") {
    end(attempt, AttemptState::expired);
    if (count_failure(attempt, Cause::worker_lost, rule))
      finish_trial(attempt.study, attempt.trial);
    return;
  }
  say(attempt.device,
      "revoke " + number(attempt.id) + (rule == "stalled" ? " stalled" : " timeout"));
  end(attempt, AttemptState::failed);
  if (rule == "stalled") {
    Speed& known = speed(attempt);
    known.gap = std::max(known.gap, (now_ - attempt.progressed) / 4);
  }
  const bool learnt = rule == "stalled" && studies_.at(attempt.study).options.stall_ms == 0;
  if (!learnt) count_in_row(attempt, Cause::timeout);
  if (count_failure(attempt, learnt ? Cause::worker_lost : Cause::timeout, rule))
    finish_trial(attempt.study, attempt.trial);
}

}  // namespace hyperflock::dispatch
