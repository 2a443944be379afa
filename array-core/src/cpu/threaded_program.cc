#include "cpu/threaded_program.h"

#include <algorithm>

#include "thread_pool/thread_pool.h"

namespace arraycore::cpu {
namespace {

// Waking a thread takes about 20 us, in which this many operations on elements could run.
constexpr std::int64_t kSharedWork = 400'000;
// The number of parts for each thread. With several parts each, all threads end at nearly the same
// time.
constexpr std::int64_t kPartsOfThread = 8;

}  // namespace

Status ThreadedProgram::run(const ir::Launch& launch) {
  Machine& own = machine();
  TRY_DONE(own.begin(launch));
  units_ = own.units();
  const int threads = std::min(thread_pool().threads(), ThreadPool::kMaxThreads);
  if (threads == 1 || units_ < 2 || !program_.is_independent() ||
      units_ < kSharedWork / own.unit_work()) {
    own.compute(0, units_);
    return Done{};
  }
  while (machines_.size() < static_cast<std::size_t>(threads)) add();
  for (int thread = 1; thread < threads; ++thread) {
    TRY_DONE(machines_[static_cast<std::size_t>(thread)]->begin(launch));
  }
  const std::int64_t parts = std::min(units_, threads * kPartsOfThread);
  units_of_part_ = (units_ + parts - 1) / parts;
  if (thread_pool().run(part, this, (units_ + units_of_part_ - 1) / units_of_part_, threads))
    return Done{};
  return ThreadPool::lost();
}

void ThreadedProgram::part(void* task, std::int64_t part, int thread) {
  auto& threaded = *static_cast<ThreadedProgram*>(task);
  const std::int64_t first = part * threaded.units_of_part_;
  threaded.machines_[static_cast<std::size_t>(thread)]->compute(
      first, std::min(threaded.units_of_part_, threaded.units_ - first));
}

}  // namespace arraycore::cpu
