// Leases trials to workers (R15, R26, R27, R30, R31, R61, R70).
#include <algorithm>

#include "dispatch/state.h"

namespace hyperflock::dispatch {
namespace {

std::string adapter_of(const protocol::Capabilities& device) {
  return device.gpu ? device.gpu->adapter : std::string();
}

// Returns the trial's values by name as JSON text. REQUIRES: `number` is a trial of the study.
std::string params_of(const Study& study, std::int64_t number) {
  if (study.asked) return study.trials.at(number).asked->params;
  return protocol::trial_params(study.spec, number);
}

// Returns whether a study that has no trial to lease still competes for an idle device (R31),
// because its owner has room for more trials and can be asked for one (R45).
bool wants_to_ask(const Study& study) {
  return study.asked && study.asked->owner && !study.ending && !study.is_held() &&
         study.asked->room + study.asked->uncommitted_asks > 0;
}

// Returns the first trial of the queue that the device may get.
std::optional<TrialNumber> next_in_queue(const Study& study, const std::string& device) {
  const auto excluded = study.excluded.find(device);
  if (excluded != study.excluded.end() && excluded->second == study.queue.size())
    return std::nullopt;
  for (const auto& [order, number] : study.queue) {
    if (excluded == study.excluded.end()) return number;
    if (!study.trials.at(to_int(number)).excludes(device)) return number;
  }
  return std::nullopt;
}

}  // namespace

void State::ask(SessionId id, int tries) {
  seek(id, tries);
  const auto found = sessions.find(id);
  if (found == sessions.end()) return;
  // The worker is no longer idle: it got a lease, or it has as many attempts as it may have.
  if (found->second.idle_order == 0) return;
  send(id, protocol::Wait{jitter(settings.wait_ms), wait_reason(found->second)});
}

std::optional<TransitionId> State::seek(SessionId id, int tries) {
  const auto found = sessions.find(id);
  if (found == sessions.end() || !has_room(found->second)) return std::nullopt;
  if (const auto one = erasing.find(found->second.device); one != erasing.end()) {
    one->second = id;
    return std::nullopt;
  }
  join_queue(found->second, id);
  if (tries > kMaxLeaseTries) return std::nullopt;
  Project& project = projects[found->second.project];
  std::optional<TransitionId> started = pump(project, id);
  if (!started) started = start_own(id);
  if (!started) started = start_other(id);
  if (!started) started = start_lent(id);
  if (!started) started = start_speculative(id);
  if (started) std::get<PendingStart>(pending.at(*started)).tries = tries;
  return started;
}

std::optional<TransitionId> State::pump(Project& project, std::optional<SessionId> wanted) {
  std::optional<TransitionId> out;
  lift_odd_devices(project);
  ++project.round;
  for (const StudyId id : project.owned) {  // each round counts the waiting sessions anew (R45)
    studies.at(id).asked->waiting = 0;
    owners_to_flush.insert(id);
  }
  if (leases_nothing()) return out;
  int passed_over = 0;
  auto next = project.idle.begin();
  while (next != project.idle.end() && !project.ranked.empty() && passed_over < kMaxPassedOver) {
    const SessionId id = next->second;
    ++next;
    Session& session = sessions.at(id);
    const Chosen chosen = choose(session.project, session, id == wanted ? Turn::asks : Turn::waits);
    Study* study = chosen.study;
    if (study == nullptr) {
      ++passed_over;
      continue;
    }
    if (!study->has_work_for(
            session.device)) {  // the worker counts as demand for the study's owner
      if (!owner_awaits_result(session, *study)) ++study->asked->waiting;
      session.awaits = project.round;
      continue;
    }
    const TransitionId started = start(chosen, id, session);
    if (id == wanted) out = started;
  }
  return out;
}

std::optional<TransitionId> State::start_own(SessionId id) {
  Session& session = sessions.at(id);
  if (leases_nothing() || session.idle_order == 0 || awaits_owner(session)) return std::nullopt;
  const Chosen chosen = choose(session.project, session, Turn::asks);
  if (chosen.study == nullptr || !chosen.study->has_work_for(session.device)) return std::nullopt;
  return start(chosen, id, session);
}

std::optional<TransitionId> State::start_other(SessionId id) {
  Session& session = sessions.at(id);
  if (leases_nothing() || session.idle_order == 0 || !awaits_owner(session) ||
      now - session.idle_since < settings.hold_ms)
    return std::nullopt;
  const Chosen chosen = choose(session.project, session, Turn::asks, Among::work);
  if (chosen.study == nullptr) return std::nullopt;
  return start(chosen, id, session);
}

void State::join_queue(Session& session, SessionId id) {
  if (session.idle_order != 0) return;  // it is in the queue already
  session.idle_order = next_order++;
  session.idle_since = now;
  Project& project = projects[session.project];
  project.idle.emplace(session.idle_order, id);
  if (!project.owned.empty()) dirty_projects.insert(session.project);
}

void State::leave_queue(Session& session, SessionId) {
  if (session.idle_order == 0) return;
  Project& project = projects[session.project];
  project.idle.erase(session.idle_order);
  session.idle_order = 0;
  session.awaits = 0;
  if (!project.owned.empty()) dirty_projects.insert(session.project);
}

bool State::has_room(const Session& session) {
  const std::vector<AttemptId>& open = devices.at(session.device).open;
  const auto wanted = std::count_if(open.begin(), open.end(),
                                    [&](AttemptId id) { return !attempts.at(id).end_state; });
  return wanted < settings.max_leases;
}

bool State::awaits_owner(const Session& session) {
  return session.awaits != 0 && session.awaits == projects[session.project].round;
}

bool State::owner_awaits_result(const Session& session, const Study& study) {
  if (!session.last || session.last->study != study.id) return false;
  const Trial* trial = find_trial(*session.last);
  return trial != nullptr && (trial->storing > 0 || trial->failing);
}

State::Chosen State::choose(const std::string& name, const Session& session, Turn turn,
                            Among among) {
  Project& project = projects.at(name);
  if (project.ranked.empty()) return {};
  const auto& refused = session.cannot_run;
  const auto admits = [&](const std::string& owner) { return !is_at_ceiling(owner, name); };
  const auto works = [&](StudyId id) { return studies.at(id).has_work_for(session.device); };
  const auto fits = [&](StudyId id) {
    if (std::find(refused.begin(), refused.end(), id) != refused.end()) return false;
    const Study& study = studies.at(id);
    if (is_barred(study, session.device, turn)) return false;
    // A study without a waiting trial is skipped if enough idle workers already wait for the trials
    // that its owner may still add.
    return study.has_work_for(session.device) || (among != Among::work && study.has_room());
  };
  const auto meets = [&](std::size_t number) {
    return protocol::unmet(needs[number], session.capabilities).empty();
  };
  ForDevice device{.now = now};
  if (turn == Turn::asks) device.aging_ms = settings.aging_ms;
  const Study* last = session.last ? find_study(session.last->study) : nullptr;
  if (last != nullptr && last->rank && last->project == name &&
      last->has_work_for(session.device) && meets(last->needs) && fits(last->id))
    device.near.emplace(last->account, *last->rank);
  const Choice next = project.ranked.first(device, meets, admits, fits, works,
                                           [&](StudyId id) { return studies.at(id).since; });
  return {.study = next.study ? find_study(*next.study) : nullptr, .how = next};
}

TransitionId State::start(const Chosen& chosen, SessionId id, Session& session) {
  Study& study = *chosen.study;
  TrialNumber number{study.next_number};
  const std::optional<TrialNumber> waiting = next_in_queue(study, session.device);
  const bool is_new = !waiting;
  if (!is_new) number = *waiting;
  if (is_new && study.asked) {
    number = study.asked->fresh.front();
    study.asked->fresh.pop_front();
    --queued;
  }
  const TrialKey key{study.id, number};
  Trial& trial = study.trials[to_int(number)];
  if (is_new && !study.asked) study.skip_known();
  take_from_queue(study, trial, key);
  return start_attempt(chosen, key, protocol::AttemptKind::primary, id, session);
}

TransitionId State::start_attempt(const Chosen& chosen, TrialKey key, protocol::AttemptKind kind,
                                  SessionId id, Session& session) {
  leave_queue(session, id);
  Study& study = *chosen.study;
  const std::int64_t number = to_int(key.number);
  const AttemptId attempt{next_attempt++};
  Attempt& added =
      add_attempt(attempt, study, key, session.device, session.capabilities.device_class);
  added.kind = kind;
  added.from = study.trials.at(number).checkpoint;
  charge(chosen, added);
  rank(study);
  return propose(storage::StartAttempt{.attempt = attempt,
                                       .trial = key,
                                       .kind = kind,
                                       .device = session.device,
                                       .device_class = session.capabilities.device_class,
                                       .engine = session.capabilities.engine,
                                       .adapter = adapter_of(session.capabilities),
                                       .params = params_of(study, number),
                                       .seed = protocol::trial_seed(study.spec.seed, number),
                                       .from = added.from},
                 PendingStart{.attempt = attempt, .session = id, .tries = 1, .ack = {}});
}

protocol::Lease State::lease_of(AttemptId id, const Attempt& attempt) {
  const Study& study = studies.at(attempt.trial.study);
  const std::int64_t number = to_int(attempt.trial.number);
  protocol::Lease lease{.attempt = id,
                        .study = study.id,
                        .trial = attempt.trial.number,
                        .kind = attempt.kind,
                        .study_name = study.spec.name,
                        .owner = study.owner,
                        .total = study.total,
                        .params = params_of(study, number),
                        .seed = protocol::trial_seed(study.spec.seed, number),
                        .entry = study.spec.entry,
                        .bundle = study.spec.bundle,
                        .data = study.spec.data,
                        .chainer = study.spec.chainer,
                        .backend = study.spec.backend,
                        .time_limit_ms = study.time_limit_ms,
                        .lease_ms = settings.lease_ms,
                        .checkpoint = attempt.from,
                        .packs = study.spec.packs};
  // If the server does not have the study's runtime any more, the lease names none, and the device
  // loads the newest one.
  if (settings.runtimes.contains(study.spec.runtime_index))
    lease.runtime_index = study.spec.runtime_index;
  if (study.asked) {
    const AskedPart& part = *study.trials.at(number).asked;
    if (study.asked->wanted > 0) lease.total = study.asked->wanted;
    lease.asked = true;
    lease.directions = static_cast<std::int64_t>(study.spec.directions.size());
    if (!part.log.empty()) lease.suggested = log_text(part.log);
    lease.attrs = part.attrs;
  }
  return lease;
}

protocol::WaitReason State::wait_reason(const Session& session) {
  if (draining) return protocol::WaitReason::draining;
  if (!disk_has_room) return protocol::WaitReason::read_only;
  if (awaits_owner(session)) return protocol::WaitReason::no_work;
  const Project& project = projects[session.project];
  return project.ranked.empty() ? protocol::WaitReason::no_work
                                : protocol::WaitReason::no_matching_work;
}

void State::rank(Study& study) {
  Project& project = projects[study.project];
  const bool has_work = study.has_work() || wants_to_ask(study);
  const Standing standing{study.priority, study.running, study.id, study.needs};
  const bool was_ranked = study.rank.has_value();
  if (study.ending || study.is_held() || study.has_work()) {
    project.finishing.erase(study.id);
  } else {
    project.finishing.insert(study.id);
  }
  // The study may be ranked already without a waiting trial, because its owner has room for more. A
  // new trial then changes no rank. Nor does a new trial of a study whose other trials exclude the
  // idle workers (R71).
  const bool was_passed_over = study.asked || !study.excluded.empty();
  if (was_passed_over && study.has_work() && has_idle(project))
    dirty_projects.insert(study.project);
  if (!has_work) {
    if (!was_ranked) return;
    project.ranked.erase(study.account, *study.rank);
    // The study no longer competes, so its owner's studies of lower priority now compete. Any idle
    // worker may get their work, even a worker that waits for another study's owner.
    if (!project.idle.empty() && project.ranked.has_below(study.account, study.rank->priority))
      dirty_projects.insert(study.project);
    study.rank.reset();
    return;
  }
  if (study.rank == standing) return;
  if (was_ranked) {
    project.ranked.replace(study.account, *study.rank, standing);
  } else {
    project.ranked.insert(study.account, standing, study.since);
  }
  // A device that its project lends waits for studies that have work, whatever their order is.
  if (was_ranked ? !project.idle.empty() : has_idle(project)) dirty_projects.insert(study.project);
  study.rank = standing;
}

}  // namespace hyperflock::dispatch
