// Two resumable machines of state.h: Drain, the executor's loop, and Announcement, which reports
// news from its device. Only the executor's thread uses them.
#pragma once

#include <cstdint>

#include "ring/act.h"
#include "ring/commands.h"

namespace arraycore::ring {

// ---- the executor's loop ----------------------------------------------------------------------

struct Drain {
  enum class Step : std::uint8_t {
    attach,  // look at the state that an earlier executor left
    attach_answered,
    attach_consumed,
    attach_awake,  // an earlier executor may have ended while it slept
    attach_silence,
    attach_state,
    look_request,
    look_written,
    execute,
    consume,
    signal,
    notify,
    forget_error,
    reset,
    reset_written,
    reset_consume,
    reset_state,
    reset_answer,
    close,
    set_sleeps,
    recheck_written,
    recheck_request,
    clear_sleeps,
    sleep,
    finished,
  };

  Step step = Step::attach;
  bool lost = false;  // commands are dropped until a reset
  bool closing = false;
  // The newest command was a fence, and the announcement of its end will wake the issuer. So the
  // issuer is not also woken when the command is taken, because that would only disturb it while
  // the device works.
  bool news_follows = false;
  bool by_message = false;     // this host cannot sleep on a word
  std::uint32_t position = 0;  // of the next command
  std::uint32_t written = 0;   // as last seen
  std::uint32_t handled = 0;   // the newest reset that was carried out
  bool operator==(const Drain&) const = default;

  // Notes that the command at `position`, which has `words` words, was executed or dropped.
  void executed(std::uint32_t words, bool fence_began = false) {
    position += words;
    news_follows = fence_began;
    step = Step::consume;
  }
  void was_reset(bool device_opened) {
    lost = !device_opened;
    step = Step::reset_written;
  }
  void after_wait() { step = Step::clear_sleeps; }
};

template <typename Words>
Act step(Drain& drain, Words& words) {
  using Step = Drain::Step;
  switch (drain.step) {
    case Step::attach: {
      const auto state = static_cast<State>(words.load(Word::state));
      // The objects of an earlier executor are lost, and commands in the ring may name them. So the
      // commands are dropped until a reset.
      drain.lost = drain.lost || state != State::absent;
      drain.step = Step::attach_answered;
      return Act::none;
    }
    case Step::attach_answered:
      drain.handled = words.load(Word::answered);
      drain.step = Step::attach_consumed;
      return Act::none;
    case Step::attach_consumed:
      drain.position = words.load(Word::consumed);
      drain.step = Step::attach_awake;
      return Act::none;
    case Step::attach_awake:
      words.store(Word::sleeps, 0);
      drain.step = Step::attach_silence;
      return Act::none;
    case Step::attach_silence:
      words.store(Word::silence_ms, 0);
      drain.step = Step::attach_state;
      return Act::none;
    case Step::attach_state:
      words.store(Word::state,
                  static_cast<std::uint32_t>(drain.lost ? State::lost : State::running));
      drain.step = Step::look_request;
      return Act::none;
    case Step::look_request: {
      const std::uint32_t request = words.load(Word::request);
      if (request == kCloseRequest) {
        drain.step = Step::close;
      } else if (request != drain.handled) {
        drain.handled = request;
        drain.step = Step::forget_error;
      } else {
        drain.step = Step::look_written;
      }
      return Act::none;
    }
    case Step::look_written:
      drain.written = words.load(Word::written);
      drain.step = drain.written == drain.position ? Step::set_sleeps : Step::execute;
      return Act::none;
    case Step::execute:
      return Act::execute;
    case Step::consume:
      words.store(Word::consumed, drain.position);
      drain.step = drain.news_follows ? Step::look_request : Step::signal;
      drain.news_follows = false;
      return Act::none;
    case Step::signal:
      words.add(Word::signal, 1);
      drain.step = Step::notify;
      return Act::none;
    case Step::notify:
      drain.step = drain.closing ? Step::finished : Step::look_request;
      return Act::notify_issuer;
    // A reset forgets all errors. One may have come since the issuer last emptied the error slot.
    case Step::forget_error:
      words.store(Word::error_full, 0);
      drain.step = Step::reset;
      return Act::none;
    case Step::reset:
      return Act::reset;
    case Step::reset_written:  // the issuer published everything before it requested the reset
      drain.position = words.load(Word::written);
      drain.step = Step::reset_consume;
      return Act::none;
    case Step::reset_consume:
      words.store(Word::consumed, drain.position);
      drain.step = Step::reset_state;
      return Act::none;
    case Step::reset_state:
      words.store(Word::state,
                  static_cast<std::uint32_t>(drain.lost ? State::lost : State::running));
      drain.step = Step::reset_answer;
      return Act::none;
    case Step::reset_answer:
      words.store(Word::answered, drain.handled);
      drain.step = Step::signal;
      return Act::none;
    case Step::close:
      words.store(Word::state, static_cast<std::uint32_t>(State::closed));
      drain.closing = true;
      drain.step = Step::signal;
      return Act::none;
    case Step::set_sleeps:
      words.store(Word::sleeps, drain.by_message ? kSleepsForMessage : kSleepsOnWord);
      drain.step = Step::recheck_written;
      return Act::none;
    case Step::recheck_written:  // what was written before `sleeps` was set has woken nobody
      drain.step =
          words.load(Word::written) == drain.position ? Step::recheck_request : Step::clear_sleeps;
      return Act::none;
    case Step::recheck_request:
      drain.step = words.load(Word::request) == drain.handled ? Step::sleep : Step::clear_sleeps;
      return Act::none;
    case Step::clear_sleeps:
      words.store(Word::sleeps, 0);
      drain.step = Step::look_request;
      return Act::none;
    case Step::sleep:
      return Act::wait;
    case Step::finished:
      break;
  }
  return Act::finished;
}

// ---- news from the device ---------------------------------------------------------------------

enum class News : std::uint8_t {
  fence,  // a fence is done, and the bytes of its reads are there
  error,
  loss,
};

// Reports one event to the issuer. It completes before the executor's thread does anything
// else.
struct Announcement {
  enum class Step : std::uint8_t {
    store_fence,
    look_slot,
    write_error,
    fill_slot,
    drop_error,
    store_lost,
    signal,
    notify,
    finished,
  };

  Step step = Step::finished;
  News news = News::fence;
  std::uint32_t fence = 0;
  bool operator==(const Announcement&) const = default;

  void start(News what, std::uint32_t fence_number = 0) {
    news = what;
    fence = fence_number;
    step = what == News::fence ? Step::store_fence : Step::look_slot;
  }
};

template <typename Words>
Act step(Announcement& announcement, Words& words) {
  using Step = Announcement::Step;
  switch (announcement.step) {
    case Step::store_fence:
      words.store(Word::fence_done, announcement.fence);
      announcement.step = Step::signal;
      return Act::none;
    case Step::look_slot:  // only one error is kept, because later ones are mostly its consequences
      announcement.step = words.load(Word::error_full) == 0 ? Step::write_error : Step::drop_error;
      return Act::none;
    case Step::write_error:
      announcement.step = Step::fill_slot;
      return Act::write_error;
    case Step::fill_slot:
      words.store(Word::error_full, 1);
      announcement.step = announcement.news == News::loss ? Step::store_lost : Step::signal;
      return Act::none;
    case Step::drop_error:
      words.add(Word::errors_dropped, 1);
      announcement.step = announcement.news == News::loss ? Step::store_lost : Step::finished;
      return Act::none;
    case Step::store_lost:
      words.store(Word::state, static_cast<std::uint32_t>(State::lost));
      announcement.step = Step::signal;
      return Act::none;
    case Step::signal:
      words.add(Word::signal, 1);
      announcement.step = Step::notify;
      return Act::none;
    case Step::notify:
      announcement.step = Step::finished;
      return Act::notify_issuer;
    case Step::finished:
      break;
  }
  return Act::finished;
}

}  // namespace arraycore::ring
