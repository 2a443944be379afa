// The reference model: sessions, studies, leasing and restarts. See reference.h.
#include "dispatch/model/reference.h"

#include <algorithm>

namespace hyperflock::dispatch {

using protocol::PulseState;
using storage::AttemptState;
using storage::StudyState;
using storage::TrialState;

// ---- sessions

Said Reference::open(const std::string& worker, const std::vector<AttemptId>& held,
                     const std::string& project) {
  begin();
  if (connected(worker)) {
    said_.push_back("former " + worker + " closed 4001 replaced");
    sessions_.erase(worker);
    std::erase(idle_, worker);
  }
  if (revoked_.contains(worker)) {
    said_.push_back(worker + " closed 4003 device_revoked");
    return done();
  }
  sessions_[worker] = {project, {}, next_session_++};
  std::string welcome = "welcome";
  for (const Id id : std::vector<Id>(open_of(worker))) {
    Attempt& attempt = attempts_.at(id);
    if (std::find(held.begin(), held.end(), AttemptId{id}) == held.end()) {
      let_go(attempt, AttemptState::released);
    } else {
      touch(attempt);
      welcome += ' ' + number(id);
    }
  }
  say(worker, welcome);
  finish_event();
  return done();
}

Said Reference::close(const std::string& worker, SessionClosed::How how) {
  begin();
  sessions_.erase(worker);
  std::erase(idle_, worker);
  if (how == SessionClosed::How::clean) {
    for (const Id id : std::vector<Id>(open_of(worker)))
      let_go(attempts_.at(id), AttemptState::released);
  }
  finish_event();
  return done();
}

Said Reference::revoke_device(const std::string& worker) {
  begin();
  revoked_.insert(worker);
  for (const Id id : std::vector<Id>(open_of(worker))) {
    say(worker, "revoke " + number(id) + " device_revoked");
    let_go(attempts_.at(id), AttemptState::revoked);
  }
  if (connected(worker)) {
    said_.push_back(worker + " closed 4003 device_revoked");
    sessions_.erase(worker);
    std::erase(idle_, worker);
  }
  finish_event();
  return done();
}

Said Reference::drain() {
  begin();
  draining_ = true;
  finish_event();
  return done();
}

Said Reference::room(bool has_room) {
  begin();
  disk_has_room_ = has_room;
  finish_event();
  return done();
}

// ---- studies

Said Reference::submit(const StudyOptions& options) {
  begin();
  const Id id = next_study_++;
  StudyOptions kept = options;
  if (kept.submit_key.empty()) kept.submit_key = "key " + std::to_string(next_key_++);
  for (const auto& [other, study] : studies_) {
    if (study.options.submit_key != kept.submit_key || study.options.owner != kept.owner) continue;
    said_.push_back("answer study " + std::to_string(other) + " again");
    return done();
  }
  studies_[id].options = kept;
  studies_[id].priority = kept.priority;
  studies_[id].awaits_approval = kept.awaits_approval;
  begin_to_run(id);
  changed_.insert(id);
  said_.push_back("answer study " + std::to_string(id));
  finish_event();
  return done();
}

Said Reference::cancel(Id study) {
  begin();
  const auto found = studies_.find(study);
  if (found == studies_.end()) {
    said_.emplace_back("answer unknown_study");
    return done();
  }
  said_.push_back("answer study " + std::to_string(study));
  if (found->second.state != StudyState::running) return done();
  found->second.state = StudyState::cancelled;
  found->second.paused = false;
  found->second.awaits_approval = false;
  found->second.stopped_by.reset();
  found->second.queue.clear();
  for (auto& [id, trial] : found->second.trials) {
    trial.due.reset();
    if (trial.state == TrialState::running) trial.state = TrialState::cancelled;
  }
  changed_.insert(study);
  for (const auto& [id, trial] : found->second.trials) refuse_questions(found->second, id);
  withdraw(study, {}, "cancelled");
  if (found->second.asked()) end_claims(study, "study_cancelled");
  found->second.fresh.clear();
  finish_event();
  return done();
}

Said Reference::pause(Id study, bool paused) {
  begin();
  const auto found = studies_.find(study);
  if (found == studies_.end()) {
    said_.emplace_back("answer unknown_study");
    return done();
  }
  said_.push_back("answer study " + std::to_string(study));
  Study& one = found->second;
  if (one.state != StudyState::running || one.paused == paused) return done();
  one.paused = paused;
  if (!paused) {
    one.alike.clear();
    one.stopped_by.reset();
  }
  changed_.insert(study);
  finish_event();
  return done();
}

Said Reference::prioritize(Id study, Id priority) {
  begin();
  const auto found = studies_.find(study);
  if (found == studies_.end()) {
    said_.emplace_back("answer unknown_study");
    return done();
  }
  said_.push_back("answer study " + std::to_string(study));
  if (std::exchange(found->second.priority, priority) == priority) return done();
  changed_.insert(study);
  finish_event();
  return done();
}

Said Reference::extend(Id study, Id trials, bool awaits_approval) {
  begin();
  const auto found = studies_.find(study);
  const bool known = found != studies_.end();
  if (!known || found->second.asked() || found->second.state == StudyState::cancelled) {
    said_.emplace_back(!known                  ? "answer unknown_study"
                       : found->second.asked() ? "answer not_a_grid"
                                               : "answer study_cancelled");
    return done();
  }
  Study& one = found->second;
  if (trials < one.options.trials) {
    said_.emplace_back("answer space_changed");
    return done();
  }
  said_.push_back("answer study " + std::to_string(study));
  if (trials == one.options.trials) return done();
  one.options.trials = trials;
  one.awaits_approval |= awaits_approval;
  if (one.state == StudyState::finished) {
    one.alike.clear();  // failures count anew
    begin_to_run(study);
  }
  one.state = StudyState::running;
  changed_.insert(study);
  finish_event();
  return done();
}

Said Reference::reissue(Id study, const std::string& code, Scenario::Keeps keeps,
                        bool awaits_approval) {
  begin();
  const auto found = studies_.find(study);
  const bool known = found != studies_.end();
  if (known && found->second.asked()) {
    said_.emplace_back("answer not_a_grid");
    return done();
  }
  if (!known || found->second.state == StudyState::cancelled) {
    said_.emplace_back(known ? "answer study_cancelled" : "answer unknown_study");
    return done();
  }
  const bool any =
      std::any_of(found->second.trials.begin(), found->second.trials.end(),
                  [](const auto& one) { return one.second.state == TrialState::failed; });
  // A reissue may give the study other code only if failed trials can run that code (R64).
  if (!any && !code.empty()) {
    said_.emplace_back("answer no_failed_trial");
    return done();
  }
  said_.push_back("answer study " + std::to_string(study));
  if (any) {
    found->second.awaits_approval |= awaits_approval;
    forget_rows(found->second);
  }
  const bool new_code = !code.empty() && code != found->second.code_name;
  if (new_code) {
    found->second.earlier_codes.insert(found->second.code_name);
    found->second.earlier_codes.erase(code);
    const bool ran = !is_stopped(found->second);
    found->second.code_name = code;
    if (ran && is_stopped(found->second)) stop_attempts(study);
  }
  for (auto& [id, trial] : found->second.trials) {
    if (trial.state != TrialState::failed) continue;
    Trial before = std::exchange(trial, Trial{});
    trial.rejected = std::move(before.rejected);
    for (auto& [attempt_id, attempt] : attempts_) {
      if (attempt.study == study && attempt.trial == id) attempt.counted.reset();
    }
    found->second.alike.clear();
    found->second.stopped_by.reset();
    if (found->second.state == StudyState::finished) begin_to_run(study);
    found->second.state = StudyState::running;
    found->second.queue.push_back(id);
    changed_.insert(study);
  }
  if (new_code) {
    ++found->second.code;
    found->second.points = {};
    if (keeps == Scenario::Keeps::nothing) {
      found->second.resumable = found->second.code;
      for (auto& [id, trial] : found->second.trials) trial.saved.reset();
    }
  }
  finish_event();
  return done();
}

// Deletes a study. A later message that names it gets the answer for an unknown study (R55).
Said Reference::remove(Id study) {
  begin();
  const auto found = studies_.find(study);
  if (found == studies_.end()) return {"unknown_study"};
  if (found->second.state == StudyState::running) return {"study_running"};
  least_study_ = std::max(least_study_, studies_.rbegin()->first + 1);
  if (!attempts_.empty()) least_attempt_ = std::max(least_attempt_, attempts_.rbegin()->first + 1);
  std::erase_if(attempts_, [study](const auto& one) { return one.second.study == study; });
  studies_.erase(found);
  return {"deleted"};
}

void Reference::end_if_finished(Id study) {
  Study& one = studies_.at(study);
  if (one.state != StudyState::running) return;
  if (std::ranges::count(probing_, study, &Probe::study) > 0) return;
  if (one.asked() ? !one.finish || one.room > 0 : one.next < one.options.trials) return;
  for (const auto& [id, trial] : one.trials) {
    if (trial.state == TrialState::running) return;
  }
  one.state = StudyState::finished;
  one.paused = false;
  one.awaits_approval = false;
  one.stopped_by.reset();
  one.speeds.clear();
  for (auto& [id, trial] : one.trials) trial.saved.reset();
  changed_.insert(study);
  if (one.asked()) end_claims(study, "study_stopped");
}

// ---- who gets which trial

bool Reference::has_work(const Study& study) const {
  if (study.state != StudyState::running || is_held(study)) return false;
  if (study.asked()) return !study.owner.empty() && !(study.queue.empty() && study.fresh.empty());
  return !study.queue.empty() || study.next < study.options.trials;
}

bool Reference::has_work_for(const std::string& worker, const Study& study) const {
  if (!has_work(study)) return false;
  if (study.asked() ? !study.fresh.empty() : study.next < study.options.trials) return true;
  return std::ranges::any_of(study.queue,
                             [&](Id id) { return !study.trials.at(id).excludes(worker); });
}

Reference::Id Reference::running_of(Id study) const {
  return std::count_if(attempts_.begin(), attempts_.end(), [study](const auto& one) {
    return one.second.study == study && one.second.state == AttemptState::live;
  });
}

bool Reference::may_run(const std::string& worker, Id study) const {
  const auto& refused = sessions_.at(worker).refused;
  if (std::find(refused.begin(), refused.end(), study) != refused.end()) return false;
  return studies_.at(study).options.backend != "webgpu" || has_webgpu(worker);
}

bool Reference::has_room(const std::string& worker) {
  return open_of(worker).size() < static_cast<std::size_t>(settings_.max_leases);
}

std::vector<Reference::Started> Reference::pump(const std::string& project,
                                                const std::string& asks) {
  std::vector<Started> out;
  for (auto& [id, study] : studies_) {
    if (study.options.project == project) study.waiting = 0;
  }
  std::erase_if(awaiting_, [&](const std::string& worker) {
    return !connected(worker) || sessions_.at(worker).project == project;
  });
  lift_odd_devices(project);
  if (leases_nothing()) return out;
  for (const std::string& worker : std::vector<std::string>(idle_)) {
    const Session& session = sessions_.at(worker);
    if (session.project != project) continue;
    const auto chosen = choose(worker, project, worker == asks ? Turn::asks : Turn::waits);
    if (!chosen) continue;
    Study& study = studies_.at(chosen->study);
    if (!has_work_for(worker, study)) {  // the worker counts as demand for the owner (R45)
      ++study.waiting;
      awaiting_.insert(worker);
      continue;
    }
    out.push_back(start_next(*chosen, worker));
  }
  return out;
}

Reference::Started Reference::start_next(const Chosen& chosen, const std::string& worker) {
  Study& study = studies_.at(chosen.study);
  Id trial = study.next;
  const auto waiting = std::ranges::find_if(
      study.queue, [&](Id id) { return !study.trials.at(id).excludes(worker); });
  if (waiting != study.queue.end()) {
    trial = *waiting;
    study.queue.erase(waiting);
  } else if (study.asked()) {
    trial = study.fresh.front();
    study.fresh.erase(study.fresh.begin());
  } else {
    ++study.next;
  }
  return start(chosen, trial, worker, false);
}

Reference::Started Reference::start(const Chosen& chosen, Id trial, const std::string& worker,
                                    bool again) {
  const Id study = chosen.study;
  std::erase(idle_, worker);
  Attempt attempt;
  attempt.id = next_attempt_++;
  attempt.study = study;
  attempt.trial = trial;
  attempt.again = again;
  attempt.device = worker;
  attempt.from = studies_.at(study).trials[trial].saved;
  attempt.code = studies_.at(study).code;
  attempt.seen = attempt.leased = attempt.progressed = now_;
  attempt.patience = patience(attempt);
  charge(attempt, chosen);
  open_of(worker).push_back(attempt.id);
  undelivered_.insert(attempt.id);
  attempts_[attempt.id] = attempt;
  return {attempt.id, worker};
}

// Returns the usual duration of a run of the study on devices of the same class as `device` (R36).
Millis Reference::usual(const Study& study, const std::string& device) {
  const auto own = study.speeds.find(class_of(device));
  return own != study.speeds.end() && own->second.runs > 0 ? own->second.run
                                                           : study.speeds.at("").run;
}

std::optional<std::pair<Reference::Id, Reference::Id>> Reference::slow_trial(
    const std::string& worker) const {
  std::optional<std::pair<Id, Id>> best;
  Millis farthest = 0;
  const Session& session = sessions_.at(worker);
  for (const auto& [id, study] : studies_) {
    const auto all = study.speeds.find("");
    if (study.options.project != session.project || study.state != StudyState::running) continue;
    if (is_held(study) || is_at_ceiling(study) || has_work(study) || all == study.speeds.end() ||
        all->second.runs < 2)
      continue;
    if (study.asked() && (study.owner.empty() || study.room > 0)) continue;
    if (!may_run(worker, id) || is_barred(id, worker, Turn::asks)) continue;
    for (const auto& [number, trial] : study.trials) {
      if (trial.state != TrialState::running || trial.speculated) continue;
      if (trial.lost_with.contains(worker) || trial.excludes(worker)) continue;
      std::vector<const Attempt*> live;
      for (const auto& [attempt_id, attempt] : attempts_) {
        const bool is_its = attempt.study == id && attempt.trial == number;
        if (is_its && attempt.state == AttemptState::live) live.push_back(&attempt);
      }
      if (live.size() != 1 || live[0]->device == worker || undelivered_.contains(live[0]->id))
        continue;
      const Millis ran = now_ - live[0]->leased;
      const Millis expected = usual(study, live[0]->device);
      const Millis left = ran > expected ? ran : expected - ran;
      if (left <= settings_.min_speculative_ms || left <= usual(study, worker) || left <= farthest)
        continue;
      farthest = left;
      best = {id, number};
    }
  }
  return best;
}

std::vector<Reference::Started> Reference::seek(const std::string& worker) {
  if (!connected(worker) || !has_room(worker)) return {};
  if (std::find(idle_.begin(), idle_.end(), worker) == idle_.end()) {
    idle_.push_back(worker);
    idle_since_[worker] = now_;
  }
  const std::string project = sessions_.at(worker).project;
  std::vector<Started> out = pump(project, worker);
  const bool waits = std::find(idle_.begin(), idle_.end(), worker) != idle_.end();
  const bool held = waits && !leases_nothing() && awaiting_.contains(worker);
  // A worker that has waited for an owner for settings_.hold_ms gets work of another study (R45).
  const bool has_waited = held && now_ - idle_since_.at(worker) >= settings_.hold_ms;
  if (has_waited) {
    if (const auto other = choose(worker, project, Turn::asks, false)) {
      out.push_back(start_next(*other, worker));
      return out;
    }
  }
  if (waits && !leases_nothing() && (!held || has_waited)) {
    if (const auto lent = choose_lent(worker, Turn::asks)) {
      out.push_back(start_next(*lent, worker));
      return out;
    }
  }
  const bool may_duplicate = waits && !leases_nothing() && !awaiting_.contains(worker);
  if (const auto slow = may_duplicate ? slow_trial(worker) : std::nullopt) {
    studies_.at(slow->first).trials.at(slow->second).speculated = true;
    out.push_back(start({.study = slow->first}, slow->second, worker, true));
  }
  return out;
}

void Reference::ask(const std::string& worker) {
  deliver(seek(worker));
  if (std::find(idle_.begin(), idle_.end(), worker) == idle_.end()) return;
  const std::string& project = sessions_.at(worker).project;
  const bool work = std::any_of(studies_.begin(), studies_.end(), [&](const auto& one) {
    return one.second.options.project == project && (has_work(one.second) || wants(one.second));
  });
  const bool none_fits = work && !awaiting_.contains(worker);
  say(worker, draining_         ? "wait draining"
              : !disk_has_room_ ? "wait read_only"
              : none_fits       ? "wait no_matching_work"
                                : "wait no_work");
}

void Reference::deliver(const std::vector<Started>& started, const std::string& worker,
                        std::string ack) {
  for (const auto& [id, to] : started) {
    undelivered_.erase(id);
    const Attempt attempt = attempts_.at(id);
    const bool mine = to == worker && !ack.empty();
    if (trial_of(attempt).state != TrialState::running) {  // A result in the same batch came first.
      std::erase(open_of(to), id);
      settle(attempt);
      attempts_.erase(id);
      if (mine) say(to, std::exchange(ack, {}));
      ask(to);
      continue;
    }
    changed_.insert(attempt.study);
    std::string lease = "lease " + number(id) + " trial " + std::to_string(attempt.trial);
    if (attempt.again) lease += " again";
    if (attempt.from)
      lease += " from " + number(attempt.from->first) + '/' + std::to_string(attempt.from->second);
    touch(attempts_.at(id));
    Study& study = studies_.at(attempt.study);
    if (study.asked()) {
      tell(study, "started t" + std::to_string(attempt.trial) + ' ' + number(id) + " on " + to);
      follow_lead(attempt.study, attempt.trial);
      lease += log_text(study.trials.at(attempt.trial));
    }
    say(to, mine ? std::exchange(ack, {}) + " + " + lease : lease);
  }
  if (!ack.empty()) say(worker, ack);
}

Said Reference::ready(const std::string& worker) {
  begin();
  if (has_room(worker)) {
    ask(worker);
  } else {
    say_error(worker, "too_many_leases");
  }
  finish_event();
  return done();
}

// ---- faults of the server

Said Reference::restart() {
  begin();
  sessions_.clear();
  // The store keeps revoked devices, and it refuses their connections before they reach this model.
  revoked_.clear();
  next_question_ = 1;
  draining_ = false;
  disk_has_room_ = true;
  next_study_ =
      studies_.empty() ? least_study_ : std::max(least_study_, studies_.rbegin()->first + 1);
  next_attempt_ =
      attempts_.empty() ? least_attempt_ : std::max(least_attempt_, attempts_.rbegin()->first + 1);
  reload();
  return done();
}

Said Reference::storage_failed(Id starts, Id submits) {
  begin();
  for (const auto& [worker, session] : sessions_)
    said_.push_back(worker + " closed 1013 storage_unavailable");
  sessions_.clear();
  next_attempt_ += starts;
  next_study_ += submits;
  reload();
  return done();
}

// Loads the state as after a restart: each live attempt gets one full lease of grace (R24), and
// trials without an attempt can be leased at once.
void Reference::reload() {
  idle_.clear();
  awaiting_.clear();
  owners_.clear();
  claims_.clear();
  open_.clear();
  accounts_.clear();
  pools_.clear();
  lent_served_.clear();
  lent_time_ = 0;
  lent_by_guarantee_ = false;
  barred_.clear();
  probing_.clear();
  for (auto& [id, study] : studies_) {
    if (study.state != StudyState::running) continue;
    begin_to_run(id);
    study.queue.clear();
    study.fresh.clear();
    study.questions.clear();
    for (auto& [kind, devices] : study.alike) std::ranges::fill(devices, "");
    study.owner.clear();
    study.away = now_;
    study.room = study.waiting = 0;
    study.finish = false;
    study.speeds.clear();
    study.next = study.trials.empty() ? 0 : study.trials.rbegin()->first + 1;
    study.points = stored_points(study);
    for (auto& [number, trial] : study.trials) {
      trial.due.reset();
      trial.odd_device.clear();
      trial.lead.reset();
      trial.superseded = false;
      trial.ran = false;
      bool live = false;
      for (auto& [attempt_id, attempt] : attempts_) {
        if (attempt.study != id || attempt.trial != number) continue;
        trial.ran = true;
        attempt.curve.clear();
        if (attempt.state != AttemptState::live) continue;
        if (attempt.code < study.code && ran_stopped_code(study)) {
          attempt.state = AttemptState::revoked;
          continue;
        }
        live = true;
        if (!trial.lead) trial.lead = attempt_id;
        attempt.seen = attempt.leased = attempt.progressed = now_;
        attempt.began.reset();
        attempt.reported.reset();
        attempt.progress = 0;
        attempt.patience = patience(attempt);
        attempt.pulse = PulseState::loading;
        open_of(attempt.device).push_back(attempt_id);
        charge_restored(attempt);
      }
      if (live || trial.state != TrialState::running) continue;
      (study.asked() && !trial.ran ? study.fresh : study.queue).push_back(number);
    }
  }
}

void Reference::begin_after(Id studies, Id attempts) {
  first_study_ = least_study_ = next_study_ = studies + 1;
  first_attempt_ = least_attempt_ = next_attempt_ = attempts + 1;
}

// ---- helpers

void Reference::begin() {
  said_.clear();
  changed_.clear();
}

void Reference::finish_event() {
  reject_probes();
  std::vector<Started> started;
  do {
    started = pump_all();
    deliver(started);
  } while (!started.empty());
}

// A lease changes who is next, so that a worker which waited for an owner may get a trial now.
// After each round with leases the first project is therefore next again, and lent workers come
// last.
std::vector<Reference::Started> Reference::pump_all() {
  std::vector<Started> out;
  const auto take = [&out](const std::vector<Started>& more) {
    out.insert(out.end(), more.begin(), more.end());
    return !more.empty();
  };
  bool again = true;
  while (again) {
    const std::set<std::string> projects = all_projects();
    again = std::ranges::any_of(projects,
                                [&](const std::string& project) { return take(pump(project)); }) ||
            take(lend());
  }
  return out;
}

void Reference::say(const std::string& worker, const std::string& what) {
  if (connected(worker)) said_.push_back(worker + " < " + what);
}

void Reference::say_error(const std::string& worker, const std::string& code) {
  say(worker, "error " + code);
}

Reference::Attempt* Reference::own(const std::string& worker, Id attempt) {
  const auto found = attempts_.find(attempt);
  return found == attempts_.end() || found->second.device != worker ? nullptr : &found->second;
}

}  // namespace hyperflock::dispatch
