// Batched launches: what the same elementwise kernel does to many sets of small arrays that exist
// already, an optimizer's parameters, waits and becomes one launch (fuse/batch.h). A launch waits
// where all that it touches lies in shared buffers of the device (Backend::shared_buffer); whatever
// touches what it wrote, or writes what it reads, launches all that waits first. When that happens
// depends on the program alone. Touched by Python's thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/result.h"
#include "runtime/launcher.h"

namespace arraycore {

class Batching {
 public:
  // What waits at the most, so that arrays which Python let go are not held for long.
  static constexpr std::size_t kMaxLaunches = 512;

  explicit Batching(Launcher& launcher) : launcher_(launcher) {}
  Batching(const Batching&) = delete;
  Batching& operator=(const Batching&) = delete;

  // Lets the launch wait; false, and nothing was done, where it has to be made at once.
  // REQUIRES: it writes arrays that callers hold; nothing waits to compute what it touches.
  Result<bool> take(const KernelCall& call);
  // Launches all that waits, in an order that gives every launch what it would have read.
  // An error is the first one's; the others are launched all the same. Ctrl-C while the device is
  // busy loses nothing: what was not launched goes on waiting.
  Status flush();
  // What waits is never launched: its arrays are gone.
  void forget();
  // Before the array is read, or written.
  Status before_read(const Array& array);
  Status before_write(const Array& array);
  // Before what a launch reads and writes.
  Status before(const KernelCall& call);

 private:
  struct Waiting {
    std::vector<Array> arrays;  // one an array parameter
    std::int64_t count = 0;     // elements
  };
  // Launches that may go together: one kernel, one set of scalars and of buffers. None touches what
  // another of them writes.
  struct Group {
    KernelRef kernel = 0;
    std::vector<ir::Scalar> scalars;
    std::vector<std::uint32_t> buffers;
    std::vector<Waiting> launches;
  };
  std::deque<Group> taken_out();
  bool fits(const KernelCall& call);
  void put_back(std::deque<Group> groups);
  // Notes the first error. False where Ctrl-C has left launches, which the group still has.
  bool run(Group& group, Status& first);
  Status run_together(const Group& group, std::size_t first, std::size_t count);
  Status run_alone(const Group& group, const Waiting& waiting);

  Launcher& launcher_;
  std::deque<Group> groups_;
  std::size_t launches_ = 0;
  std::vector<std::uint32_t> buffers_;  // of the call that is looked at
};

}  // namespace arraycore
