// Finds the positions of a mask's true elements, as C-order numbers. A device counts the true
// elements of each block, and only their total is read back. Then each invocation finds one
// position, so the kernels need no scatter. Python's thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "operations/scan.h"
#include "runtime/launcher.h"

namespace arraycore {

class Masks {
 public:
  Masks(Launcher& launcher, Scans& scans) : launcher_(launcher), scans_(scans) {}

  // Returns the positions as int32. `count` is the result's length, if the caller knows it or
  // chooses it. Then nothing is read back from a device, and positions that do not exist are -1.
  // REQUIRES: `mask` has bools. Error: value, "loop_too_long".
  Result<Array> positions(const Array& mask, std::optional<std::int64_t> count = {});

  // Returns the coordinates in `shape` of C-order numbers: one int64 row for each axis. `positions`
  // has one axis.
  Result<Array> coordinates(const Array& positions, const Dims& shape);

 private:
  Result<Array> on_host(const Array& mask);
  Result<KernelRef> count_kernel();
  Result<KernelRef> find_kernel();
  Result<KernelRef> coordinate_kernel();

  Launcher& launcher_;
  Scans& scans_;
  // The number of true elements of the newest mask whose elements a device counted.
  std::int32_t total_ = 0;
  std::optional<KernelRef> count_;
  std::optional<KernelRef> find_;
  std::optional<KernelRef> coordinate_;
};

// Returns the bytes of an array's elements in C order. REQUIRES: the array is on the CPU.
Result<std::vector<std::byte>> host_elements(Launcher& launcher, const Array& array);

// Checks that int32 can number this many elements. Error: value, "loop_too_long".
Status check_numbers(std::int64_t count);

}  // namespace arraycore
