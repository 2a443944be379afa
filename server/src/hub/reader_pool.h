// Threads for work that may block: reading the database and files, and hashing. The work is divided
// into bands with threads of their own, so that short work never waits behind long work, a device
// never behind a researcher, an administrator never behind anybody else, and a monitor behind none
// of them. In each band the callers take turns (fair_queue.h).
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "hub/fair_queue.h"
#include "telemetry/request_context.h"

namespace hyperflock::hub {

enum class Band {
  quick,      // a row, a piece of a file, a page's script
  costly,     // pages of trials, series and logs; hashing
  operators,  // everything that administrators ask for, and the server's own work
  devices,    // as quick, of the compute origin
  devices_costly,
  monitors,  // probes: /healthz, /readyz and /metrics
};
inline constexpr std::size_t kBands = 6;
inline constexpr std::array<std::string_view, kBands> kBandNames{
    "quick", "costly", "operators", "devices", "devices_costly", "monitors"};

// The queue in which work waits: each caller has one in each band.
struct Lane {
  Band band = Band::operators;
  std::string caller{};  // a person, a device or a network; empty: the server itself
};

// Returns the lane for short work that follows costly work of the same caller.
inline Lane quick_after(Lane lane) {
  if (lane.band == Band::costly) lane.band = Band::quick;
  if (lane.band == Band::devices_costly) lane.band = Band::devices;
  return lane;
}

struct ReaderLimits {
  // The number of threads of each Band. It is one more than a caller may use at once, so that a
  // second caller need not wait for the first one's task.
  std::array<std::size_t, kBands> threads{2, 2, 2, 2, 2, 2};
  FairLimits queues{};
  // Is called with how long a task has waited, just before it runs. Any thread.
  std::function<void(Band, std::chrono::duration<double>)> waited{};
};

class ReaderPool {
 public:
  explicit ReaderPool(const ReaderLimits& limits);
  ~ReaderPool();
  ReaderPool(const ReaderPool&) = delete;
  ReaderPool& operator=(const ReaderPool&) = delete;

  // Runs the task on a thread of the lane's band. If the answer is not Added::yes, a queue is full
  // or the pool has stopped, and the task does not run. The task runs for the request of the thread
  // that posts it (telemetry::RequestScope). Any thread.
  [[nodiscard]] Added post(const Lane& lane, std::function<void()> task);
  // Runs the server's own work.
  [[nodiscard]] bool post(std::function<void()> task) {
    return post(Lane{}, std::move(task)) == Added::yes;
  }

  // Returns how many tasks of a band wait. Any thread.
  std::size_t waiting(Band band) const;

  // Finishes running tasks and drops waiting ones. Further calls do nothing.
  void stop();

 private:
  struct Task {
    std::function<void()> run;
    std::chrono::steady_clock::time_point since;
    telemetry::RequestContext request;  // the one that posted it
  };
  using Queue = FairQueue<Task>;
  struct Work {
    explicit Work(const FairLimits& limits) : queue(limits) {}
    Queue queue;  // under mutex_
    std::condition_variable wake;
  };

  void run(std::size_t band);

  const std::function<void(Band, std::chrono::duration<double>)> waited_;
  mutable std::mutex mutex_;
  std::array<Work, kBands> work_;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace hyperflock::hub
