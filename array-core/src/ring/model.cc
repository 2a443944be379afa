#include "ring/model.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "ring/model_world.h"

namespace arraycore::ring {
namespace {

using namespace model;

struct Successor {
  World world;
  const char* what;
  bool optional = false;  // a step of the surroundings, which may happen or not
};

class Explorer {
 public:
  explicit Explorer(const ModelOptions& options) : options_(options) {}

  ModelReport run();

 private:
  std::vector<Successor> successors(const World& world);
  void issuer_step(World& w);
  void begin_script_step(World& w);
  void end_script_step(World& w);
  void issuer_act(World& w, Act act);
  void drain_step(World& w);
  void execute(World& w);
  void announcement_step(World& w);
  static void begin_announcement(World& w, std::uint8_t serial);
  void wake_issuer(World& w) const;
  static void wake_drain(World& w);
  void check_fence(const World& w);
  static bool at_event_loop(const World& w);
  void fail(std::string text) {
    if (violation_.empty()) violation_ = std::move(text);
  }
  void check_end(const World& w);

  const ModelOptions& options_;
  std::string violation_;
};

// ---- the steps of the issuer ------------------------------------------------------------------

void Explorer::begin_script_step(World& w) {
  w.started = true;
  w.issuer.capacity = options_.capacity;
  constexpr std::uint32_t kTimeoutMs = 2000;
  if (w.resetting) return w.issuer.start(Goal::reset, ++w.resets, kTimeoutMs);
  switch (options_.script[w.pc]) {
    case Do::work:
    case Do::bad:
    case Do::bad_late:
    case Do::fence:
      return w.issuer.start(Goal::room, 1, kTimeoutMs);
    case Do::wait:
      return w.issuer.start(Goal::fence, w.fences, kTimeoutMs);
    case Do::flush:
      return w.issuer.start(Goal::flush, 0, 0);
    case Do::reset:
      return w.issuer.start(Goal::reset, ++w.resets, kTimeoutMs);
    case Do::close:
      return w.issuer.start(Goal::close, 0, kTimeoutMs);
  }
}

void Explorer::end_script_step(World& w) {
  w.started = false;
  const Outcome outcome = w.issuer.outcome;
  const Do what = options_.script[w.pc];
  switch (outcome) {
    case Outcome::error:
      if (++w.reported[w.slot] > w.raised[w.slot]) fail("an error was reported twice");
      if (w.slot == 0) fail("an error was reported that names no command");
      if (w.slot <= w.reset_serial) fail("an error of before a reset was reported after it");
      if (options_.mutation != Mutation::error_not_cleared) w.memory[Word::error_full] = 0;
      return;  // the program takes the same step again
    case Outcome::interrupted:
      return;
    case Outcome::device_lost:
    case Outcome::executor_gone:
    case Outcome::timed_out:
      // After a failed close or a failed reset, the script ends. After any other failure, the
      // issuer resets the ring.
      if (what == Do::close ||
          (w.resetting && (outcome != Outcome::device_lost || w.reopen_failed)))
        w.over = true;
      else
        w.resetting = true;
      return;
    case Outcome::revoked:
    case Outcome::closed:
      w.over = true;
      return;
    case Outcome::pending:
      fail("a wait ended without an outcome");
      return;
    case Outcome::done:
      break;
  }
  if (w.resetting || what == Do::reset) w.reset_serial = w.serials;
  if (w.resetting) {
    w.resetting = false;
    // The reset dropped the commands, so a fence issued before it never ends. The script does not
    // wait for it.
    if (what == Do::wait) ++w.pc;
    w.over = w.pc == options_.script.size();
    return;
  }
  switch (what) {
    case Do::work:
    case Do::bad:
    case Do::bad_late:
    case Do::fence:
      w.ring[w.issuer.head % options_.capacity] = {
          what, ++w.serials, static_cast<std::uint8_t>(what == Do::fence ? w.fences + 1 : 0),
          w.resets};
      if (what == Do::fence) {
        ++w.fences;
        w.fence_serial = w.serials;
      }
      ++w.issuer.head;
      break;
    case Do::wait:
      check_fence(w);
      break;
    case Do::flush:
    case Do::reset:
    case Do::close:
      break;
  }
  ++w.pc;
  w.over = w.pc == options_.script.size();
}

// The issuer has passed its newest fence, so every earlier failure must have been reported.
void Explorer::check_fence(const World& w) {
  if (w.lost_once || w.resets > 0 || w.life != Life::alive || w.respawned) return;
  World copy = w;
  std::uint32_t unsaid = 0;
  for (std::size_t serial = 0; serial < w.fence_serial; ++serial)
    unsaid += static_cast<std::uint32_t>(w.raised[serial] - w.reported[serial]);
  if (unsaid > copy.memory[Word::errors_dropped])
    fail("a fence was passed while an earlier command's error was not reported");
}

void Explorer::issuer_act(World& w, Act act) {
  if (act == Act::notify_executor) wake_drain(w);
  if (act == Act::message_executor && w.life == Life::alive) {
    ++w.messages;
  }
  if (act == Act::wait) {
    if (options_.mutation == Mutation::signal_after_looking)
      w.issuer.seen_signal = w.memory[Word::signal];
    if (w.memory[Word::signal] == w.issuer.seen_signal)
      w.issuer_place = Place::asleep;
    else
      w.issuer.after_wait(0, false);
  }
}

void Explorer::issuer_step(World& w) {
  if (!w.started) return begin_script_step(w);
  using Step = Issuer::Step;
  // A mutation (a deliberate mistake) changes the order of the issuer's steps.
  const bool publishes = w.issuer.step == Step::publish;
  if (options_.mutation == Mutation::wake_before_publish && publishes &&
      w.issuer.goal != Goal::reset && w.issuer.goal != Goal::close) {
    const bool slept = w.memory[Word::sleeps] != 0;
    if (slept) {
      w.memory[Word::sleeps] = 0;
      wake_drain(w);
    }
    Issuer rest = w.issuer;
    rest.step = Step::look_signal;
    if (rest.goal == Goal::flush) rest.finish(Outcome::done);
    // The issuer's next step stores `written`. A bit of seen_progress marks that.
    w.issuer = rest;
    w.issuer.seen_progress |= 0x100;
    return;
  }
  if ((w.issuer.seen_progress & 0x100) != 0) {
    w.issuer.seen_progress &= ~0x100U;
    w.memory[Word::written] = w.issuer.head;
    if (w.issuer.step == Step::finished) end_script_step(w);
    return;
  }
  if (options_.mutation == Mutation::request_before_written && w.issuer.goal == Goal::reset) {
    if (w.issuer.step == Step::publish) {
      w.memory[Word::request] = w.issuer.target;
      w.issuer.step = Step::request;
      return;
    }
    if (w.issuer.step == Step::request) {
      w.memory[Word::written] = w.issuer.head;
      w.issuer.step = Step::look_sleeps;
      return;
    }
  }
  issuer_act(w, step(w.issuer, w.memory));
  if (w.issuer.step == Step::finished) end_script_step(w);
}

// ---- the steps of the executor's thread -------------------------------------------------------

void Explorer::wake_issuer(World& w) const {
  if (w.issuer_place != Place::asleep) return;
  w.issuer_place = Place::running;
  w.issuer.after_wait(0, false);
}

void Explorer::wake_drain(World& w) {
  if (w.drain_place != Place::asleep) return;
  w.drain_place = Place::running;
  w.drain.after_wait();
}

bool Explorer::at_event_loop(const World& w) {
  return w.announcement.step == Announcement::Step::finished && w.to_announce_count == 0 &&
         (w.drain.step == Drain::Step::look_request || w.drain_place == Place::asleep);
}

void Explorer::begin_announcement(World& w, std::uint8_t serial) {
  w.announcing = serial;
  w.announcement.start(serial == kLossSerial ? News::loss : News::error);
}

void Explorer::execute(World& w) {
  const Command& command = w.ring[w.drain.position % options_.capacity];
  if (w.drain.lost) return w.drain.executed(1);
  if (command.generation != w.drain.handled)
    return fail("a command of before a reset was executed after it");
  if (command.serial <= w.last_executed)
    return fail("a command was executed twice, or overwritten");
  w.last_executed = command.serial;
  if (command.what == Do::bad) {
    ++w.raised[command.serial];
    begin_announcement(w, command.serial);
    w.executing = true;
    return;
  }
  if (command.what == Do::bad_late) {
    ++w.raised[command.serial];
    w.pending[w.pending_count++] = {true, command.serial};
  }
  if (command.what == Do::fence) {
    w.pending[w.pending_count++] = {false, command.fence};
    if (options_.mutation == Mutation::fence_before_error && w.pending_count >= 2)
      std::swap(w.pending[w.pending_count - 1], w.pending[w.pending_count - 2]);
  }
  w.drain.executed(1, command.what == Do::fence || options_.mutation == Mutation::consume_unsaid);
}

void Explorer::announcement_step(World& w) {
  if (w.announcement.step == Announcement::Step::look_slot &&
      options_.mutation == Mutation::error_overwrites) {
    w.announcement.step = Announcement::Step::write_error;
    return;
  }
  switch (step(w.announcement, w.memory)) {
    case Act::write_error:
      if (w.memory[Word::error_full] != 0) fail("an error that nobody has read was overwritten");
      w.slot = w.announcing;
      break;
    case Act::notify_issuer:
      wake_issuer(w);
      break;
    default:
      break;
  }
  if (w.announcement.step == Announcement::Step::finished && w.executing) {
    w.executing = false;
    w.drain.executed(1);
  }
}

void Explorer::drain_step(World& w) {
  if (options_.mutation == Mutation::no_recheck && w.drain.step == Drain::Step::recheck_written)
    w.drain.step = Drain::Step::sleep;
  if (options_.mutation == Mutation::error_outlives_reset &&
      w.drain.step == Drain::Step::forget_error)
    w.drain.step = Drain::Step::reset;
  if (options_.mutation == Mutation::consume_early && w.drain.step == Drain::Step::execute &&
      w.memory[Word::consumed] == w.drain.position) {
    w.memory[Word::consumed] = w.drain.position + 1;
    w.memory[Word::signal] += 1;
    wake_issuer(w);
    return;
  }
  switch (step(w.drain, w.memory)) {
    case Act::execute:
      execute(w);
      break;
    case Act::reset:
      w.pending = {};
      w.pending_count = 0;
      w.drain.was_reset(true);
      break;
    case Act::notify_issuer:
      wake_issuer(w);
      break;
    case Act::wait:
      if (w.drain.by_message ? w.messages > 0 : w.memory[Word::sleeps] != kSleepsOnWord) {
        if (w.messages > 0) --w.messages;
        w.drain.after_wait();
      } else {
        w.drain_place = Place::asleep;
      }
      break;
    default:
      break;
  }
}

// ---- every possible next step -----------------------------------------------------------------

std::vector<Successor> Explorer::successors(const World& world) {
  std::vector<Successor> next;
  const auto add = [&](const char* what, bool optional) -> World& {
    next.push_back({world, what, optional});
    return next.back().world;
  };
  next.reserve(10);
  if (!world.over && world.issuer_place == Place::running) issuer_step(add("issuer", false));
  const bool alive = world.life == Life::alive;
  const bool announces = world.announcement.step != Announcement::Step::finished;
  if (alive && announces) announcement_step(add("announcement", false));
  if (alive && !announces && world.drain_place == Place::running &&
      world.drain.step != Drain::Step::finished)
    drain_step(add("executor", false));
  if (alive && world.drain_place == Place::asleep && world.messages > 0) {
    World& w = add("message", false);
    --w.messages;
    wake_drain(w);
  }
  if (alive && !announces && at_event_loop(world) && world.pending_count > 0 && !world.drain.lost) {
    World& w = add("device", false);
    const Pending told = w.pending[0];
    std::rotate(w.pending.begin(), w.pending.begin() + 1, w.pending.end());
    w.pending[--w.pending_count] = {};
    if (told.is_error)
      begin_announcement(w, told.number);
    else
      w.announcement.start(News::fence, told.number);
  }
  // The other steps are those of users, the device and the page.
  const auto interrupt = [&](World& w, std::uint32_t value) {
    w.memory[Word::interrupt] = value;
    w.memory[Word::signal] += 1;
    wake_issuer(w);
  };
  if (!world.over && world.interrupts < options_.interrupts && !world.revoked) {
    World& w = add("interrupt", true);
    ++w.interrupts;
    interrupt(w, kInterruptOnce);
  }
  if (!world.over && options_.revoke && !world.revoked) {
    World& w = add("revoke", true);
    w.revoked = true;
    interrupt(w, kInterruptRevoke);
  }
  if (alive && options_.loss && !world.lost_once && at_event_loop(world) && !world.over &&
      world.drain.step != Drain::Step::finished) {
    World& w = add("loss", true);
    w.lost_once = true;
    w.drain.lost = true;
    w.pending = {};
    w.pending_count = 0;
    ++w.raised[kLossSerial];
    begin_announcement(w, kLossSerial);
  }
  if (alive && options_.reopen_fails && !world.reopen_failed && !announces &&
      world.drain.step == Drain::Step::reset) {
    World& w = add("no device", true);
    w.reopen_failed = true;
    w.pending = {};
    w.pending_count = 0;
    ++w.raised[kLossSerial];
    begin_announcement(w, kLossSerial);
    w.drain.was_reset(false);
  }
  if (alive && options_.kill && !world.respawned && !world.over) {
    World& w = add("kill", true);
    w.life = Life::dead;
    w.announcement = {};
    w.pending = {};
    w.pending_count = 0;
    w.executing = false;
    w.messages = 0;
    w.drain_place = Place::running;
  }
  if (world.life == Life::dead && options_.kill_is_told) {
    World& w = add("owner tells", false);
    w.life = Life::dead_and_told;
    w.memory[Word::state] = static_cast<std::uint32_t>(State::gone);
    w.memory[Word::signal] += 1;
    wake_issuer(w);
  }
  if (world.life == Life::dead_and_told) {
    World& w = add("respawn", options_.timeouts);
    w.life = Life::alive;
    w.respawned = true;
    w.drain = {};
    w.drain.by_message = options_.by_message;
  }
  if (options_.timeouts && world.issuer_place == Place::asleep) {
    World& w = add("slice over", false);
    if (alive) w.memory[Word::progress] ^= 1;  // its heartbeat
    w.issuer_place = Place::running;
    for (std::uint32_t ms = 0; ms < kLongSliceMs; ms += kSliceMs)
      w.issuer.after_wait(kSliceMs, false);
  }
  return next;
}

void Explorer::check_end(const World& w) {
  std::uint32_t raised = 0;
  std::uint32_t reported = 0;
  for (std::size_t serial = 0; serial < kMaxSerials; ++serial) {
    raised += w.raised[serial];
    reported += w.reported[serial];
    if (w.reported[serial] > w.raised[serial]) fail("an error was reported more than once");
  }
  if (options_.loss || options_.kill || options_.revoke || options_.reopen_fails || w.resets > 0)
    return;  // an error may have been lost with its device
  World copy = w;
  if (w.issuer.outcome != Outcome::done || w.pending_count > 0 ||
      w.announcement.step != Announcement::Step::finished || copy.memory[Word::error_full] != 0)
    return;
  if (raised != reported + copy.memory[Word::errors_dropped]) fail("an error was not reported");
}

ModelReport Explorer::run() {
  ModelReport report;
  struct Seen {
    std::size_t from;
    const char* what;
    std::size_t depth;
  };
  std::unordered_map<Key, std::size_t, HashOfKey> index;
  std::vector<Seen> seen;
  // The successors of state i are targets[firsts[i]] up to targets[firsts[i + 1] - 1].
  std::vector<std::size_t> targets;
  std::vector<std::size_t> firsts;
  std::deque<World> frontier;

  World first;
  first.drain.by_message = options_.by_message;
  index.emplace(key_of(first), 0);
  seen.push_back({0, "start", 0});
  frontier.push_back(first);
  std::size_t at = 0;
  const auto explain = [&](std::size_t from, std::string last) {
    report.violation = violation_;
    report.trace.push_back(std::move(last));
    for (; from != 0; from = seen[from].from) report.trace.push_back(seen[from].what);
    std::reverse(report.trace.begin(), report.trace.end());
  };
  for (; !frontier.empty(); ++at) {
    const World world = frontier.front();
    frontier.pop_front();
    report.deepest = seen[at].depth;
    firsts.push_back(targets.size());
    bool must_move = false;
    for (Successor& successor : successors(world)) {
      must_move = must_move || !successor.optional;
      if (!violation_.empty()) {
        explain(at, successor.what);
        report.states = seen.size();
        return report;
      }
      const auto [place, is_new] = index.emplace(key_of(successor.world), seen.size());
      targets.push_back(place->second);
      if (!is_new) continue;
      seen.push_back({at, successor.what, seen[at].depth + 1});
      frontier.push_back(successor.world);
    }
    if (world.over) {
      if (!must_move) check_end(world);
      ++report.endings;
    } else if (!must_move) {
      fail("nobody moves and the issuer still waits: a wake-up was lost");
    }
    if (!violation_.empty()) {
      explain(at, "nothing");
      report.states = seen.size();
      return report;
    }
    if (seen.size() > options_.max_states) {
      report.states = seen.size();
      return report;
    }
  }
  report.states = seen.size();
  report.complete = true;
  // The graph must have no cycle, so that every wait ends, whatever the order of steps.
  std::vector<std::uint32_t> incoming(seen.size());
  firsts.push_back(targets.size());
  for (const std::size_t target : targets) ++incoming[target];
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < incoming.size(); ++i)
    if (incoming[i] == 0) ready.push_back(i);
  std::size_t sorted = 0;
  while (!ready.empty()) {
    const std::size_t state = ready.back();
    ready.pop_back();
    ++sorted;
    for (std::size_t i = firsts[state]; i < firsts[state + 1]; ++i)
      if (--incoming[targets[i]] == 0) ready.push_back(targets[i]);
  }
  if (sorted != seen.size()) {
    report.violation = "the two sides can go round for ever";
    report.complete = false;
  }
  return report;
}

}  // namespace

ModelReport explore(const ModelOptions& options) { return Explorer(options).run(); }

}  // namespace arraycore::ring
