// Batched launches. The same elementwise kernel over many sets of small existing arrays, such as an
// optimizer's parameters, becomes one launch (fuse/batch.h). A launch waits if all arrays that it
// touches are in shared buffers of the device (Backend::shared_buffer). Later, an operation may
// touch an array that a waiting launch writes, or may write an array that a waiting launch reads.
// Such an operation first launches everything that waits. So the launches depend on the program's
// operations only, not on time. Used by Python's thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/result.h"
#include "runtime/launcher.h"

namespace arraycore {

class Batching {
 public:
  // At most this many launches wait, so that arrays which Python has released are soon freed.
  static constexpr std::size_t kMaxLaunches = 512;

  explicit Batching(Launcher& launcher) : launcher_(launcher) {}
  Batching(const Batching&) = delete;
  Batching& operator=(const Batching&) = delete;

  // Lets the launch wait. Returns false, without any effect, if the launch must be made at once.
  // REQUIRES: callers hold the arrays that the launch writes; no operation that computes one of the
  // launch's operands still waits in a group (fusion.h).
  Result<bool> take(const KernelCall& call);
  // Launches everything that waits. The order is such that each launch reads the right values. On
  // errors it returns the first one and still launches the others. If Ctrl-C comes while the device
  // is busy, the remaining launches continue to wait.
  Status flush();
  // Drops waiting launches without running them, because their arrays are gone.
  void forget();
  // before_read() launches everything that waits if a waiting launch writes the array.
  // before_write() does so also if a waiting launch reads the array. Call them before the access.
  Status before_read(const Array& array);
  Status before_write(const Array& array);
  // Calls before_read() or before_write() for all arrays of a launch. Call it before the launch.
  Status before(const KernelCall& call);

 private:
  struct Waiting {
    std::vector<Array> arrays;  // one for each array parameter
    std::int64_t count = 0;     // elements
  };
  // Launches that may become one: they have one kernel, the same scalars and the same buffers, and
  // none uses an array that another one writes.
  struct Group {
    KernelRef kernel = 0;
    std::vector<ir::Scalar> scalars;
    std::vector<std::uint32_t> buffers;
    std::vector<Waiting> launches;
  };
  std::deque<Group> taken_out();
  bool fits(const KernelCall& call);
  void put_back(std::deque<Group> groups);
  // Launches the group and keeps the first error in `first`. Returns false if Ctrl-C interrupted
  // it; then the group has the remaining launches.
  bool run(Group& group, Status& first);
  Status run_together(const Group& group, std::size_t first, std::size_t count);
  Status run_alone(const Group& group, const Waiting& waiting);

  Launcher& launcher_;
  std::deque<Group> groups_;
  std::size_t launches_ = 0;
  std::vector<std::uint32_t> buffers_;  // of the call that is being examined
};

}  // namespace arraycore
