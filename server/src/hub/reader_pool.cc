#include "hub/reader_pool.h"

#include <sys/resource.h>
#include <unistd.h>

#include <deque>
#include <utility>

namespace hyperflock::hub {
namespace {

// When all cores are busy, threads for long work get little time, so that sockets, commits and
// short work hardly wait for them.
constexpr int kCostlyNiceness = 10;

void yield_to_others() {
#ifdef __linux__
  // On Linux, setpriority() with a thread's id changes only that thread. If it fails, the server is
  // only slower.
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kCostlyNiceness);
#endif
}

}  // namespace

ReaderPool::ReaderPool(const ReaderLimits& limits)
    : waited_(limits.waited), work_{Work(limits.queues), Work(limits.queues), Work(limits.queues),
                                    Work(limits.queues), Work(limits.queues), Work(limits.queues)} {
  for (std::size_t band = 0; band < kBands; ++band) {
    for (std::size_t i = 0; i < limits.threads[band]; ++i)
      threads_.emplace_back([this, band] {
        const auto own = static_cast<Band>(band);
        if (own == Band::costly || own == Band::devices_costly) yield_to_others();
        run(band);
      });
  }
}

ReaderPool::~ReaderPool() { stop(); }

Added ReaderPool::post(const Lane& lane, std::function<void()> task) {
  Work& work = work_[static_cast<std::size_t>(lane.band)];
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return Added::full;
    const Added added = work.queue.add(
        lane.caller,
        Task{std::move(task), std::chrono::steady_clock::now(), telemetry::current_request()});
    if (added != Added::yes) return added;
  }
  work.wake.notify_one();
  return Added::yes;
}

void ReaderPool::stop() {
  std::array<std::deque<Task>, kBands> dropped;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    for (std::size_t band = 0; band < kBands; ++band) dropped[band] = work_[band].queue.clear();
  }
  for (Work& work : work_) work.wake.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

std::size_t ReaderPool::waiting(Band band) const {
  const std::lock_guard lock(mutex_);
  return work_[static_cast<std::size_t>(band)].queue.waiting();
}

void ReaderPool::run(std::size_t band) {
  Work& work = work_[band];
  std::unique_lock lock(mutex_);
  for (;;) {
    work.wake.wait(lock, [&] { return stopped_ || work.queue.ready(); });
    if (stopped_) return;
    auto next = work.queue.take();
    lock.unlock();
    if (waited_)
      waited_(static_cast<Band>(band), std::chrono::steady_clock::now() - next->task.since);
    {
      const telemetry::RequestScope scope(next->task.request);
      next->task.run();
      next->task.run = nullptr;  // destroys what it holds before the lock is taken again
    }
    lock.lock();
    if (stopped_) return;
    // This thread looks at the queue itself, so no other one need be woken for the caller's next
    // task.
    work.queue.done(next->caller);
  }
}

}  // namespace hyperflock::hub
