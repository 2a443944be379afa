// Applies events to the dispatcher and to the reference model; see walk.h.
#include "dispatch/model/walk.h"

#include <algorithm>
#include <array>

#include "protocol/names.h"

namespace hyperflock::dispatch {
namespace {

using Kind = Action::Kind;
using How = SessionClosed::How;
using storage::StudyState;
using storage::TrialState;

// Reports the steps of the action, with the same value for each, because the model ignores these.
Said report(Scenario& s, const Action& a) { return s.report(a.worker, a.id, 1, {{a.amount, 0.5}}); }
Said report(Reference& r, const Action& a) { return r.report(a.worker, a.id, 1, a.amount); }
Said should_prune(Scenario& s, const Action& a) {
  return s.should_prune(a.worker, a.id, {{a.amount, 0.5}});
}
Said should_prune(Reference& r, const Action& a) {
  return r.should_prune(a.worker, a.id, a.amount);
}
// Returns the value of a result. Those above 1 are outside of the range of a study that has one.
double value_of(const Action& a) {
  constexpr std::array kValues{0.5, 0.5, 0.5, 0.5, 0.6, 0.7, 7.0, 7.0, 7.0};
  return kValues.at(static_cast<std::size_t>(a.amount));
}
Said complete(Scenario& s, const Action& a) {
  return s.complete(a.worker, a.id, value_of(a), a.next);
}
Said complete(Reference& r, const Action& a) {
  return r.complete(a.worker, a.id, a.next, value_of(a));
}

// Applies an action to the dispatcher or to the reference model.
template <typename World>
Said apply(World& world, const Action& a) {
  switch (a.kind) {
    case Kind::open:
      return world.open(a.worker, a.held, Pair::project_of(a.worker));
    case Kind::close_clean:
      return world.close(a.worker, How::clean);
    case Kind::close_lost:
      return world.close(a.worker, How::lost);
    case Kind::submit:
      return world.submit(a.study);
    case Kind::cancel:
      return world.cancel(a.id);
    case Kind::pause:
      return world.pause(a.id, true);
    case Kind::resume:
      return world.pause(a.id, false);
    case Kind::reissue:
      return world.reissue(a.id, a.name,
                           a.next ? Scenario::Keeps::checkpoints : Scenario::Keeps::nothing,
                           a.awaits_approval);
    case Kind::remove:
      return world.remove(a.id);
    case Kind::ready:
      return world.ready(a.worker);
    case Kind::beat:
      return world.beat(a.worker, a.id, a.amount, a.pulse);
    case Kind::report:
      return report(world, a);
    case Kind::should_prune:
      return should_prune(world, a);
    case Kind::complete:
      return complete(world, a);
    case Kind::failed:
      return world.failed(a.worker, a.id, a.cause, a.next);
    case Kind::release:
      return world.release(a.worker, a.id, a.reason);
    case Kind::checkpoint:
      return world.checkpoint(a.worker, a.id, a.amount);
    case Kind::revoke_device:
      return world.revoke_device(a.worker);
    case Kind::drain:
      return world.drain();
    case Kind::after:
      return world.after(a.amount);
    case Kind::restart:
      return world.restart();
    case Kind::suggest:
      return world.suggest(a.worker, a.id, a.name, a.distribution);
    case Kind::claim:
      return world.claim(a.worker, a.id, a.next);
    case Kind::leave:
      return world.leave(a.worker);
    case Kind::says:
      return world.says(a.worker, a.reply);
    case Kind::prioritize:
      return world.prioritize(a.id, a.amount);
    case Kind::extend:
      return world.extend(a.id, a.amount, a.awaits_approval);
    case Kind::stop:
      return world.stop(a.what, a.name, a.next);
    case Kind::limit:
      return world.limit(a.scope, a.name, a.ceiling);
    case Kind::judge:
      return world.judge(a.id, a.next);
    case Kind::room:
      return world.room(a.next);
    case Kind::reject:
      return world.reject(a.id, a.name.empty() ? std::nullopt : std::optional(a.name),
                          a.amount < 0 ? std::nullopt : std::optional(a.amount));
    case Kind::share:
      return world.share(a.scope, a.name, a.share);
  }
  return {};
}

std::string joined(const Said& lines) {
  std::string out;
  for (const std::string& line : lines) out += "\n    " + line;
  return out.empty() ? "\n    nothing" : out;
}

bool names_change(const std::string& line) {
  return line.starts_with("study ") && line.ends_with(" changed");
}

}  // namespace

std::string text_of(const Action& a) {
  static constexpr std::array<const char*, 33> kNames{
      "open",         "close clean", "close lost", "submit",  "cancel",     "pause",
      "resume",       "replay",      "remove",     "ready",   "beat",       "report",
      "should_prune", "complete",    "failed",     "release", "checkpoint", "revoke device",
      "drain",        "after",       "restart",    "suggest", "claim",      "leave",
      "says",         "priority",    "extend",     "stop",    "limit",      "judge",
      "room",         "share",       "reject"};
  std::string out = kNames[static_cast<std::size_t>(a.kind)];
  if (!a.worker.empty()) out += ' ' + a.worker;
  if (a.id != 0) out += " #" + std::to_string(a.id);
  if (a.kind == Kind::failed) out += ' ' + std::string(protocol::name_of(a.cause));
  if (a.kind == Kind::beat) out += ' ' + std::string(protocol::name_of(a.pulse));
  if (a.kind == Kind::release) out += ' ' + std::string(protocol::name_of(a.reason));
  if (a.next) out += " next";
  if (a.amount != 0) out += ' ' + std::to_string(a.amount);
  for (const AttemptId id : a.held) out += " holds #" + std::to_string(to_int(id));
  if (a.kind == Kind::reissue && !a.name.empty()) out += " with code " + a.name;
  if (a.awaits_approval || (a.kind == Kind::submit && a.study.awaits_approval))
    out += " unapproved";
  if (a.kind == Kind::stop || a.kind == Kind::limit || a.kind == Kind::reject) out += ' ' + a.name;
  if (a.kind == Kind::limit) {
    out += " devices " + std::to_string(a.ceiling.devices.value_or(-1)) + " time " +
           std::to_string(a.ceiling.time_limit_ms.value_or(-1));
  }
  if (a.kind == Kind::share) {
    out += ' ' + a.name + " weight " + std::to_string(a.share.weight.value_or(-1)) +
           " guaranteed " + std::to_string(a.share.guaranteed);
    for (const std::string& one : a.share.lends) out += " lends to " + one;
  }
  if (a.kind == Kind::suggest) out += ' ' + a.name + ' ' + a.distribution;
  if (a.kind == Kind::says) {
    out += " room " + std::to_string(a.reply.room) + (a.reply.finish ? " finish" : "");
    for (const auto& one : a.reply.asked) out += " asks t" + std::to_string(to_int(one.trial));
    for (const auto& one : a.reply.answers)
      out += " answers " + std::to_string(one.id) + ' ' + one.value + one.code;
  }
  if (a.kind == Kind::submit && a.study.directions > 0) out += " asked";
  if (a.kind == Kind::submit) {
    out += " of " + std::to_string(a.study.trials) + " in " + a.study.project + " '" +
           a.study.submit_key + "' limit " + std::to_string(a.study.time_limit_ms) + " stall " +
           std::to_string(a.study.stall_ms) + " failures " + std::to_string(a.study.max_failures) +
           " of " + a.study.owner + " priority " + std::to_string(a.study.priority) +
           (a.study.backend.empty() ? "" : " on ") + a.study.backend;
  }
  return out;
}

Pair::Pair(const Settings& settings) : real_(settings, Scenario::Jitter::least), model_(settings) {}

void Pair::store_in(storage::Storage& storage) {
  const auto before = storage.load();
  if (!before) return;
  model_.begin_after(before->next_study_id - 1, before->next_attempt_id - 1);
  real_.shadow(&storage);
  real_.restart();
}

void Pair::take_in(Said& said) {
  bool any = true;
  while (std::exchange(any, false)) {
    for (const std::string owner : {"m", "n"}) {
      const Reference::Study* study = model_.owned_by(owner);
      if (study == nullptr || !real_.owes(owner)) continue;
      any = true;
      for (std::string& line : real_.says(owner, {.room = study->room, .finish = study->finish}))
        said.push_back(std::move(line));
    }
  }
  Said items;
  for (const std::string& line : said) {
    const std::size_t begin = line.find(" < batch ");
    if (begin == std::string::npos) {
      items.push_back(line);
      continue;
    }
    const std::string owner = line.substr(0, begin) + " < ";
    for (std::size_t at = line.find(": "); at != std::string::npos;) {
      const std::size_t end = line.find(", ", at + 2);
      items.push_back(owner + line.substr(at + 2, end == std::string::npos ? end : end - at - 2));
      at = end;
    }
  }
  said = std::move(items);
}

std::optional<std::string> Pair::act(const Action& action) {
  Said real = apply(real_, action);
  Said model = apply(model_, action);
  take_in(real);
  if (auto wrong = compare_said(std::move(real), std::move(model))) return wrong;
  return compare_state();
}

std::optional<std::string> Pair::act_and_fail(const Action& action) {
  const Reference before = model_;
  real_.hold();
  apply(real_, action);
  if (real_.held_batches() == 0) {  // the event needed no storage
    real_.resume();
    apply(model_, action);
    Said said;
    take_in(said);
    return compare_state();
  }
  std::int64_t starts = 0;
  std::int64_t submits = 0;
  for (const std::string& line : real_.proposed()) {
    starts += line.starts_with("start ");
    submits += line.starts_with("create study ");
  }
  real_.fail_batch();
  if (!real_.sessions().empty()) return "a session outlived a failed batch";
  if (!real_.dispatcher().counters().read_only) return "a failed batch did not make it read-only";
  real_.restored();
  real_.resume();
  model_ = before;
  model_.storage_failed(starts, submits);
  return compare_state();
}

std::optional<std::string> Pair::compare_said(Said real, Said model) const {
  // The dispatcher must wake a watcher for each change of a row, and may wake one without a change.
  std::set<std::string> woken;
  for (const std::string& line : real) {
    if (names_change(line)) woken.insert(line);
  }
  for (const std::int64_t study : model_.changed()) {
    const std::string line = "study " + std::to_string(study) + " changed";
    if (!woken.contains(line)) {
      return "nobody was told: " + line + "\n  the dispatcher said" + joined(real) +
             "\n  the model" + joined(model);
    }
  }
  std::erase_if(real, names_change);
  std::sort(real.begin(), real.end());
  std::sort(model.begin(), model.end());
  if (real == model) return std::nullopt;
  return "the dispatcher said" + joined(real) + "\n  the model" + joined(model);
}

std::optional<std::string> Pair::compare_state() const {
  if (!real_.troubles().empty()) return "trouble:" + joined(real_.troubles());
  const ModelStore& store = real_.store();
  if (store.studies.size() != model_.studies().size()) return "another number of studies";
  for (const auto& [id, expected] : model_.studies()) {
    const std::string name = "study " + std::to_string(id);
    const auto& study = store.studies.at(StudyId{id});
    if (study.state != expected.state) return name + " has another state";
    if (study.priority != expected.priority) return name + " has another priority";
    if ((study.approval == storage::Approval::awaited) != expected.awaits_approval)
      return name + " awaits approval, or not, otherwise";
    if (study.paused != expected.paused || study.stopped_by != expected.stopped_by)
      return name + " is paused, or not, otherwise";
    if (study.trials.size() != expected.trials.size()) return name + " has other trials";
    for (const auto& [number, trial] : expected.trials) {
      const auto& stored = study.trials.at(number);
      const bool same_accepted =
          stored.accepted ==
          (trial.accepted ? std::optional(AttemptId{*trial.accepted}) : std::optional<AttemptId>());
      const std::string code = stored.failure ? stored.failure->code : "";
      if (stored.state != trial.state || !same_accepted || stored.acceptances > 1 ||
          (stored.state == TrialState::failed && code != trial.failure_code)) {
        return name + ", trial " + std::to_string(number) + " is stored otherwise";
      }
    }
  }
  if (store.attempts.size() != model_.attempts().size()) return "another number of attempts";
  std::int64_t live = 0;
  for (const auto& [id, expected] : model_.attempts()) {
    const auto found = store.attempts.find(AttemptId{id});
    if (found == store.attempts.end() || found->second.state != expected.state ||
        found->second.code != expected.code ||
        found->second.rejection.has_value() != expected.rejected)
      return "attempt #" + std::to_string(id) + " is stored otherwise";
    live += expected.state == storage::AttemptState::live;
  }
  const Counters counters = real_.dispatcher().counters();
  if (counters.leased != live) return "another number of leases";
  std::int64_t queued = 0;
  for (const auto& [id, study] : model_.studies()) {
    if (study.state != StudyState::running) continue;
    queued += static_cast<std::int64_t>(study.queue.size());
    for (const auto& [number, trial] : study.trials) queued += trial.due.has_value();
  }
  for (const auto& [id, study] : model_.studies())
    queued += static_cast<std::int64_t>(study.fresh.size());
  if (counters.queued != queued) return "another number of trials that wait";
  std::int64_t owners = 0;
  std::int64_t calls = 0;
  std::int64_t demand = 0;
  for (const auto& [id, study] : model_.studies()) {
    owners += !study.owner.empty();
    calls += static_cast<std::int64_t>(study.questions.size());
    if (!study.owner.empty()) demand += std::min(study.room, study.waiting);
  }
  if (counters.owners != owners) return "another number of owners";
  if (counters.calls_waiting != calls) return "another number of calls that wait";
  if (counters.demand != demand)
    return "another demand: " + std::to_string(counters.demand) + ", the model " +
           std::to_string(demand);
  return std::nullopt;
}

}  // namespace hyperflock::dispatch
