// Does work that would hold the writer too long in several commits (pieces) of limited length: it
// removes the rows of deleted studies, and looks for the best trials of studies that have lost one.
// Between two pieces the writer is free for other commits. Used on the hub's strand only.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "base/result.h"
#include "hub/executor.h"
#include "storage/transition.h"

namespace hyperflock::hub {

class Piecework {
 public:
  using Done = std::function<void(Result<storage::Outcome>)>;

  // `commit` is called on the strand. It commits a transition and then calls its second argument.
  // Between two pieces, `between` gets the task that does the next piece. It must see to it that
  // the task runs on the strand.
  Piecework(Strand strand, std::function<void(storage::Transition, Done)> commit,
            std::function<void(std::function<void()>)> between)
      : timer_(std::move(strand)), commit_(std::move(commit)), between_(std::move(between)) {}

  // Does pieces until nothing is left to do, or a commit fails.
  void begin() {
    sweeps_ = searches_ = true;
    if (stopped_ || std::exchange(working_, true)) return;
    next();
  }
  void stop() {
    stopped_ = true;
    timer_.cancel();
  }

 private:
  // The pause between two pieces. A piece takes less time, so the writer is free for more than half
  // of the time.
  static constexpr std::chrono::milliseconds kGap{10};

  // Deleted rows go first: while the disk is full, only their pieces are committed.
  void next() {
    bool& goes_on = sweeps_ ? sweeps_ : searches_;
    storage::Transition piece = storage::SearchBest{};
    if (sweeps_) piece = storage::SweepDeleted{};
    commit_(std::move(piece), [this, &goes_on](const Result<storage::Outcome>& outcome) {
      working_ = outcome && !stopped_;
      if (!working_) return;
      if (outcome->applied != storage::Applied::applied) {
        goes_on = false;
        working_ = sweeps_ || searches_;
        if (working_) next();
        return;
      }
      timer_.expires_after(kGap);
      timer_.async_wait([this](const boost::system::error_code& error) {
        if (!error) between_([this] { next(); });
      });
    });
  }

  Timer timer_;
  const std::function<void(storage::Transition, Done)> commit_;
  const std::function<void(std::function<void()>)> between_;
  bool working_ = false;
  bool stopped_ = false;
  bool sweeps_ = false;    // whether there may be rows to remove
  bool searches_ = false;  // whether there may be a study that lacks best trials
};

}  // namespace hyperflock::hub
