// Owners of ask-and-tell studies in the reference model (R42 to R51); see reference.h. Each item
// for an owner is one line. The model does not say how items are put into batches.
#include <algorithm>

#include "dispatch/model/reference.h"

namespace hyperflock::dispatch {

using storage::AttemptState;
using storage::StudyState;
using storage::TrialState;

namespace {

std::string of(const Reference::Attempt& attempt) {
  return " t" + std::to_string(attempt.trial) + ' ' + number(attempt.id);
}

}  // namespace

const Reference::Study* Reference::owned_by(const std::string& owner) const {
  for (const auto& [id, study] : studies_) {
    if (!owner.empty() && study.owner == owner) return &study;
  }
  return nullptr;
}

void Reference::tell(const Study& study, const std::string& what) {
  if (!study.owner.empty()) said_.push_back(study.owner + " < " + what);
}

// ---- who owns a study

Said Reference::claim(const std::string& owner, Id study, bool standby) {
  begin();
  owners_.insert(owner);
  const auto found = studies_.find(study);
  if (found == studies_.end() || !found->second.asked()) {
    said_.push_back(owner + " < error not_asked");
    return done();
  }
  claims_.push_back({owner, study, standby});
  if (standby && !found->second.owner.empty()) {
    said_.push_back(owner + " < stand by");
  } else {
    take_over(claims_.back());
  }
  finish_event();
  return done();
}

void Reference::take_over(const Claim& claim) {
  const Claim mine = claim;
  Study& study = studies_.at(mine.study);
  if (study.state == StudyState::cancelled) {
    said_.push_back(mine.owner + " < error study_cancelled");
    std::erase_if(claims_, [&](const Claim& one) { return one.owner == mine.owner; });
    return promote(mine.study);
  }
  if (study.state == StudyState::finished) {
    study.alike.clear();  // failures count anew
    begin_to_run(mine.study);
  }
  study.state = StudyState::running;
  changed_.insert(mine.study);
  if (!study.owner.empty()) {
    const std::string former = study.owner;
    const auto old = std::find_if(claims_.begin(), claims_.end(),
                                  [&](const Claim& one) { return one.owner == former; });
    detach(study);
    if (old->standby) {
      said_.push_back(former + " < stand by");
    } else {
      said_.push_back(former + " closed 4005 replaced");
      owners_.erase(former);
      claims_.erase(old);
    }
  }
  study.owner = mine.owner;
  study.finish = false;
  tell(study, "generation " + std::to_string(++study.generation));
  for (auto& [id, trial] : study.trials) {
    if (!trial.lead || trial.state != TrialState::running) continue;
    const Attempt& lead = attempts_.at(*trial.lead);
    if (lead.state != AttemptState::live) continue;
    if (trial.superseded) tell(study, "resumed" + of(lead) + (lead.from ? " 1" : ""));
    tell_curve(study, lead, "points t" + std::to_string(id));
  }
  for (const auto& [id, question] : study.questions) tell_question(study, id);
}

void Reference::detach(Study& study) {
  study.owner.clear();
  study.away = now_;
  study.room = study.waiting = 0;
}

void Reference::promote(Id study) {
  if (!studies_.at(study).owner.empty()) return;
  for (const Claim& claim : claims_) {
    if (claim.study == study && claim.standby) return take_over(claim);
  }
}

Said Reference::leave(const std::string& owner) {
  begin();
  owners_.erase(owner);
  const auto found = std::find_if(claims_.begin(), claims_.end(),
                                  [&](const Claim& one) { return one.owner == owner; });
  if (found == claims_.end()) return done();
  const Id id = found->study;
  claims_.erase(found);
  if (studies_.at(id).owner == owner) detach(studies_.at(id));
  promote(id);
  finish_event();
  return done();
}

void Reference::end_claims(Id study, const std::string& code) {
  detach(studies_.at(study));
  for (const Claim& claim : claims_) {
    if (claim.study == study) said_.push_back(claim.owner + " < error " + code);
  }
  std::erase_if(claims_, [study](const Claim& one) { return one.study == study; });
}

// ---- replies of an owner

Said Reference::says(const std::string& owner, const protocol::OwnerReply& reply) {
  begin();
  auto found = studies_.begin();
  while (found != studies_.end() && found->second.owner != owner) ++found;
  if (found == studies_.end()) {
    said_.push_back(owner + " < error not_owner");
    return done();
  }
  Study& study = found->second;
  study.room = reply.room;
  for (const protocol::OwnerAnswer& given : reply.answers) {
    const auto asked = study.questions.find(given.id);
    if (asked == study.questions.end()) continue;
    const Question question = asked->second;
    std::string text = "reply " + given.value;
    if (question.name.empty()) text = given.value == "true" ? "reply prune" : "reply go on";
    if (!given.code.empty()) text = "error owner_error";
    study.questions.erase(asked);
    if (given.code.empty() && !question.name.empty()) {
      study.trials.at(question.trial)
          .log.push_back({question.name, question.distribution, given.value});
      changed_.insert(found->first);
    }
    tell_waiters(question, text);
  }
  const bool stopped = study.finish;
  if (stopped && !reply.asked.empty()) tell(study, "error study_stopped");
  const bool takes_trials = !stopped && disk_has_room_;
  if (!stopped && !disk_has_room_ && !reply.asked.empty()) tell(study, "error no_room");
  study.finish = reply.finish || (study.finish && study.room == 0);
  // If the owner now accepts requests for fewer trials than before, some workers need not wait for
  // the owner any more. They get other work before the trials of this reply are written.
  if (takes_trials && !reply.asked.empty()) {
    study.uncommitted_asks = static_cast<Id>(reply.asked.size());
    finish_event();
    study.uncommitted_asks = 0;
  }
  for (const protocol::AskedTrial& one : reply.asked) {
    if (!takes_trials) break;
    changed_.insert(found->first);
    const Id trial = to_int(one.trial);
    if (study.trials.contains(trial)) {
      tell(study, "error trial_exists t" + std::to_string(trial));
      continue;
    }
    study.trials[trial];
    study.fresh.push_back(trial);
  }
  end_if_finished(found->first);
  finish_event();
  return done();
}

// ---- curves

bool Reference::keep_point(Attempt& attempt, Id step) {
  const bool is_new = attempt.steps.insert(step).second;
  if (!is_new || attempt.state != AttemptState::live) return false;
  attempt.curve.push_back(step);
  return true;
}

bool Reference::leads(const Attempt& attempt) const {
  const Trial& trial = studies_.at(attempt.study).trials.at(attempt.trial);
  return attempt.state == AttemptState::live && trial.lead == attempt.id;
}

void Reference::tell_curve(const Study& study, const Attempt& attempt, const std::string& how) {
  if (!study.asked() || !leads(attempt) || attempt.curve.empty()) return;
  std::string text = how + ' ' + number(attempt.id);
  for (const Id step : attempt.curve) text += ' ' + std::to_string(step);
  tell(study, text);
}

void Reference::follow_lead(Id study, Id id) {
  Study& one = studies_.at(study);
  Trial& trial = one.trials.at(id);
  for (const auto& [other, attempt] : attempts_) {
    if (attempt.study != study || attempt.trial != id || attempt.state != AttemptState::live)
      continue;
    if (undelivered_.contains(other) || trial.lead == other) return;
    trial.superseded |= trial.lead.has_value() || trial.ran;
    trial.lead = other;
    if (trial.superseded) tell(one, "resumed" + of(attempt) + (attempt.from ? " 1" : ""));
    tell_curve(one, attempt, "points t" + std::to_string(id));
    return;
  }
}

void Reference::tell_outcome(const Attempt& attempt, bool led) {
  const Study& study = studies_.at(attempt.study);
  if (!led) {
    tell(study, "resumed" + of(attempt) + (attempt.from ? " 1" : ""));
    std::string text = "points" + of(attempt);
    for (const Id step : attempt.curve) text += ' ' + std::to_string(step);
    if (!attempt.curve.empty()) tell(study, text);
  }
  tell(study, "finished t" + std::to_string(attempt.trial) + " complete");
}

// ---- questions

Said Reference::suggest(const std::string& worker, Id id, const std::string& name,
                        const std::string& distribution) {
  begin();
  Attempt* attempt = own(worker, id);
  if (attempt == nullptr) {
    say_error(worker, "unknown_attempt");
    return done();
  }
  touch_running(*attempt);
  Study& study = studies_.at(attempt->study);
  Trial& trial = trial_of(*attempt);
  if (study.state != StudyState::running || !study.asked()) {
    say_error(worker, study.state != StudyState::running ? "study_stopped" : "unknown_method");
    return done();
  }
  if (trial.state != TrialState::running) {
    say_error(worker, "study_stopped");
    return done();
  }
  for (const auto& [known, with, value] : trial.log) {
    if (known != name) continue;
    if (with == distribution) {
      say(worker, "reply " + value);
    } else {
      say_error(worker, "suggest_mismatch");
    }
    return done();
  }
  if (attempt->state != AttemptState::live) {
    say_error(worker, "unknown_attempt");
    return done();
  }
  for (auto& [other, question] : study.questions) {
    if (question.trial != attempt->trial || question.name != name) continue;
    if (question.distribution == distribution) {
      question.waiters.push_back({worker, id, sessions_.at(worker).number});
    } else {
      say_error(worker, "suggest_mismatch");
    }
    return done();
  }
  const Id question = next_question_;
  ask_owner(
      study,
      {attempt->trial, id, name, distribution, now_, {{worker, id, sessions_.at(worker).number}}});
  tell_question(study, question);
  return done();
}

void Reference::ask_owner(Study& study, Question question) {
  study.questions[next_question_++] = std::move(question);
}

void Reference::tell_question(const Study& study, Id id) {
  const Question& one = study.questions.at(id);
  std::string text = one.name.empty() ? "prune " : "suggest ";
  text += std::to_string(id) + " t" + std::to_string(one.trial) + ' ' + number(one.attempt);
  tell(study, one.name.empty() ? text : text + ' ' + one.name);
}

void Reference::refuse_questions(Study& study, Id trial) {
  std::erase_if(study.questions, [&](const auto& one) {
    if (one.second.trial != trial) return false;
    tell_waiters(one.second, "error study_stopped");
    return true;
  });
}

// Answers the devices that wait for the question. A device that has reconnected since its call will
// ask again.
void Reference::tell_waiters(const Question& question, const std::string& what) {
  for (const Waiter& one : question.waiters) {
    if (connected(one.worker) && sessions_.at(one.worker).number == one.session)
      say(one.worker, what);
  }
}

void Reference::drop_waiter(const Attempt& attempt) {
  Study& study = studies_.at(attempt.study);
  for (auto& [id, question] : study.questions) {
    std::erase_if(question.waiters,
                  [&](const Waiter& waiter) { return waiter.attempt == attempt.id; });
  }
  std::erase_if(study.questions, [&](const auto& one) {
    return one.second.name.empty() && one.second.attempt == attempt.id;
  });
}

std::optional<Instant> Reference::silence(const Study& study, const Question& question) const {
  if (study.state != StudyState::running || !study.owner.empty()) return std::nullopt;
  return std::max(question.since, study.away) + settings_.call_ms;
}

std::string Reference::log_text(const Trial& trial) const {
  if (trial.log.empty()) return "";
  std::string text = " with {";
  for (const auto& [name, distribution, value] : trial.log) {
    if (text.back() != '{') text += ',';
    text += '"' + name + "\":" + value;
  }
  return text + '}';
}

}  // namespace hyperflock::dispatch
