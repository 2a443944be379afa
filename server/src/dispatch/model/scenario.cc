// Implements Scenario; see scenario.h.
#include "dispatch/model/scenario.h"

#include <algorithm>

#include "protocol/names.h"
#include "storage/state_names.h"

namespace hyperflock::dispatch {
namespace {

std::string number(AttemptId id) { return "#" + std::to_string(to_int(id)); }

template <typename Enum>
std::string name(Enum value) {
  return std::string(protocol::name_of(value));
}

std::string lease_text(const protocol::Lease& lease) {
  return "lease " + number(lease.attempt) + " trial " + std::to_string(to_int(lease.trial)) +
         (lease.kind == protocol::AttemptKind::duplicate ? " again" : "") +
         (lease.checkpoint ? " from " + number(lease.checkpoint->attempt) + '/' +
                                 std::to_string(lease.checkpoint->blob.bytes)
                           : "") +
         (lease.suggested.empty() ? "" : " with " + lease.params) +
         (lease.attrs.empty() ? "" : " as " + lease.attrs);
}

// Returns the worker's class of devices: workers c and d are phones, the others are desktops.
std::string class_of(const std::string& worker) {
  return worker == "c" || worker == "d" ? "phone" : "desktop";
}

std::string trial_text(TrialKey key) { return "trial " + std::to_string(to_int(key.number)); }

struct ProposalText {
  std::string operator()(const storage::CreateStudy& t) const {
    return "create study " + std::to_string(to_int(t.id));
  }
  std::string operator()(const storage::StartAttempt& t) const {
    return "start " + number(t.attempt) + ' ' + trial_text(t.trial) + " on " + t.device;
  }
  std::string operator()(const storage::StoreResult& t) const {
    return "store " + number(t.result.attempt);
  }
  std::string operator()(const storage::EndAttempt& t) const {
    return "end " + number(t.attempt) + ' ' + name(t.state) +
           (t.failure ? ' ' + name(t.failure->cause) : "");
  }
  std::string operator()(const storage::AppendPoints& t) const {
    return "append " + number(t.attempt) + " " + std::to_string(t.points.size()) +
           (t.series ? " and series" : "");
  }
  std::string operator()(const storage::FailTrial& t) const {
    return "fail " + trial_text(t.trial) + ' ' + name(t.failure.cause) +
           (t.pauses ? " and pause" : "");
  }
  std::string operator()(const storage::EndStudy& t) const {
    return "end study " + std::to_string(to_int(t.study)) +
           (t.state == storage::StudyState::cancelled ? " cancelled" : " finished");
  }
  std::string operator()(const storage::DeleteStudy& t) const {
    return "delete study " + std::to_string(to_int(t.study));
  }
  std::string operator()(const storage::PauseStudy& t) const {
    return (t.paused ? "pause study " : "resume study ") + std::to_string(to_int(t.study));
  }
  std::string operator()(const storage::SetPriority& t) const {
    return "priority of study " + std::to_string(to_int(t.study)) + ' ' +
           std::to_string(t.priority);
  }
  std::string operator()(const storage::JudgeStudy& t) const {
    return (t.approved ? "approve study " : "refuse study ") + std::to_string(to_int(t.study));
  }
  std::string operator()(const storage::ExtendStudy& t) const {
    return "extend study " + std::to_string(to_int(t.study));
  }
  std::string operator()(const storage::ReissueTrials& t) const {
    return "replay study " + std::to_string(to_int(t.study)) + (t.code ? " with other code" : "");
  }
  std::string operator()(const storage::RejectResults& t) const {
    return "reject from " + trial_text({t.study, t.from});
  }
  std::string operator()(const storage::StoreCheckpoint& t) const {
    return "checkpoint of " + number(t.checkpoint.attempt);
  }
  std::string operator()(const storage::ClaimStudy& t) const {
    return "claim study " + std::to_string(to_int(t.study));
  }
  std::string operator()(const storage::AskTrials& t) const {
    std::string out = "ask";
    for (const storage::AskedRow& row : t.trials) out += ' ' + std::to_string(to_int(row.number));
    return out;
  }
  std::string operator()(const storage::StoreSuggestion& t) const {
    return "suggest " + trial_text(t.trial) + ' ' + t.suggestion.name + '=' + t.suggestion.value;
  }
  std::string operator()(const storage::StoreConstraints& t) const {
    return "constraints of " + trial_text(t.trial);
  }
  std::string operator()(const storage::NoteDevices& t) const {
    return (t.present ? "devices are back for study " : "no devices for study ") +
           std::to_string(to_int(t.study));
  }
  template <typename OfIdentity>
  std::string operator()(const OfIdentity&) const {
    return "identity";  // the dispatcher never proposes it
  }
};

std::string points_text(const std::vector<protocol::Point>& points) {
  std::string out;
  for (const protocol::Point& point : points) out += ' ' + std::to_string(point.step);
  return out;
}

std::string step_text(std::optional<std::int64_t> step) {
  return step ? ' ' + std::to_string(*step) : "";
}

// Turns the items of a batch into text: trial 1 is "t1", attempt 2 is "#2".
struct ItemText {
  static std::string of(TrialNumber trial, AttemptId attempt) {
    return " t" + std::to_string(to_int(trial)) + ' ' + number(attempt);
  }
  std::string operator()(const protocol::SuggestCall& m) const {
    return "suggest " + std::to_string(m.id) + of(m.trial, m.attempt) + ' ' + m.name;
  }
  std::string operator()(const protocol::PruneCall& m) const {
    return "prune " + std::to_string(m.id) + of(m.trial, m.attempt) + points_text(m.points);
  }
  std::string operator()(const protocol::PointsCall& m) const {
    return "points" + of(m.trial, m.attempt) + points_text(m.points);
  }
  std::string operator()(const protocol::ResumedCall& m) const {
    return "resumed" + of(m.trial, m.attempt) + step_text(m.step);
  }
  std::string operator()(const protocol::StartedCall& m) const {
    return "started" + of(m.trial, m.attempt) + " on " + m.device;
  }
  std::string operator()(const protocol::FinishedCall& m) const {
    return "finished t" + std::to_string(to_int(m.trial)) + ' ' + name(m.state) +
           (m.failure ? ' ' + m.failure->code : "") + points_text(m.points);
  }
};

std::vector<protocol::Dimension> space_of(std::int64_t trials) {
  protocol::Dimension dimension{"\"x\"", {}};
  for (std::int64_t i = 0; i < trials; ++i) dimension.values_json.push_back(std::to_string(i));
  return {std::move(dimension)};
}

bool same_spec(const std::shared_ptr<const protocol::StudySpec>& one,
               const std::shared_ptr<const protocol::StudySpec>& other) {
  return one && other ? *one == *other : !one && !other;
}

// Returns what was rejected as text.
std::string rejection_text(const std::shared_ptr<const storage::Rejected>& rejected) {
  if (!rejected) return "nothing";
  std::string out = std::to_string(rejected->attempts) + " attempts";
  for (const storage::RejectedTrial& one : rejected->trials) {
    out += ", trial " + std::to_string(to_int(one.trial.key.number));
    if (one.runs_again) out += " again";
    if (one.failed) out += " failed";
    for (const AttemptId id : one.attempts) out += ' ' + number(id);
    for (const std::string& device : one.trial.rejected_devices) out += " without " + device;
    if (one.trial.checkpoint) out += " from " + number(one.trial.checkpoint->attempt);
  }
  return out + (rejected->changed ? ", changed" : "") + (rejected->succeeded ? ", succeeded" : "");
}

std::string proposal_text(const storage::Transition& transition) {
  return std::visit(ProposalText{}, transition);
}

}  // namespace

Scenario::Scenario(Settings settings, Jitter jitter)
    : settings_(std::move(settings)), jitter_(jitter), dispatcher_(new_dispatcher()) {
  handle(Restored{});
}

Scenario::Scenario(const Scenario& other)
    : settings_(other.settings_),
      jitter_(other.jitter_),
      random_state_(other.random_state_),
      dispatcher_(std::make_unique<Dispatcher>(*other.dispatcher_)),
      store_(other.store_),
      troubles_(other.troubles_),
      now_(other.now_),
      sessions_(other.sessions_),
      next_session_(other.next_session_),
      next_request_(other.next_request_),
      next_key_(other.next_key_),
      held_(other.held_),
      batches_(other.batches_),
      injected_(other.injected_),
      proposed_(other.proposed_),
      last_delay_(other.last_delay_),
      last_lease_(other.last_lease_),
      last_call_(other.last_call_),
      works_(other.works_),
      owners_(other.owners_) {}

std::unique_ptr<Dispatcher> Scenario::new_dispatcher() const {
  if (jitter_ == Jitter::least) {
    return std::make_unique<Dispatcher>(settings_, [] { return std::uint64_t{0}; });
  }
  return std::make_unique<Dispatcher>(settings_,
                                      [state = random_state_] { return splitmix64(*state); });
}

std::uint64_t splitmix64(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

Said Scenario::event(const Event& event) { return handle(event); }

Said Scenario::handle(const Event& first) {
  Said said;
  proposed_.clear();
  std::vector<Event> events{first};
  while (!events.empty()) {
    const Event event = std::move(events.front());
    events.erase(events.begin());
    Batch batch;
    for (const Effect& effect : dispatcher_->handle(event, now_)) {
      if (const auto* propose = std::get_if<Propose>(&effect)) {
        proposed_.push_back(proposal_text(propose->transition));
        batch.ids.push_back(propose->id);
        batch.transitions.push_back(propose->transition);
      } else {
        note(effect, said);
      }
    }
    if (batch.ids.empty()) continue;
    if (held_) {
      batches_.push_back(std::move(batch));
    } else {
      events.push_back(committed(batch));
    }
  }
  return said;
}

Event Scenario::committed(const Batch& batch) {
  BatchCommitted out;
  for (std::size_t i = 0; i < batch.ids.size(); ++i) {
    const auto injected = injected_.find(batch.transitions[i].index());
    if (injected != injected_.end()) {
      out.outcomes.emplace_back(
          batch.ids[i],
          storage::Outcome{
              .applied = injected->second, .trial = {}, .study = {}, .verdict = {}, .seq = 0});
      injected_.erase(injected);
    } else {
      out.outcomes.emplace_back(batch.ids[i], apply(batch.transitions[i]));
    }
  }
  return out;
}

storage::Outcome Scenario::apply(const storage::Transition& transition) {
  storage::Outcome expected = store_.apply(transition);
  if (!shadow_) return expected;
  const auto given = shadow_->apply(std::span(&transition, 1));
  if (!given) {
    troubles_.push_back(proposal_text(transition) + ": shadow failed: " + given.error().message);
    return expected;
  }
  const storage::Outcome& outcome = given.value().at(0);
  const bool same_study = !expected.study || outcome.study == expected.study;
  if (outcome.applied != expected.applied || outcome.verdict != expected.verdict || !same_study ||
      outcome.refusal != expected.refusal || outcome.trials != expected.trials ||
      outcome.paused != expected.paused || outcome.priority != expected.priority ||
      !same_spec(outcome.spec, expected.spec) ||
      rejection_text(outcome.rejected) != rejection_text(expected.rejected)) {
    troubles_.push_back(proposal_text(transition) + ": the shadow says " +
                        std::to_string(static_cast<int>(outcome.applied)) + ", the model " +
                        std::to_string(static_cast<int>(expected.applied)) + "; rejected " +
                        rejection_text(outcome.rejected) + ", the model " +
                        rejection_text(expected.rejected));
  }
  return outcome;
}

void Scenario::check_lease(const protocol::Lease& lease) {
  last_lease_ = lease;
  if (!store_.attempts.contains(lease.attempt))
    troubles_.push_back("uncommitted " + lease_text(lease));
}

void Scenario::note(const Effect& effect, Said& said) {
  if (const auto* send = std::get_if<Send>(&effect)) {
    const std::string name = name_of_session(send->session);
    if (const auto* call = std::get_if<protocol::OwnerCall>(&send->message);
        call != nullptr && owners_.contains(name)) {
      Owner& told = owners_.at(name);
      told.sent = call->batch;
      if (call->batch == 0) told.taken = 0;  // a new generation counts batches from 1
    }
    said.push_back(name + " < " + text_of(send->message));
  } else if (const auto* close = std::get_if<Close>(&effect)) {
    const std::string worker = name_of_session(close->session);
    said.push_back(worker + " closed " + std::to_string(close->code) + ' ' + close->reason);
    if (const auto found = sessions_.find(worker);
        found != sessions_.end() && found->second == close->session) {
      sessions_.erase(found);
    }
  } else if (const auto* answer = std::get_if<Answer>(&effect)) {
    const std::string result = answer->result.has_value()
                                   ? "study " + std::to_string(to_int(answer->result.value()))
                                   : answer->result.error().code;
    said.push_back("answer " + result + (answer->repeated ? " again" : ""));
    if (answer->rejected && answer->result) {
      said.back() += " rejected " + std::to_string(answer->rejected->attempts) + ", again " +
                     std::to_string(answer->rejected->trials);
    }
  } else if (const auto* moved = std::get_if<WorkChanged>(&effect)) {
    if (moved->work) {
      works_.insert_or_assign(moved->study, *moved->work);
    } else {
      works_.erase(moved->study);
    }
  } else if (const auto* changed = std::get_if<StudyChanged>(&effect)) {
    said.push_back("study " + std::to_string(to_int(changed->study)) + " changed");
  }
}

std::string Scenario::name_of_session(SessionId id) const {
  for (const auto& [worker, session] : sessions_) {
    if (session == id) return worker;
  }
  return "former";
}

std::string Scenario::text_of(const protocol::ServerMessage& message) {
  struct Text {
    Scenario& s;
    std::string operator()(const protocol::Welcome& m) const {
      std::string out = "welcome";
      for (const AttemptId id : m.attempts) out += ' ' + number(id);
      return out;
    }
    std::string operator()(const protocol::LeaseOffer& m) const {
      s.check_lease(m.lease);
      return lease_text(m.lease);
    }
    std::string operator()(const protocol::Wait& m) const {
      s.last_delay_ = m.delay_ms;
      return "wait " + name(m.reason);
    }
    std::string operator()(const protocol::Ack& m) const {
      return m.attempt ? "ack " + number(*m.attempt) + " seq " + std::to_string(m.seq.value_or(0))
                       : "ack";
    }
    std::string operator()(const protocol::ResultAck& m) const {
      if (m.lease) s.check_lease(*m.lease);
      const auto& stored = s.store_.attempts.at(m.attempt);
      if (stored.result_seq == 0)
        s.troubles_.push_back("uncommitted result of " + number(m.attempt));
      return "result_ack " + number(m.attempt) + ' ' + name(m.verdict) +
             (m.lease ? " + " + lease_text(*m.lease) : "");
    }
    std::string operator()(const protocol::Reply& m) const {
      if (m.text) return "reply " + *m.text;
      return m.value ? "reply prune" : "reply go on";
    }
    std::string operator()(const protocol::ErrorMessage& m) const {
      return "error " + m.code + (m.trial ? " t" + std::to_string(to_int(*m.trial)) : "");
    }
    std::string operator()(const protocol::Revoke& m) const {
      return "revoke " + number(m.attempt) + ' ' + name(m.code);
    }
    std::string operator()(const protocol::Refused&) const { return "refused"; }
    std::string operator()(const protocol::Update&) const { return "update"; }
    std::string operator()(const protocol::TrialLog&) const { return "log"; }
    std::string operator()(const protocol::OwnerCall& m) const {
      s.last_call_ = m;
      if (m.generation == 0) return "stand by";
      if (m.batch == 0) return "generation " + std::to_string(m.generation);
      std::string out = "batch " + std::to_string(m.batch) + " demand " + std::to_string(m.demand);
      std::string mark = ": ";
      for (const auto& item : m.calls)
        out += std::exchange(mark, ", ") + std::visit(ItemText{}, item);
      return out;
    }
  };
  return std::visit(Text{*this}, message);
}

Said Scenario::open(const std::string& worker, std::vector<AttemptId> held,
                    const std::string& project) {
  const SessionId id{next_session_++};
  const auto old = sessions_.find(worker);
  if (old != sessions_.end()) sessions_["former " + worker] = old->second;
  sessions_[worker] = id;
  protocol::Capabilities device{{"cpu"}, 4096, 4, "test", class_of(worker)};
  if (worker == "b" || worker == "d" || worker.starts_with("gpu")) {
    device.backends.emplace_back("webgpu");
    device.gpu = protocol::GpuFacts{"test gpu", false, false, 256};
  }
  return handle(SessionOpened{id, worker, project, std::move(device), std::move(held)});
}

Said Scenario::close(const std::string& worker, SessionClosed::How how) {
  const SessionId id = sessions_.at(worker);
  sessions_.erase(worker);
  return handle(SessionClosed{id, how});
}

Said Scenario::submit(const StudyOptions& options) {
  protocol::StudySpec spec;
  spec.name = "s";
  spec.submit_key =
      options.submit_key.empty() ? "key " + std::to_string(next_key_++) : options.submit_key;
  spec.entry = "m:f";
  spec.chainer = "7.8.1";
  spec.provenance_json = "{}";
  spec.bundle = {std::string(64, 'a'), 1};
  if (options.directions == 0) {
    spec.space = space_of(options.trials);
  } else {
    spec.kind = protocol::StudyKind::asked;
    spec.directions.resize(static_cast<std::size_t>(options.directions));
  }
  spec.time_limit_ms = options.time_limit_ms;
  spec.stall_ms = options.stall_ms;
  spec.max_failures = options.max_failures;
  if (options.ranged) spec.value_range = {{.low = 0, .high = 1}};
  spec.backend = options.backend;
  spec.priority = options.priority;
  StudySubmitted event{RequestId{next_request_++}, options.owner, options.project, std::move(spec)};
  event.awaits_approval = options.awaits_approval;
  if (!options.webhook.empty()) event.webhook = protocol::Webhook{options.webhook};
  return handle(event);
}

Said Scenario::cancel(std::int64_t study) {
  return handle(StudyCancelRequested{RequestId{next_request_++}, StudyId{study}});
}

Said Scenario::pause(std::int64_t study, bool paused) {
  return handle(StudyPauseRequested{RequestId{next_request_++}, StudyId{study}, paused});
}

storage::StudyRow Scenario::row_of(std::int64_t study) const {
  storage::StudyRow row;
  row.id = StudyId{study};
  if (const auto found = store_.studies.find(row.id); found != store_.studies.end()) {
    const storage::CreateStudy& created = found->second.created;
    row.owner = created.owner;
    row.project = created.project;
    row.spec = created.spec;
    row.total = created.total;
    row.priority = found->second.priority;
    row.approval = found->second.approval;
    row.earlier_blobs.assign(found->second.earlier_blobs.begin(),
                             found->second.earlier_blobs.end());
    for (const auto& [number, trial] : found->second.trials) {
      row.complete += trial.state == storage::TrialState::complete;
      row.pruned += trial.state == storage::TrialState::pruned;
    }
  }
  return row;
}

Said Scenario::prioritize(std::int64_t study, std::int64_t priority) {
  return handle(StudyPriorityRequested{RequestId{next_request_++}, StudyId{study}, priority});
}

std::string bundle_of(const std::string& code) {
  return std::string(64, static_cast<char>('a' + (code.front() - 'f' + 60) % 6));
}

Said Scenario::reissue(std::int64_t study, const std::string& code, Keeps keeps,
                       bool awaits_approval) {
  StudyReissueRequested request{RequestId{next_request_++}, row_of(study)};
  request.awaits_approval = awaits_approval;
  if (!code.empty()) {
    request.code = protocol::NewCode{.entry = "m:" + code,
                                     .bundle = {bundle_of(code), 1},
                                     .provenance_json = "{}",
                                     .checkpoints = keeps == Keeps::checkpoints};
  }
  return handle(request);
}

Said Scenario::reject(std::int64_t study, const std::optional<std::string>& device,
                      std::optional<std::int64_t> trial) {
  StudyRejectRequested request{RequestId{next_request_++}, row_of(study)};
  request.which.device = device;
  if (trial) request.which.trial = TrialNumber{*trial};
  request.by = "ada";
  return handle(request);
}

Said Scenario::extend(std::int64_t study, std::int64_t trials, bool awaits_approval) {
  return handle(StudyExtendRequested{RequestId{next_request_++},
                                     row_of(study),
                                     {.space = space_of(trials)},
                                     {},
                                     {},
                                     awaits_approval});
}

Said Scenario::set_rule(const storage::Transition& transition) {
  const storage::Outcome outcome = apply(transition);
  if (outcome.applied != storage::Applied::applied) return {};
  return handle(RulesChanged{store_.rules});
}

Said Scenario::stop(Stopped what, const std::string& name, bool stopped) {
  if (what == Stopped::project) return set_rule(storage::FreezeProject{name, stopped});
  if (what == Stopped::code) return set_rule(storage::BarBlob{bundle_of(name), stopped});
  const bool was_stopped = store_.rules.owners.contains(name);
  if (was_stopped == stopped) return {};
  storage::UpdatePrincipal update;
  for (const auto& [id, person] : store_.people) {
    if (person == name) update.id = id;
  }
  update.state = stopped ? storage::PrincipalState::suspended : storage::PrincipalState::active;
  return set_rule(update);
}

Said Scenario::limit(storage::CeilingScope scope, const std::string& name,
                     const storage::Ceiling& ceiling) {
  return set_rule(storage::SetCeiling{scope, name, ceiling});
}

Said Scenario::share(storage::CeilingScope scope, const std::string& name,
                     const storage::Share& share) {
  return set_rule(storage::SetShare{scope, name, share});
}

Said Scenario::judge(std::int64_t study, bool approved) {
  return handle(StudyJudged{RequestId{next_request_++}, StudyId{study}, approved, {}, {}});
}

Said Scenario::remove(std::int64_t study) {
  const storage::Outcome outcome = apply(storage::DeleteStudy{StudyId{study}});
  constexpr std::int64_t kFew = 3;
  if (shadow_ && !shadow_->apply(std::vector<storage::Transition>{storage::SweepDeleted{kFew}}))
    troubles_.emplace_back("the shadow does not sweep");
  if (outcome.applied == storage::Applied::applied) return {"deleted"};
  return {outcome.applied == storage::Applied::superseded ? "study_running" : "unknown_study"};
}

Said Scenario::claim(const std::string& owner, std::int64_t study, bool standby) {
  const SessionId id{next_session_++};
  sessions_[owner] = id;
  owners_[owner] = {.study = StudyId{study}};
  return handle(StudyClaimed{id, row_of(study), owner, standby});
}

Said Scenario::leave(const std::string& owner) {
  const SessionId id = sessions_.at(owner);
  sessions_.erase(owner);
  return handle(OwnerClosed{id});
}

Said Scenario::says(const std::string& owner, protocol::OwnerReply reply) {
  Owner& speaker = owners_.at(owner);
  reply.study = speaker.study;
  if (reply.taken == 0) reply.taken = speaker.taken = speaker.sent;
  return handle(OwnerReplied{sessions_.at(owner), std::move(reply)});
}

Said Scenario::asks(const std::string& owner, const std::vector<std::int64_t>& numbers,
                    std::int64_t room) {
  protocol::OwnerReply reply{.room = room};
  for (const std::int64_t number : numbers) reply.asked.push_back({TrialNumber{number}, "{}"});
  return says(owner, std::move(reply));
}

Said Scenario::answers(const std::string& owner, std::int64_t id, const std::string& value,
                       std::int64_t room) {
  return says(owner, {.room = room, .answers = {{id, value, "", ""}}});
}

Said Scenario::suggest(const std::string& worker, std::int64_t attempt, const std::string& name,
                       const std::string& distribution) {
  return tell(worker, protocol::Call{.id = 1,
                                     .attempt = AttemptId{attempt},
                                     .method = "suggest",
                                     .step = {},
                                     .name = name,
                                     .distribution = distribution,
                                     .points = {}});
}

Said Scenario::tell(const std::string& worker, protocol::ClientMessage message) {
  return handle(MessageReceived{sessions_.at(worker), std::move(message)});
}

Said Scenario::ready(const std::string& worker) { return tell(worker, protocol::Ready{}); }

Said Scenario::beat(const std::string& worker, std::int64_t attempt, std::int64_t progress,
                    protocol::PulseState state) {
  return tell(worker, protocol::Heartbeat{{{AttemptId{attempt}, progress, state}}});
}

Said Scenario::report(const std::string& worker, std::int64_t attempt, std::int64_t seq,
                      std::vector<protocol::Point> points) {
  return tell(worker, protocol::Report{AttemptId{attempt}, seq, std::move(points)});
}

Said Scenario::log(const std::string& worker, std::int64_t attempt, std::int64_t seq,
                   const std::string& series, std::vector<protocol::Point> points) {
  protocol::Report report{AttemptId{attempt}, seq, std::move(points)};
  report.series = protocol::Series{{seq}, {{series, {0.5}}}};
  return tell(worker, report);
}

Said Scenario::should_prune(const std::string& worker, std::int64_t attempt,
                            std::vector<protocol::Point> points) {
  return tell(worker, protocol::Call{.id = 1,
                                     .attempt = AttemptId{attempt},
                                     .method = "should_prune",
                                     .step = 1,
                                     .points = std::move(points)});
}

Said Scenario::complete(const std::string& worker, std::int64_t attempt, double value, bool next) {
  protocol::TrialResult result;
  result.attempt = AttemptId{attempt};
  result.seq = 1;
  result.values = {value};
  result.next = next;
  return tell(worker, std::move(result));
}

Said Scenario::failed(const std::string& worker, std::int64_t attempt, protocol::Cause cause,
                      bool next) {
  protocol::TrialResult result;
  result.attempt = AttemptId{attempt};
  result.seq = 1;
  result.outcome = protocol::Outcome::failed;
  result.failure = protocol::Failure{cause, "code", "message", "traceback"};
  result.next = next;
  return tell(worker, std::move(result));
}

Said Scenario::release(const std::string& worker, std::int64_t attempt,
                       protocol::ReleaseReason reason) {
  return tell(worker, protocol::Release{AttemptId{attempt}, 2, reason});
}

Said Scenario::checkpoint(const std::string& worker, std::int64_t attempt, std::int64_t blob) {
  const protocol::Checkpoint saved{.attempt = AttemptId{attempt},
                                   .format = protocol::CheckpointFormat::tree,
                                   .blob = {std::string(64, 'c'), blob},
                                   .step = 1};
  const storage::Outcome outcome = apply(storage::StoreCheckpoint{worker, saved});
  if (outcome.applied != storage::Applied::applied) return {};
  return handle(CheckpointStored{*outcome.trial, saved});
}

Said Scenario::revoke_device(const std::string& worker) { return handle(DeviceRevoked{worker}); }

Said Scenario::erase_device(const std::string& worker, DeviceErasing::Step step) {
  return handle(DeviceErasing{worker, step});
}

Said Scenario::drain() { return handle(DrainStarted{}); }
Said Scenario::room(bool has_room) { return handle(RoomChanged{has_room}); }

Said Scenario::after(Millis ms) {
  Said said;
  const Instant end = now_ + ms;
  while (const auto due = dispatcher_->next_deadline()) {
    if (*due > end) break;
    now_ = std::max(now_, *due);
    for (std::string& line : handle(Tick{})) said.push_back(std::move(line));
    if (dispatcher_->next_deadline() == due) {
      said.emplace_back("a deadline stays due after its tick");
      break;
    }
  }
  now_ = end;
  return said;
}

void Scenario::shadow(storage::Storage* storage) {
  shadow_ = storage;
  std::vector<storage::Transition> first;
  for (const std::string name : {"ada", "eve"}) {
    first.emplace_back(storage::CreatePrincipal{{.id = 0, .name = name}, "hash of " + name, 0});
  }
  for (const std::string name : {"p", "q"}) first.emplace_back(storage::CreateProject{name});
  if (!shadow_->apply(first)) return troubles_.push_back("the shadow takes no identities");
  const auto known = shadow_->identities();
  if (!known) return troubles_.push_back("the shadow has no identities");
  store_.people.clear();
  for (const storage::Principal& one : known->principals) store_.people[one.id] = one.name;
}

Said Scenario::restart() {
  sessions_.clear();
  batches_.clear();
  dispatcher_ = new_dispatcher();
  return restored();
}

Said Scenario::commit(std::size_t count) {
  Said said;
  std::vector<std::string> proposed;
  for (std::size_t left = std::min(count, batches_.size()); left > 0; --left) {
    const Batch batch = std::move(batches_.front());
    batches_.erase(batches_.begin());
    for (std::string& line : handle(committed(batch))) said.push_back(std::move(line));
    proposed.insert(proposed.end(), proposed_.begin(), proposed_.end());
  }
  proposed_ = std::move(proposed);
  return said;
}

Said Scenario::fail_batch() {
  BatchFailed failed{.transitions = {}, .error = {"storage_unavailable", "disk full"}};
  if (!batches_.empty()) failed.transitions = batches_.front().ids;
  batches_.clear();
  return handle(failed);
}

Said Scenario::restored() {
  if (!shadow_) return handle(Restored{store_.load()});
  const auto snapshot = shadow_->load();
  if (!snapshot) troubles_.push_back("shadow does not load: " + snapshot.error().message);
  return handle(Restored{snapshot ? snapshot.value() : store_.load()});
}

Said Scenario::resume() {
  Said said;
  // Outcomes may cause new batches. These are committed after the batches that were held before.
  while (!batches_.empty()) {
    for (std::string& line : commit(1)) said.push_back(std::move(line));
  }
  held_ = false;
  return said;
}

std::int64_t Scenario::accepted() const {
  std::int64_t out = 0;
  for (const auto& [id, study] : store_.studies) {
    for (const auto& [number, trial] : study.trials) out += trial.accepted.has_value();
  }
  return out;
}

std::optional<SessionId> Scenario::session_of(const std::string& worker) const {
  const auto found = sessions_.find(worker);
  if (found == sessions_.end()) return std::nullopt;
  return found->second;
}

std::set<std::string> Scenario::sessions() const {
  std::set<std::string> out;
  for (const auto& [worker, session] : sessions_) {
    if (!owners_.contains(worker)) out.insert(worker);
  }
  return out;
}

}  // namespace hyperflock::dispatch
