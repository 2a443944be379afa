// The dispatcher's interface, and the functions that its parts share.
#include "dispatch/dispatcher.h"

#include <algorithm>

#include "dispatch/state.h"

namespace hyperflock::dispatch {

Dispatcher::Dispatcher(Settings settings, std::function<std::uint64_t()> random)
    : state_(std::make_unique<State>(std::move(settings), std::move(random))) {}

Dispatcher::Dispatcher(const Dispatcher& other) : state_(std::make_unique<State>(*other.state_)) {}

Dispatcher::~Dispatcher() = default;

Effects Dispatcher::handle(const Event& event, Instant now) {
  State& state = *state_;
  state.now = now;
  std::visit([&state](const auto& one) { state.on(one); }, event);
  while (!state.dirty_projects.empty()) {
    while (!state.dirty_projects.empty()) {  // a round of leases may change another project (R68)
      const auto project = state.dirty_projects.extract(state.dirty_projects.begin());
      state.pump(state.projects[project.value()]);
    }
    if (state.lending) state.lend();
  }
  for (const StudyId study : std::exchange(state.owners_to_flush, {})) state.flush_owner(study);
  // WorkChanged comes before StudyChanged, because the latter makes watchers read the estimate.
  for (const StudyId study : std::exchange(state.work_changed, {}))
    state.effects.emplace_back(WorkChanged{study, state.work_of(study)});
  for (const StudyId study : state.changed) state.effects.emplace_back(StudyChanged{study});
  state.changed.clear();
  return std::exchange(state.effects, {});
}

std::optional<Instant> Dispatcher::next_deadline() const {
  std::optional<Instant> first;
  const auto take = [&first](Instant at) {
    if (!first || at < *first) first = at;
  };
  if (!state_->timers.empty()) take(state_->timers.begin()->first);
  if (!state_->back_offs.empty()) take(state_->back_offs.begin()->first);
  if (!state_->silences.empty()) take(state_->silences.begin()->first);
  if (!state_->absences.empty()) take(state_->absences.begin()->first);
  return first;
}

namespace {

WorkerView view_of(const State& state, SessionId id, const Session& session) {
  WorkerView view{.session = id,
                  .device = session.device,
                  .project = session.project,
                  .capabilities = session.capabilities,
                  .attempt = {},
                  .trial = {}};
  for (const AttemptId open : state.devices.at(session.device).open) {
    const Attempt& attempt = state.attempts.at(open);
    if (!attempt.committed) continue;
    view.attempt = open;
    view.trial = attempt.trial;
    break;
  }
  return view;
}

}  // namespace

WorkerPage Dispatcher::workers(const WorkerQuery& query) const {
  WorkerPage page{.workers = {}, .cursor = query.after};
  std::size_t scanned = 0;
  auto session = state_->sessions.upper_bound(query.after);
  for (; session != state_->sessions.end(); ++session) {
    if (page.workers.size() == query.limit || scanned++ == kScannedSessions) break;
    page.cursor = session->first;
    if (query.projects && std::ranges::count(*query.projects, session->second.project) == 0)
      continue;
    page.workers.push_back(view_of(*state_, session->first, session->second));
  }
  page.more = session != state_->sessions.end();
  return page;
}

Counters Dispatcher::counters() const {
  std::int64_t owners = 0;
  std::int64_t calls = 0;
  std::int64_t demand = 0;
  for (const auto& [id, study] : state_->studies) {
    if (!study.asked) continue;
    owners += study.asked->owner.has_value();
    calls += static_cast<std::int64_t>(study.asked->questions.size());
    if (study.asked->owner) demand += study.asked->told;
  }
  return {.workers = static_cast<std::int64_t>(state_->sessions.size()),
          .leased = static_cast<std::int64_t>(state_->timers.size()),
          .queued = state_->queued,
          .owners = owners,
          .calls_waiting = calls,
          .demand = demand,
          .read_only = state_->read_only,
          .draining = state_->draining};
}

TransitionId State::propose(storage::Transition transition) {
  const TransitionId id{next_transition++};
  effects.emplace_back(Propose{id, std::move(transition)});
  return id;
}

TransitionId State::propose(storage::Transition transition, Pending what) {
  const TransitionId id = propose(std::move(transition));
  pending.emplace(id, std::move(what));
  return id;
}

void State::propose_note(const std::optional<storage::NoteAudit>& note, StudyId study) {
  if (!note) return;
  storage::NoteAudit filled = *note;
  filled.entry.object = std::to_string(to_int(study));
  propose(std::move(filled));
}

TransitionId State::propose_for(SessionId session, storage::Transition transition, Pending what) {
  if (const auto found = sessions.find(session); found != sessions.end()) ++found->second.pending;
  return propose(std::move(transition), std::move(what));
}

void State::send(SessionId session, protocol::ServerMessage message) {
  if (sessions.contains(session)) effects.emplace_back(Send{session, std::move(message)});
}

void State::send_error(SessionId session, std::string_view code, std::optional<AttemptId> attempt,
                       std::optional<std::int64_t> call, std::string_view given) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kTexts{{
      {"unknown_attempt", "Drop this attempt and ask for new work: it is not this device's."},
      {"series_count", "An attempt may have at most 256 series: log fewer names."},
      {"series_size",
       "The series of an attempt may have at most 1,000,000 values together: log less often."},
      {"no_room", "The server's disk is nearly full: it stores results, but no points."},
      {"quota_exceeded", "The study's owner has no room for more points: results still count."},
      {"too_many_leases", "Finish or release the open attempt before asking for another."},
      {"unknown_method", "Call a method that version 1 of the protocol has."},
      {"rate_limited", "Wait for the answers to earlier messages before sending more."},
      {"unknown_type", "Send a message that a device may send."},
      {"suggest_mismatch", "Ask for a name with one distribution: the trial's log has another."},
      {"no_owner", "Release the attempt: nobody was there to answer its call in time."},
      {"study_stopped", "Drop this attempt: its trial or its study is over."},
      {"too_long", "Ask for less: what one trial is suggested has a limit."},
      {"owner_error", "The owner of the study could not answer; its message tells why."},
  }};
  const auto text = std::find_if(kTexts.begin(), kTexts.end(),
                                 [&](const auto& one) { return one.first == code; });
  send(session,
       protocol::ErrorMessage{.code = std::string(code),
                              .message = std::string(!given.empty()         ? given
                                                     : text == kTexts.end() ? ""
                                                                            : text->second),
                              .field = {},
                              .id = call,
                              .attempt = attempt});
}

std::string_view revoke_text(protocol::RevokeCode code) {
  switch (code) {
    case protocol::RevokeCode::cancelled:
      return "The study was cancelled.";
    case protocol::RevokeCode::timeout:
      return "The trial took longer than its study allows.";
    case protocol::RevokeCode::stalled:
      return "The trial made no progress for longer than its study allows.";
    case protocol::RevokeCode::superseded:
      return "Another device finished this trial first.";
    case protocol::RevokeCode::device_revoked:
      return "This device may not compute any more.";
    case protocol::RevokeCode::operator_stopped:
      return "An administrator of the server stopped this study.";
  }
  return {};
}

void State::revoke(const Attempt& attempt, AttemptId id, protocol::RevokeCode code) {
  if (!attempt.committed) return;  // its lease was never sent
  const auto device = devices.find(attempt.device);
  if (device == devices.end() || !device->second.session) return;
  send(*device->second.session, protocol::Revoke{id, code, std::string(revoke_text(code))});
}

Millis State::jitter(Millis base) {
  const Millis half = base / 2;
  return half + static_cast<Millis>(random() % static_cast<std::uint64_t>(base - half + 1));
}

std::optional<StudyWork> State::work_of(StudyId id) {
  const Study* study = find_study(id);
  if (study == nullptr) return std::nullopt;
  StudyWork work{.runs = study->stats.runs, .run_ms = study->stats.run_ms, .classes = {}};
  for (const auto& [device_class, one] : study->work) {
    if (one.devices == 0) continue;
    const auto own = study->class_stats.find(device_class);
    const bool known = own != study->class_stats.end() && own->second.runs > 0;
    work.classes.push_back(one);
    work.classes.back().run_ms = known ? own->second.run_ms : study->stats.run_ms;
  }
  return work;
}

Study* State::find_study(StudyId id) {
  const auto found = studies.find(id);
  return found == studies.end() ? nullptr : &found->second;
}

Trial* State::find_trial(TrialKey key) {
  Study* study = find_study(key.study);
  if (study == nullptr) return nullptr;
  const auto found = study->trials.find(to_int(key.number));
  return found == study->trials.end() ? nullptr : &found->second;
}

Attempt* State::find_live(AttemptId id, const std::string& device) {
  const auto found = attempts.find(id);
  if (found == attempts.end() || !found->second.committed || found->second.device != device)
    return nullptr;
  return &found->second;
}

}  // namespace hyperflock::dispatch
