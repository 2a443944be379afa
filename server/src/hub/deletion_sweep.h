// Removes the rows of deleted studies in several commits (pieces), each of limited length. Between
// two pieces the writer is free for other commits. Used on the hub's strand only.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "base/result.h"
#include "hub/executor.h"
#include "storage/transition.h"

namespace hyperflock::hub {

class DeletionSweep {
 public:
  using Told = std::function<void(Result<storage::Outcome>)>;

  // `commit` is called on the strand. It commits a transition and then calls its second argument.
  // Between two pieces, `between` gets the task that removes the next piece. It must see to it that
  // the task runs on the strand.
  DeletionSweep(Strand strand, std::function<void(storage::Transition, Told)> commit,
                std::function<void(std::function<void()>)> between)
      : timer_(std::move(strand)), commit_(std::move(commit)), between_(std::move(between)) {}

  // Removes pieces until no rows are left or a commit fails.
  void begin() {
    if (stopped_ || std::exchange(sweeping_, true)) return;
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

  void next() {
    commit_(storage::SweepDeleted{}, [this](const Result<storage::Outcome>& outcome) {
      sweeping_ = outcome && outcome->applied == storage::Applied::applied && !stopped_;
      if (!sweeping_) return;
      timer_.expires_after(kGap);
      timer_.async_wait([this](const boost::system::error_code& error) {
        if (!error) between_([this] { next(); });
      });
    });
  }

  Timer timer_;
  const std::function<void(storage::Transition, Told)> commit_;
  const std::function<void(std::function<void()>)> between_;
  bool sweeping_ = false;
  bool stopped_ = false;
};

}  // namespace hyperflock::hub
