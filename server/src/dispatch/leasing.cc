// Who gets which trial (R15, R26, R27, R30, R31).
#include <algorithm>

#include "dispatch/state.h"

namespace hyperflock::dispatch {
namespace {

std::string adapter_of(const protocol::Capabilities& device) {
  return device.gpu ? device.gpu->adapter : std::string();
}

}  // namespace

void State::ask(SessionId id, int tries) {
  seek(id, tries);
  const auto found = sessions.find(id);
  if (found == sessions.end()) return;
  if (found->second.idle_order == 0) return;  // it was leased something, or has no room
  send(id, protocol::Wait{jitter(settings.wait_ms), wait_reason(found->second)});
}

std::optional<TransitionId> State::seek(SessionId id, int tries) {
  const auto found = sessions.find(id);
  if (found == sessions.end() || !has_room(found->second)) return std::nullopt;
  join_queue(found->second, id);
  if (tries > kMaxLeaseTries) return std::nullopt;
  Project& project = projects[found->second.project];
  std::optional<TransitionId> started = pump(project, id);
  if (!started) started = start_own(project, id);
  if (!started) started = start_tail(id);
  if (started) std::get<PendingStart>(pending.at(*started)).tries = tries;
  return started;
}

std::optional<TransitionId> State::pump(Project& project, std::optional<SessionId> wanted) {
  std::optional<TransitionId> out;
  if (draining || read_only) return out;
  int passed_over = 0;
  auto next = project.idle.begin();
  while (next != project.idle.end() && !project.ranked.empty() && passed_over < kMaxPassedOver) {
    const SessionId id = next->second;
    ++next;
    Session& session = sessions.at(id);
    Study* study = choose(project, session);
    if (study == nullptr) {
      ++passed_over;
      continue;
    }
    leave_queue(session, id);
    const TransitionId started = start(*study, id, session);
    if (id == wanted) out = started;
  }
  return out;
}

std::optional<TransitionId> State::start_own(const Project& project, SessionId id) {
  Session& session = sessions.at(id);
  if (draining || read_only || session.idle_order == 0) return std::nullopt;
  Study* study = choose(project, session);
  if (study == nullptr) return std::nullopt;
  leave_queue(session, id);
  return start(*study, id, session);
}

void State::join_queue(Session& session, SessionId id) {
  if (session.idle_order != 0) return;  // it keeps its place
  session.idle_order = next_order++;
  projects[session.project].idle.emplace(session.idle_order, id);
}

void State::leave_queue(Session& session, SessionId) {
  if (session.idle_order == 0) return;
  projects[session.project].idle.erase(session.idle_order);
  session.idle_order = 0;
}

bool State::has_room(const Session& session) {
  const std::vector<AttemptId>& open = devices.at(session.device).open;
  const auto wanted =
      std::count_if(open.begin(), open.end(), [&](AttemptId id) { return !attempts.at(id).doom; });
  return wanted < settings.max_leases;
}

Study* State::choose(const Project& project, const Session& session) {
  const auto& refused = session.cannot_run;
  for (const auto& [running, id] : project.ranked) {
    if (std::find(refused.begin(), refused.end(), id) != refused.end()) continue;
    Study* study = find_study(id);
    if (protocol::unmet(study->spec, session.capabilities).empty()) return study;
  }
  return nullptr;
}

TransitionId State::start(Study& study, SessionId id, Session& session) {
  TrialNumber number{study.next_number};
  const bool is_new = study.queue.empty();
  if (!is_new) number = study.queue.begin()->second;
  const TrialKey key{study.id, number};
  Trial& trial = study.trials[to_int(number)];
  if (is_new) study.skip_known();
  take_from_queue(study, trial, key);
  return start_attempt(study, key, protocol::AttemptKind::primary, id, session);
}

TransitionId State::start_attempt(Study& study, TrialKey key, protocol::AttemptKind kind,
                                  SessionId id, Session& session) {
  const std::int64_t number = to_int(key.number);
  const AttemptId attempt{next_attempt++};
  Attempt& added =
      add_attempt(attempt, study, key, session.device, session.capabilities.device_class);
  added.kind = kind;
  added.from = study.trials.at(number).checkpoint;
  rank(study);
  return propose(storage::StartAttempt{.attempt = attempt,
                                       .trial = key,
                                       .kind = kind,
                                       .device = session.device,
                                       .device_class = session.capabilities.device_class,
                                       .engine = session.capabilities.engine,
                                       .adapter = adapter_of(session.capabilities),
                                       .params = protocol::grid_point(study.spec.space, number),
                                       .seed = protocol::trial_seed(study.spec.seed, number),
                                       .from = added.from},
                 PendingStart{.attempt = attempt, .session = id, .tries = 1, .ack = {}});
}

protocol::Lease State::lease_of(AttemptId id, const Attempt& attempt) {
  const Study& study = studies.at(attempt.trial.study);
  const std::int64_t number = to_int(attempt.trial.number);
  return {.attempt = id,
          .study = study.id,
          .trial = attempt.trial.number,
          .kind = attempt.kind,
          .study_name = study.spec.name,
          .owner = study.owner,
          .total = study.total,
          .params = protocol::grid_point(study.spec.space, number),
          .seed = protocol::trial_seed(study.spec.seed, number),
          .entry = study.spec.entry,
          .bundle = study.spec.bundle,
          .data = study.spec.data,
          .chainer = study.spec.chainer,
          .backend = study.spec.backend,
          .time_limit_ms = study.spec.time_limit_ms,
          .lease_ms = settings.lease_ms,
          .checkpoint = attempt.from};
}

protocol::WaitReason State::wait_reason(const Session& session) {
  if (draining) return protocol::WaitReason::draining;
  const Project& project = projects[session.project];
  return project.ranked.empty() ? protocol::WaitReason::no_work
                                : protocol::WaitReason::no_matching_work;
}

void State::rank(Study& study) {
  Project& project = projects[study.project];
  const bool has_work = study.has_work();
  if (study.rank && (!has_work || *study.rank != study.running)) {
    project.ranked.erase({*study.rank, study.id});
    study.rank.reset();
  }
  if (!has_work || study.rank) return;
  study.rank = study.running;
  project.ranked.emplace(study.running, study.id);
  if (!project.idle.empty()) stirred.insert(study.project);
}

}  // namespace hyperflock::dispatch
