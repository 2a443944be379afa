// Applies random events to the dispatcher and to the reference model; see walk.h.
#include <algorithm>
#include <deque>

#include "dispatch/model/walk.h"

namespace hyperflock::dispatch {
namespace {

using Kind = Action::Kind;
using protocol::Cause;

constexpr int kEventsAlone = 14;

class Walk {
 public:
  Walk(std::uint64_t seed, storage::Storage* store)
      : seed_(seed),
        name_("w" + std::to_string(seed)),
        calm_(seed % 3 == 0),
        owned_(seed % 3 == 1 || seed % 6 == 3),
        fails_(seed % 4 == 2),
        repeats_(seed % 4 == 1),
        alone_(seed % 8 == 5),
        pair_(settings(seed)),
        store_(store) {
    if (store_ == nullptr) return;
    pair_.store_in(*store_);
  }

  Walked run(int events) {
    std::optional<std::string> wrong = disagreement(events);
    return {.disagreement = std::move(wrong), .convictions = pair_.model().convictions()};
  }

 private:
  std::optional<std::string> disagreement(int events) {
    for (int i = 0; i < events; ++i) {
      is_alone_ = alone_ && i < kEventsAlone;
      const Action action = draw_action();
      const bool fails = may_fail(action) && chance(40);
      history_ += "\n  " + text_of(action) + (fails ? ", not written" : "");
      if (auto wrong = fails ? pair_.act_and_fail(action) : pair_.act(action))
        return explain(*wrong);
    }
    // The next walk over the same store must find no work of this one, and no rules.
    for (const Action& lift : lifts_) {
      history_ += "\n  " + text_of(lift);
      if (auto wrong = pair_.act(lift)) return explain(*wrong);
    }
    for (const auto& [id, study] : pair_.model().studies()) {
      if (study.state != storage::StudyState::running) continue;
      const Action cancel{.kind = Kind::cancel, .id = id};
      history_ += "\n  " + text_of(cancel);
      if (auto wrong = pair_.act(cancel)) return explain(*wrong);
    }
    if (auto wrong = compare_rows()) return explain(*wrong);
    return std::nullopt;
  }

  static Settings settings(std::uint64_t seed) {
    Settings settings;
    settings.max_leases = 1 + static_cast<int>(seed % 2);
    if (seed % 3 == 0) settings.bar_ms = 30'000;
    settings.results_with_points = 1;
    settings.devices_with_points = 1;
    return settings;
  }
  std::uint64_t draw(std::uint64_t below) { return splitmix64(seed_) % below; }
  bool chance(std::uint64_t one_in) { return draw(one_in) == 0; }
  std::string explain(const std::string& wrong) const {
    return "  events of " + name_ + ":" + history_ + "\n  " + wrong;
  }

  // Returns the id of an attempt that the worker once had, usually of a recent one. Sometimes
  // returns the id of any attempt, or an id that no attempt has.
  std::int64_t any_attempt(const std::string& worker) {
    std::vector<std::int64_t> own;
    for (const auto& [id, attempt] : pair_.model().attempts()) {
      if (attempt.device == worker) own.push_back(id);
    }
    if (own.empty() || chance(12)) {
      const auto& all = pair_.model().attempts();
      const std::int64_t first = pair_.model().first_attempt();
      const std::int64_t end = all.empty() ? first : all.rbegin()->first + 1;
      return first + static_cast<std::int64_t>(draw(static_cast<std::uint64_t>(end - first + 2)));
    }
    return own[own.size() - 1 - draw(std::min<std::size_t>(own.size(), 3))];
  }

  std::vector<AttemptId> some_attempts(const std::string& worker) {
    std::vector<AttemptId> out;
    for (const auto& [id, attempt] : pair_.model().attempts()) {
      if (attempt.device == worker && out.size() < 16 && !chance(4)) out.push_back(AttemptId{id});
    }
    return out;
  }

  std::int64_t any_study() {
    const auto& studies = pair_.model().studies();
    const std::int64_t first = pair_.model().first_study();
    const std::int64_t end = studies.empty() ? first : studies.rbegin()->first + 1;
    return first + static_cast<std::int64_t>(draw(static_cast<std::uint64_t>(end - first + 1)));
  }

  static bool may_fail(const Action& action) {
    switch (action.kind) {
      case Kind::ready:
      case Kind::report:
      case Kind::should_prune:
      case Kind::complete:
      case Kind::failed:
      case Kind::release:
      case Kind::submit:
      case Kind::cancel:
      case Kind::pause:
      case Kind::resume:
      case Kind::reissue:
      case Kind::close_clean:
      case Kind::suggest:
      case Kind::prioritize:
      case Kind::extend:
      case Kind::judge:
      case Kind::claim:
      case Kind::leave:
      case Kind::says:
        return true;
      default:
        return false;
    }
  }

  // ---- calm walks: one study, whose attempts live long enough that durations are measured

  Action draw_calm_action() {
    if (pair_.model().studies().empty()) {
      Action action = submit();
      action.study.trials = static_cast<std::int64_t>(3 + draw(4));
      action.study.project = "p";
      action.study.stall_ms = 0;
      return action;
    }
    if (owned_ && chance(5)) return draw_owner_action();
    if (!planned_.empty()) {
      const Action action = planned_.front();
      planned_.pop_front();
      const bool speaks = !action.worker.empty() && action.kind != Kind::open;
      if (!speaks || pair_.model().connected(action.worker)) return action;
    }
    const std::string worker(1, static_cast<char>('a' + draw(4)));
    if (!pair_.model().connected(worker)) {
      return {.kind = Kind::open, .worker = worker, .held = some_attempts(worker)};
    }
    const std::optional<std::int64_t> live = live_attempt(worker);
    if (chance(60)) return {.kind = Kind::restart};
    if (chance(40)) return {.kind = Kind::close_lost, .worker = worker};
    if (chance(25)) return pause_or_resume();
    if (chance(15)) return reject();
    if (chance(30)) return chance(2) ? stop() : limit();
    if (chance(30)) return share();
    if (chance(30)) return room();
    if (chance(12)) plan_silence();
    switch (draw(10)) {
      case 0:
      case 1:
      case 2:
        plan_beats(!chance(6));
        return {.kind = Kind::after, .amount = static_cast<std::int64_t>(1 + draw(20'000))};
      case 3:
        if (!live) break;
        return {.kind = Kind::complete, .worker = worker, .id = *live, .next = chance(2)};
      case 4:
        if (!live) break;
        return {.kind = Kind::checkpoint,
                .worker = worker,
                .id = *live,
                .amount = static_cast<std::int64_t>(draw(3))};
      case 5:
        if (!live || !chance(4)) break;
        return {.kind = Kind::failed,
                .worker = worker,
                .id = *live,
                .next = chance(2),
                .cause = chance(2) ? Cause::user_error : Cause::device_lost};
      case 6:
        if (!live || !chance(3)) break;
        return {.kind = Kind::release, .worker = worker, .id = *live};
      case 7:
        if (!live || !owned_) break;
        return question({.worker = worker, .id = *live});
      default:
        break;
    }
    return {.kind = Kind::ready, .worker = worker};
  }

  std::optional<std::int64_t> live_attempt(const std::string& worker) const {
    for (const auto& [id, attempt] : pair_.model().attempts()) {
      if (attempt.device == worker && attempt.state == storage::AttemptState::live) return id;
    }
    return std::nullopt;
  }

  // Plans a heartbeat of each live attempt, with or without progress.
  void plan_beats(bool moves) {
    if (moves) ++progress_;
    for (const auto& [id, attempt] : pair_.model().attempts()) {
      if (attempt.state != storage::AttemptState::live) continue;
      planned_.push_back(
          {.kind = Kind::beat, .worker = attempt.device, .id = id, .amount = progress_});
    }
  }

  // Plans a time without progress: long enough for a late run and, once durations were measured,
  // for a stall.
  void plan_silence() {
    for (int i = 0; i < 6; ++i) {
      plan_beats(false);
      planned_.push_back({.kind = Kind::after, .amount = 24'000});
    }
  }

  // Resumes more often than it pauses, because most checks need running studies.
  Action pause_or_resume() {
    return {.kind = chance(3) ? Kind::pause : Kind::resume, .id = any_study()};
  }

  // Returns a priority that is mostly 0, so that several studies have the same one.
  std::int64_t drawn_priority() { return chance(2) ? 0 : static_cast<std::int64_t>(draw(3)) - 1; }

  Action extend() {
    return {.kind = Kind::extend,
            .id = any_study(),
            .amount = 1 + static_cast<std::int64_t>(draw(8)),
            .awaits_approval = chance(8)};
  }

  // Reissues failed trials, sometimes without new code and sometimes with one of three codes, which
  // the study may already have.
  Action reissue() {
    Action action{.kind = Kind::reissue, .id = any_study(), .next = chance(3)};
    if (!chance(3)) action.name = std::string(1, static_cast<char>('f' + draw(3)));
    action.awaits_approval = chance(6);
    return action;
  }

  // Stops a researcher, a project or a code, or (more often) allows it again.
  Action stop() {
    Action action{.kind = Kind::stop, .next = chance(3)};
    action.what = static_cast<Stopped>(draw(3));
    const bool first = chance(2);
    action.name = action.what == Stopped::researcher ? (first ? "ada" : "eve")
                  : action.what == Stopped::project  ? (first ? "p" : "q")
                                                     : std::string(1, "fgh"[draw(3)]);
    if (action.next) {
      lifts_.push_back(action);
      lifts_.back().next = false;
    }
    return action;
  }

  Action limit() {
    Action action{.kind = Kind::limit};
    action.scope = static_cast<storage::CeilingScope>(draw(3));
    if (action.scope == storage::CeilingScope::researcher) action.name = chance(2) ? "ada" : "eve";
    if (action.scope == storage::CeilingScope::project) action.name = chance(2) ? "p" : "q";
    lifts_.push_back(action);
    if (!chance(3)) action.ceiling.devices = static_cast<std::int64_t>(draw(3));
    if (!chance(3)) action.ceiling.time_limit_ms = static_cast<std::int64_t>(draw(3)) * 100'000;
    return action;
  }

  // Sets or removes a share. Mostly a small weight or guarantee, so that they matter.
  Action share() {
    Action action{.kind = Kind::share};
    action.scope = chance(2) ? storage::CeilingScope::researcher : storage::CeilingScope::project;
    const bool of_project = action.scope == storage::CeilingScope::project;
    action.name = of_project ? (chance(2) ? "p" : "q") : (chance(2) ? "ada" : "eve");
    lifts_.push_back(action);
    if (chance(2)) action.share.weight = std::int64_t{1} << draw(10);
    if (chance(3)) action.share.guaranteed = static_cast<std::int64_t>(draw(3));
    if (of_project && !chance(3))
      action.share.lends = {chance(2) ? std::string(storage::kEveryProject)
                                      : std::string(action.name == "p" ? "q" : "p")};
    return action;
  }

  // Lets the disk have room more often than not, because most checks need work.
  Action room() { return {.kind = Kind::room, .next = !chance(3)}; }

  // Rejects the attempts of a device, of a trial, or those of a device in a trial.
  Action reject() {
    Action action{.kind = Kind::reject, .id = any_study(), .amount = -1};
    if (!chance(3)) action.name = std::string(1, static_cast<char>('a' + draw(5)));
    if (action.name.empty() || chance(3)) action.amount = static_cast<std::int64_t>(draw(4));
    return action;
  }

  Action prioritize() {
    return {.kind = Kind::prioritize, .id = any_study(), .amount = drawn_priority()};
  }

  Action draw_action() {
    if (calm_) return draw_calm_action();
    if (is_alone_) return draw_lonely_action();
    Action action{.worker = std::string(1, static_cast<char>('a' + draw(5)))};
    const std::string& worker = action.worker;
    // Others judge the value only if little else happens.
    if (alone_ && !chance(6) && pair_.model().connected(worker))
      return next_result(std::move(action));
    if (pair_.model().studies().empty() || (chance(14) && pair_.model().studies().size() < 6))
      return submit();
    if (chance(9)) {
      // Time passes: mostly a short time, sometimes more than a lease lasts, and seldom more than
      // loading may take.
      static constexpr std::int64_t kSpans[] = {900, 9'000, 31'000, 46'000, 120'000, 700'000};
      const std::uint64_t span = std::min(draw(6), draw(6));
      const auto most = static_cast<std::uint64_t>(kSpans[span]);
      return {.kind = Kind::after, .amount = static_cast<std::int64_t>(1 + draw(most))};
    }
    if (owned_ && chance(4)) return draw_owner_action();
    if (chance(60)) return {.kind = Kind::restart};
    if (chance(50)) return {.kind = Kind::cancel, .id = any_study()};
    if (chance(25)) return reissue();
    if (chance(12)) return {.kind = Kind::remove, .id = any_study()};
    if (chance(20)) return pause_or_resume();
    if (chance(12)) return reject();
    if (chance(20)) return prioritize();
    if (chance(20)) return chance(3) ? limit() : stop();
    if (chance(20)) return share();
    if (chance(20)) return {.kind = Kind::judge, .id = any_study(), .next = !chance(4)};
    if (chance(30)) return extend();
    if (chance(30)) return room();
    if (chance(300)) return {.kind = Kind::drain};
    if (worker == "d" && chance(40)) return {.kind = Kind::revoke_device, .worker = worker};
    if (!pair_.model().connected(worker) || chance(14)) {
      action.kind = Kind::open;
      action.held = some_attempts(worker);
      return action;
    }
    if (repeats_ && chance(2)) return next_result(std::move(action));
    return message(std::move(action));
  }

  // Device a computes a study alone and gives one value for all trials. So there is more to run
  // again than the probes if others find out that it has invented the value (R75).
  Action draw_lonely_action() {
    if (pair_.model().studies().empty()) {
      Action action = submit();
      action.study.trials = 12;
      action.study.project = "p";
      action.study.backend = "";
      action.study.directions = 0;
      action.study.awaits_approval = false;
      return action;
    }
    if (!pair_.model().connected("a")) return {.kind = Kind::open, .worker = "a"};
    const std::optional<std::int64_t> live = live_attempt("a");
    return {.kind = live ? Kind::complete : Kind::ready,
            .worker = "a",
            .id = live.value_or(0),
            .next = !chance(3)};
  }

  // Completes the worker's attempt, or asks for one. Device a nearly always gives the same value,
  // and the others often do.
  Action next_result(Action action) {
    const std::optional<std::int64_t> live = live_attempt(action.worker);
    action.kind = live ? Kind::complete : Kind::ready;
    action.id = live.value_or(0);
    action.next = !chance(3);
    const bool is_other = action.worker == "a" ? chance(12) : alone_ || chance(2);
    if (is_other) action.amount = 4 + static_cast<std::int64_t>(draw(2));
    return action;
  }

  Action submit() {
    Action action{.kind = Kind::submit};
    action.study = {.trials = static_cast<std::int64_t>(1 + draw(fails_ || repeats_ ? 12 : 5)),
                    .project = chance(4) ? "q" : "p",
                    .submit_key = name_ + (chance(8) ? " same" : " " + std::to_string(++keys_)),
                    .time_limit_ms = chance(2) ? 200'000 : 0,
                    .stall_ms = chance(2) ? 90'000 : 0,
                    .backend = chance(4) ? "webgpu" : "",
                    .directions = owned_ && chance(2) ? 1 : 0,
                    .max_failures = static_cast<std::int64_t>(draw(4)),
                    .ranged = chance(3),
                    .owner = chance(2) ? "ada" : "eve",
                    .priority = drawn_priority(),
                    .webhook = {},
                    .awaits_approval = chance(8)};
    return action;
  }

  // ---- owners m and n

  Action draw_owner_action() {
    Action action{.worker = chance(2) ? "m" : "n"};
    const std::string& owner = action.worker;
    const Reference::Study* study = pair_.model().owned_by(owner);
    if (!pair_.model().owner_connected(owner)) {
      action.kind = Kind::claim;
      action.id = any_study();
      action.next = chance(3);
      return action;
    }
    if (study == nullptr ? chance(3) : chance(12)) {
      action.kind = Kind::leave;
      return action;
    }
    action.kind = Kind::says;
    action.reply.room = chance(2) ? 0 : static_cast<std::int64_t>(draw(4));
    action.reply.finish = chance(16);
    if (study == nullptr) return action;
    for (const auto& [id, question] : study->questions) {
      if (chance(3)) continue;
      protocol::OwnerAnswer answer{id, std::to_string(draw(9)), "", ""};
      if (question.name.empty()) answer.value = chance(2) ? "true" : "false";
      if (chance(8)) answer = {id, "", "ValueError", "no"};
      action.reply.answers.push_back(std::move(answer));
    }
    const std::int64_t known = study->trials.empty() ? 0 : study->trials.rbegin()->first + 1;
    for (std::uint64_t i = draw(3); i > 0 && known < 12; --i) {
      const auto number =
          chance(6) ? static_cast<std::int64_t>(draw(4)) : known + static_cast<std::int64_t>(i);
      action.reply.asked.push_back({TrialNumber{number}, "{}"});
    }
    return action;
  }

  Action suggestion(Action action) {
    action.kind = Kind::suggest;
    action.name = std::string(1, static_cast<char>('x' + draw(3)));
    action.distribution = chance(8) ? "e" : "d";
    return action;
  }

  Action question(Action action) {
    if (chance(2)) return suggestion(std::move(action));
    action.kind = Kind::should_prune;
    action.amount = static_cast<std::int64_t>(draw(9));
    return action;
  }

  Action message(Action action) {
    action.id = any_attempt(action.worker);
    action.next = chance(2);
    action.amount = static_cast<std::int64_t>(draw(9));
    if (owned_ && chance(4)) return suggestion(std::move(action));
    switch (draw(18)) {
      case 0:
        action.kind = chance(2) ? Kind::close_clean : Kind::close_lost;
        action.id = 0;
        return action;
      case 1:
      case 2:
        action.kind = Kind::beat;
        action.pulse = static_cast<protocol::PulseState>(draw(3));
        return action;
      case 3:
        action.kind = Kind::report;
        return action;
      case 4:
        action.kind = Kind::should_prune;
        return action;
      case 5:
        action.kind = Kind::release;
        action.reason =
            chance(4) ? protocol::ReleaseReason::cannot_run : protocol::ReleaseReason::stopped;
        return action;
      case 6:
      case 7:
        action.kind = Kind::failed;
        action.cause = static_cast<Cause>(draw(7));
        return action;
      case 8:
      case 9:
      case 10:
        action.kind = fails_ && action.worker == "a" && !chance(20) ? Kind::failed : Kind::complete;
        if (action.kind == Kind::failed) action.cause = static_cast<Cause>(draw(7));
        return action;
      case 11:
        action.kind = Kind::checkpoint;
        return action;
      default:
        action.kind = Kind::ready;
        return action;
    }
  }

  // Compares the store's rows, which researchers read, with the reference model.
  std::optional<std::string> compare_rows() const {
    if (store_ == nullptr) return std::nullopt;
    for (const auto& [id, expected] : pair_.model().studies()) {
      const std::string name = "study " + std::to_string(id);
      const auto row = store_->study(StudyId{id});
      if (!row || !*row) return name + " cannot be read";
      std::int64_t complete = 0;
      std::int64_t failed = 0;
      std::int64_t attempts = 0;
      for (const auto& [number, trial] : expected.trials) {
        complete += trial.state == storage::TrialState::complete;
        failed += trial.state == storage::TrialState::failed;
      }
      for (const auto& [attempt, one] : pair_.model().attempts()) attempts += one.study == id;
      if ((*row)->state != expected.state || (*row)->paused != expected.paused ||
          (*row)->priority != expected.priority ||
          ((*row)->approval == storage::Approval::awaited) != expected.awaits_approval ||
          (*row)->complete != complete || (*row)->failed != failed || (*row)->running != 0 ||
          (*row)->attempts != attempts) {
        return name + " has a row that counts otherwise";
      }
      for (const auto& [number, trial] : expected.trials) {
        const auto detail = store_->trial({StudyId{id}, TrialNumber{number}});
        if (!detail || !*detail) return name + " lacks trial " + std::to_string(number);
        for (const storage::AttemptRow& attempt : (*detail)->attempts_list) {
          const auto& one = pair_.model().attempts().at(to_int(attempt.id));
          const bool again = attempt.kind == protocol::AttemptKind::duplicate;
          const std::int64_t from = attempt.from ? to_int(attempt.from->attempt) : 0;
          if (one.state != attempt.state || one.rejected != attempt.rejection.has_value() ||
              one.again != again || one.code != attempt.code ||
              (one.from ? one.from->first : 0) != from) {
            return "attempt #" + std::to_string(to_int(attempt.id)) + " has another row";
          }
        }
        const bool accepted = (*detail)->trial.accepted_attempt.has_value();
        if ((*detail)->trial.state != trial.state || accepted != trial.accepted.has_value())
          return name + ", trial " + std::to_string(number) + " has another row";
      }
    }
    return std::nullopt;
  }

  std::uint64_t seed_;
  const std::string name_;
  const bool calm_;
  const bool owned_;    // with ask-and-tell studies and their owners
  const bool fails_;    // device a fails nearly all trials (R72)
  const bool repeats_;  // device a gives nearly all trials the same value (R75)
  const bool alone_;    // of these, walks at whose begin there is only device a
  bool is_alone_ = false;
  std::deque<Action> planned_;
  std::deque<Action> lifts_;  // end what administrators have set
  std::int64_t progress_ = 0;
  int keys_ = 0;
  Pair pair_;
  storage::Storage* store_;
  std::string history_;
};

}  // namespace

Walked random_walk(std::uint64_t seed, int events, storage::Storage* store) {
  return Walk(seed, store).run(events);
}

}  // namespace hyperflock::dispatch
