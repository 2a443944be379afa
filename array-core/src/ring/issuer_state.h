// The issuer's waits as a resumable machine (state.h). Only the issuing thread uses it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ring/act.h"
#include "ring/commands.h"

namespace arraycore::ring {

enum class Goal : std::uint8_t {
  flush,  // publish commands and wake the executor; never waits
  room,   // `target` words are free
  fence,  // fence `target` is done
  reset,  // reset `target` is answered
  close,
};

enum class Outcome : std::uint8_t {
  pending,
  done,
  error,        // the error slot is full; read it, then clear error_full
  device_lost,  // until a reset; the error slot may hold the reason
  interrupted,
  revoked,
  executor_gone,
  timed_out,
  closed,
};

// Waits until a goal is reached. Time-outs are measured by the times passed to after_wait().
struct Issuer {
  enum class Step : std::uint8_t {
    clear_error,
    publish,
    request,
    look_sleeps,
    wake,
    look_signal,
    look_interrupt,
    take_interrupt,
    look_goal,
    look_state,
    look_error,
    look_progress,
    look_silence,
    sleep,
    finished,
  };

  Step step = Step::finished;
  Goal goal = Goal::flush;
  Outcome outcome = Outcome::done;
  bool met = false;
  std::uint32_t head = 0;  // words written, published or not
  std::uint32_t target = 0;
  std::uint32_t capacity = 0;
  std::uint32_t seen_signal = 0;
  std::uint32_t seen_progress = 0;
  std::uint32_t silent_ms = 0;  // since `progress` last moved
  std::uint32_t waited_ms = 0;
  std::uint32_t timeout_ms = 0;
  bool operator==(const Issuer&) const = default;

  void start(Goal new_goal, std::uint32_t new_target, std::uint32_t new_timeout_ms) {
    goal = new_goal;
    target = new_target;
    timeout_ms = new_timeout_ms;
    outcome = Outcome::pending;
    met = false;
    silent_ms = 0;
    waited_ms = 0;
    step = goal == Goal::reset ? Step::clear_error : Step::publish;
  }

  void finish(Outcome result) {
    outcome = result;
    step = Step::finished;
  }

  // Returns the longest time that the host's next wait may take.
  std::uint32_t slice_ms() const {
    const std::uint32_t left = timeout_ms > waited_ms ? timeout_ms - waited_ms : 0;
    return left < kSliceMs ? left : kSliceMs;
  }

  // Notes that the host's wait ended: by a wake-up, by its time-out, or at once because `signal`
  // had changed. If a wait took far longer than its limit, the page or the machine was suspended,
  // and the executor with it. So one wait counts as at most 2 * kSliceMs.
  void after_wait(std::uint32_t elapsed_ms, bool host_interrupt) {
    const std::uint32_t counted = std::min(elapsed_ms, 2 * kSliceMs);
    waited_ms += counted;
    silent_ms += counted;
    step = Step::look_signal;
    if (host_interrupt) finish(Outcome::interrupted);
  }
};

template <typename Words>
Act step(Issuer& issuer, Words& words) {
  using Step = Issuer::Step;
  switch (issuer.step) {
    case Step::clear_error:  // errors from before a reset no longer matter
      words.store(Word::error_full, 0);
      issuer.step = Step::publish;
      return Act::none;
    case Step::publish:
      words.store(Word::written, issuer.head);
      issuer.step = issuer.goal == Goal::reset || issuer.goal == Goal::close ? Step::request
                                                                             : Step::look_sleeps;
      return Act::none;
    // `written` is stored before the request, because a reset drops everything issued before.
    case Step::request:
      words.store(Word::request, issuer.goal == Goal::close ? kCloseRequest : issuer.target);
      issuer.step = Step::look_sleeps;
      return Act::none;
    case Step::look_sleeps:
      // Loads `sleeps` after the store of `written`, in sequentially consistent order. The executor
      // sets `sleeps` and then reads `written` again, so at least one side sees the other's change.
      if (words.load(Word::sleeps) != 0)
        issuer.step = Step::wake;
      else if (issuer.goal == Goal::flush)
        issuer.finish(Outcome::done);
      else
        issuer.step = Step::look_signal;
      return Act::none;
    case Step::wake: {
      const std::uint32_t slept = words.exchange(Word::sleeps, 0);
      if (issuer.goal == Goal::flush)
        issuer.finish(Outcome::done);
      else
        issuer.step = Step::look_signal;
      if (slept == kSleepsOnWord) return Act::notify_executor;
      return slept == kSleepsForMessage ? Act::message_executor : Act::none;
    }
    // `signal` is read before the words whose changes it announces. So a later change of them ends
    // the wait at once.
    case Step::look_signal:
      issuer.seen_signal = words.load(Word::signal);
      issuer.step = Step::look_interrupt;
      return Act::none;
    case Step::look_interrupt: {
      const std::uint32_t interrupt = words.load(Word::interrupt);
      if (interrupt == kInterruptRevoke && issuer.goal != Goal::close)
        issuer.finish(Outcome::revoked);
      else
        issuer.step = interrupt == kInterruptOnce ? Step::take_interrupt : Step::look_goal;
      return Act::none;
    }
    case Step::take_interrupt:
      words.clear_if(Word::interrupt, kInterruptOnce);  // a revoke that came meanwhile stays set
      issuer.finish(Outcome::interrupted);
      return Act::none;
    case Step::look_goal:
      // The goal is checked before the error slot. The executor reports an error before the end of
      // the fence that follows it, so no error is missed.
      switch (issuer.goal) {
        case Goal::flush:
        case Goal::close:
          break;
        case Goal::room:
          issuer.met = issuer.head - words.load(Word::consumed) <= issuer.capacity - issuer.target;
          break;
        case Goal::fence:
          issuer.met = static_cast<std::int32_t>(words.load(Word::fence_done) - issuer.target) >= 0;
          break;
        case Goal::reset:
          issuer.met = words.load(Word::answered) == issuer.target;
          break;
      }
      issuer.step = Step::look_state;
      return Act::none;
    case Step::look_state: {
      const auto state = static_cast<State>(words.load(Word::state));
      issuer.step = Step::look_error;
      if (issuer.goal == Goal::close) {
        if (state == State::closed || state == State::gone || state == State::absent)
          issuer.finish(Outcome::done);
        else
          issuer.step = Step::look_progress;
      } else if (state == State::closed) {
        issuer.finish(Outcome::closed);
      } else if (issuer.goal == Goal::reset) {
        // A reset waits although no executor may be there, because a new one may still be starting.
        // It also waits for a lost device, which it opens again.
        if (issuer.met)
          issuer.finish(state == State::lost ? Outcome::device_lost : Outcome::done);
        else
          issuer.step = Step::look_progress;
      } else if (state == State::lost) {
        issuer.finish(Outcome::device_lost);
      } else if (state == State::gone) {
        issuer.finish(Outcome::executor_gone);
      }
      return Act::none;
    }
    case Step::look_error:
      if (words.load(Word::error_full) != 0)
        issuer.finish(Outcome::error);
      else if (issuer.met)
        issuer.finish(Outcome::done);
      else
        issuer.step = Step::look_progress;
      return Act::none;
    case Step::look_progress: {
      const std::uint32_t progress = words.load(Word::progress);
      if (progress != issuer.seen_progress) {
        issuer.seen_progress = progress;
        issuer.silent_ms = 0;
      }
      if (issuer.waited_ms >= issuer.timeout_ms)
        issuer.finish(Outcome::timed_out);
      else
        issuer.step = issuer.goal == Goal::reset ? Step::sleep : Step::look_silence;
      return Act::none;
    }
    case Step::look_silence: {
      const std::uint32_t promised = words.load(Word::silence_ms);
      if (issuer.silent_ms > (promised != 0 ? promised : kSilenceMs))
        issuer.finish(Outcome::executor_gone);
      else
        issuer.step = Step::sleep;
      return Act::none;
    }
    case Step::sleep:
      return Act::wait;
    case Step::finished:
      break;
  }
  return Act::finished;
}

}  // namespace arraycore::ring
