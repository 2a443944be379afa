// Batched launches. The same elementwise kernel over many sets of small existing arrays, such as an
// optimizer's parameters, becomes one launch (fuse/batch.h). A launch waits if all arrays that it
// touches are in shared buffers of the device (Backend::shared_buffer). Later, an operation may
// touch an array that a waiting launch writes, or may write an array that a waiting launch reads.
// Such an operation first launches everything that waits. So the launches depend on the program's
// operations only, not on time. Touched by Python's thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/result.h"
#include "runtime/launcher.h"

namespace arraycore {

class Batching {
 public:
  // The most launches that wait, so that arrays which Python released are not held for long.
  static constexpr std::size_t kMaxLaunches = 512;

  explicit Batching(Launcher& launcher) : launcher_(launcher) {}
  Batching(const Batching&) = delete;
  Batching& operator=(const Batching&) = delete;

  // Lets the launch wait. Returns false, without any effect, if it must be made at once. REQUIRES:
  // it writes arrays that callers hold, and what computes its operands does not wait.
  Result<bool> take(const KernelCall& call);
  // Launches everything that waits, in an order in which each launch reads what it would have read.
  // On errors it returns the first one and launches the others all the same. Ctrl-C while the
  // device is busy loses nothing: what was not launched continues to wait.
  Status flush();
  // Drops what waits without launching it, because its arrays are gone.
  void forget();
  // Must be called before the array is read, or written. They launch what waits if it concerns the
  // array.
  Status before_read(const Array& array);
  Status before_write(const Array& array);
  // Must be called before a launch. It covers everything that the launch reads and writes.
  Status before(const KernelCall& call);

 private:
  struct Waiting {
    std::vector<Array> arrays;  // one for each array parameter
    std::int64_t count = 0;     // elements
  };
  // Launches that may become one: they have one kernel, one set of scalars and one set of buffers,
  // and none touches what another one writes.
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
  // it; then the group has the launches that are left.
  bool run(Group& group, Status& first);
  Status run_together(const Group& group, std::size_t first, std::size_t count);
  Status run_alone(const Group& group, const Waiting& waiting);

  Launcher& launcher_;
  std::deque<Group> groups_;
  std::size_t launches_ = 0;
  std::vector<std::uint32_t> buffers_;  // of the call that is being examined
};

}  // namespace arraycore
