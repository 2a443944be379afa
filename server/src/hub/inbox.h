// What waits for a strand: anything may be added on any thread, and the strand takes all of it at
// once. Each input is handled for the request of the thread that added it
// (telemetry::RequestScope).
//
//   if (inbox.add(std::move(input))) asio::post(strand, [this] { work(); });
//   inbox.take_all([](Input& input) { ... });  // in work()
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "telemetry/request_context.h"

namespace hyperflock::hub {

template <typename Input>
class Inbox {
 public:
  // Returns whether take_all() has to be called: it is not on its way yet. Any thread.
  bool add(Input input) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({std::move(input), telemetry::current_request()});
    return !std::exchange(called_, true);
  }

  // Passes everything that waits to `handle`, in order. Only on the strand.
  template <typename Handle>
  void take_all(Handle handle) {
    {
      const std::lock_guard lock(mutex_);
      std::swap(waiting_, taken_);
      called_ = false;
    }
    for (Waiting& one : taken_) {
      const telemetry::RequestScope scope(one.request);
      handle(one.input);
    }
    taken_.clear();
  }

 private:
  struct Waiting {
    Input input;
    telemetry::RequestContext request;
  };

  std::mutex mutex_;
  std::vector<Waiting> waiting_;  // under mutex_
  bool called_ = false;           // under mutex_
  std::vector<Waiting> taken_;    // the strand's; it keeps its memory
};

}  // namespace hyperflock::hub
