// Handles the messages of devices (R11 to R16, R20, R23, R27).
#include <algorithm>
#include <utility>

#include "dispatch/state.h"

namespace hyperflock::dispatch {

namespace {

template <typename Message>
std::optional<std::int64_t> call_id(const Message& message) {
  if constexpr (requires { message.id; }) return message.id;
  return std::nullopt;
}

// A complete result has one value for each direction. Any other number is a failure (R49).
void check_values(const protocol::StudySpec& spec, protocol::TrialResult& result) {
  if (result.outcome != protocol::Outcome::complete) return;
  if (result.values.size() == spec.directions.size()) return;
  result.failure = protocol::Failure{protocol::Cause::invalid, "values_count",
                                     "The objective gave " + std::to_string(result.values.size()) +
                                         " values where the study has " +
                                         std::to_string(spec.directions.size()) +
                                         " directions: return one for each.",
                                     ""};
  result.outcome = protocol::Outcome::failed;
  result.values.clear();
}

// Returns whether the code is that of a result which the server does not believe (R73, R74).
bool is_suspicion(std::string_view code) {
  return code == protocol::kValueOutOfRange || code == storage::kNoPoints;
}

// A value outside of the study's range is a failure (R73).
void check_range(const protocol::StudySpec& spec, protocol::TrialResult& result) {
  if (auto failure = protocol::out_of_range(spec, result)) {
    result.failure = std::move(failure);
    result.outcome = protocol::Outcome::failed;
  }
}

}  // namespace

void Session::refuse(StudyId study) {
  if (std::find(cannot_run.begin(), cannot_run.end(), study) != cannot_run.end()) return;
  if (cannot_run.size() == kMaxRefusedStudies) cannot_run.erase(cannot_run.begin());
  cannot_run.push_back(study);
}

void State::on(const MessageReceived& event) {
  const auto found = sessions.find(event.session);
  if (found == sessions.end()) return;  // closed meanwhile
  Session& session = found->second;
  std::visit(
      [&](const auto& message) {
        if constexpr (requires { message.attempt; }) {  // only messages that propose a transition
          if (session.pending >= kMaxPending) {
            return send_error(event.session, "rate_limited", message.attempt, call_id(message));
          }
        }
        if constexpr (requires { on_message(event.session, session, message); }) {
          on_message(event.session, session, message);
        } else {
          // The session handles hello and watch itself. All other types are unknown.
          send_error(event.session, "unknown_type", {});
        }
      },
      event.message);
}

void State::on_message(SessionId id, Session& session, const protocol::Ready&) {
  if (!has_room(session)) return send_error(id, "too_many_leases", {});
  ask(id);
}

void State::on_message(SessionId id, Session& session, const protocol::Heartbeat& message) {
  for (const protocol::Pulse& pulse : message.attempts) {
    // Attempts that are not live are skipped: another message tells the device that they have
    // ended.
    Attempt* attempt = find_live(pulse.attempt, session.device);
    if (attempt == nullptr) continue;
    const bool starts_running = pulse.state == protocol::PulseState::running &&
                                attempt->pulse != protocol::PulseState::running;
    const bool moved = pulse.progress != attempt->progress;
    if (moved && pulse.state == protocol::PulseState::running && !starts_running)
      learn_gap(stats_of(*attempt), now - attempt->progressed);
    if (moved || starts_running) attempt->progressed = now;
    attempt->progress = pulse.progress;
    attempt->pulse = pulse.state;
    if (pulse.state != protocol::PulseState::loading && !attempt->began) attempt->began = now;
    touch(pulse.attempt, *attempt);
  }
  send(id, protocol::Ack{});
}

bool State::refuse_foreign(SessionId id, const Session& session, AttemptId attempt,
                           std::optional<std::int64_t> call) {
  const auto found = attempts.find(attempt);
  // An attempt that is not in memory may have ended (R12). Then storage checks whether the attempt
  // belongs to this device.
  if (found == attempts.end() || find_live(attempt, session.device) != nullptr) return false;
  send_error(id, "unknown_attempt", attempt, call);
  return true;
}

void State::on_message(SessionId id, Session& session, const protocol::Report& message) {
  if (refuse_foreign(id, session, message.attempt)) return;
  const bool is_empty = message.points.empty() && !message.series;
  Attempt* attempt = find_live(message.attempt, session.device);
  if (attempt != nullptr) {
    touch_running(message.attempt, *attempt);
    if (!message.points.empty()) attempt->reported = true;  // also if there is no room for them
    if (is_empty) return send(id, protocol::Ack{message.attempt, message.seq});
  }
  if (!disk_has_room && !is_empty) {
    // The acknowledgement keeps the device from sending the report again.
    send_error(id, "no_room", message.attempt);
    return send(id, protocol::Ack{message.attempt, message.seq});
  }
  if (attempt != nullptr) {
    if (!message.points.empty() && studies.at(attempt->trial.study).asked) {
      propose_for(id,
                  storage::AppendPoints{message.attempt, session.device, message.points,
                                        message.seq, message.series},
                  PendingPoints{id, message.attempt, message.seq, message.points});
      return;
    }
  }
  propose_for(id,
              storage::AppendPoints{message.attempt, session.device, message.points, message.seq,
                                    message.series},
              PendingAck{id, message.attempt, message.seq});
}

void State::on_message(SessionId id, Session& session, const protocol::Call& message) {
  if (message.method != "should_prune" && message.method != "suggest")
    return send_error(id, "unknown_method", message.attempt, message.id);
  if (refuse_foreign(id, session, message.attempt, message.id)) return;
  if (Attempt* attempt = find_live(message.attempt, session.device)) {
    touch_running(message.attempt, *attempt);
    if (!message.points.empty()) attempt->reported = true;
    if (message.points.empty() || !disk_has_room) return carry(id, message, {});
  }
  // While the disk is full, no point is stored, but the outcome says whether the attempt is this
  // device's.
  storage::AppendPoints append{message.attempt, session.device, message.points};
  if (!disk_has_room) append.points.clear();
  propose_for(id, std::move(append), PendingCall{id, message});
}

void State::on_message(SessionId id, Session& session, const protocol::TrialResult& message) {
  if (refuse_foreign(id, session, message.attempt)) return;
  PendingResult what{.session = id,
                     .device = session.device,
                     .attempt = message.attempt,
                     .seq = message.seq,
                     .next = message.next,
                     .trial = {},
                     .device_class = {},
                     .run_ms = 0,
                     .resumed = false,
                     .failure = message.failure,
                     .start = {}};
  protocol::TrialResult result = message;
  // The field `software` of a stored result names the server that took the result, and then the
  // device's software (R52).
  result.software = "hyperflock-server/" + settings.server_version;
  if (!message.software.empty()) result.software += " " + message.software;
  // Only the server itself gives a failure such a code.
  if (result.failure && is_suspicion(result.failure->code))
    result.failure->code = protocol::name_of(result.failure->cause);
  if (const Attempt* attempt = find_live(message.attempt, session.device)) {
    const Study& study = studies.at(attempt->trial.study);
    if (study.asked) check_values(study.spec, result);
    check_range(study.spec, result);
    std::optional<bool> reported = attempt->reported;
    if (!message.points.empty()) {
      reported = true;
    } else if (attempt->from && reported == false) {
      reported.reset();  // the attempt that saved the checkpoint may have reported all of them
    }
    check_points(*attempt, reported, result);
    if (result.outcome == protocol::Outcome::complete) what.reported = reported;
    what.failure = result.failure;
    if (study.asked) {
      what.led = find_trial(attempt->trial)->open.front() == message.attempt;
      if (attempt->from) what.from_step = attempt->from->step;
      if (!what.led) what.points_before = attempt->points;
    }
    what.trial = attempt->trial;
    what.device_class = attempt->device_class;
    what.run_ms = now - attempt->loading_since;
    what.resumed = attempt->from.has_value();
    // A device that can no longer open its graphics device must not fail a whole study (R41).
    if (message.failure && message.failure->cause == protocol::Cause::device_lost &&
        protocol::needs_graphics(studies.at(what.trial->study).spec)) {
      session.refuse(what.trial->study);
      note_missing_device(session.project);
    }
    drop_attempt(message.attempt);
    if (!what.failure) {
      Study& of_result = studies.at(what.trial->study);
      end_rows(of_result, session.device);
      if (result.outcome == protocol::Outcome::complete && !of_result.asked) {
        what.values = result.values;
        count_values(of_result, session.device, what.values);
      }
    } else if (what.failure->code != storage::kNoPoints) {  // it may be the trial, not the device
      count_in_row(studies.at(what.trial->study), what.trial->number, session.device,
                   what.failure->cause);
    }
    session.last = what.trial;
    ++find_trial(*what.trial)->storing;
  }
  if (!what.trial || studies.at(what.trial->study).asked) what.result = result;
  const bool is_live = what.trial.has_value();
  const TransitionId stored = propose_for(
      id, storage::StoreResult{session.device, std::move(result), is_live}, std::move(what));
  // The next lease is committed in the same batch as the result (R15).
  if (message.next) std::get<PendingResult>(pending.at(stored)).start = seek(id);
}

void State::on_message(SessionId, Session& session, const protocol::Output& message) {
  // Lines of an attempt that is not live are dropped: another message tells the device that the
  // attempt has ended.
  const Attempt* attempt = find_live(message.attempt, session.device);
  if (attempt == nullptr) return;
  effects.emplace_back(
      Printed{attempt->trial, message.attempt, message.lines, message.dropped, session.device});
}

void State::on_message(SessionId id, Session& session, const protocol::Release& message) {
  if (refuse_foreign(id, session, message.attempt)) return;
  const Attempt* attempt = find_live(message.attempt, session.device);
  if (attempt == nullptr) {
    // The attempt has ended. An AppendPoints without points stores nothing, but its outcome says
    // whether the attempt belonged to this device (R16).
    propose_for(id, storage::AppendPoints{message.attempt, session.device, {}},
                PendingAck{id, message.attempt, message.seq});
    return;
  }
  const TrialKey trial = attempt->trial;
  if (message.reason == protocol::ReleaseReason::cannot_run) {
    session.refuse(trial.study);
    note_missing_device(session.project);
  }
  propose_for(id,
              storage::EndAttempt{
                  message.attempt, storage::AttemptState::released, {}, times_of(*attempt, now)},
              PendingAck{id, message.attempt, message.seq});
  drop_attempt(message.attempt);
  requeue(trial, 0);
}

}  // namespace hyperflock::dispatch
