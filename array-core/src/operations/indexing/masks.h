// The positions of a mask's true elements, as C-order numbers. A device counts them in blocks, and
// only their number is read back. Each position is then found separately, so that the kernels only
// gather. Touched by Python's thread only.
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

  // Returns the positions as int32. `count` says how many there are, where the caller knows it or
  // does not need to. Then a device's result is not read back, and missing positions are -1.
  // REQUIRES: `mask` has bools. Error: value, "loop_too_long".
  Result<Array> positions(const Array& mask, std::optional<std::int64_t> count = {});

  // Returns the coordinates of C-order numbers in `shape`, an int64 row for each axis. `positions`
  // has one axis.
  Result<Array> coordinates(const Array& positions, const Dims& shape);

 private:
  Result<Array> on_host(const Array& mask);
  Result<KernelRef> count_kernel();
  Result<KernelRef> find_kernel();
  Result<KernelRef> coordinate_kernel();

  Launcher& launcher_;
  Scans& scans_;
  std::int32_t total_ = 0;  // read from a device, whose bytes land in the library's memory
  std::optional<KernelRef> count_;
  std::optional<KernelRef> find_;
  std::optional<KernelRef> coordinate_;
};

// Returns the bytes of an array's elements in C order. REQUIRES: it lives on the CPU.
Result<std::vector<std::byte>> host_elements(Launcher& launcher, const Array& array);

// Error: value, "loop_too_long", for more elements than int32 can number.
Status check_numbers(std::int64_t count);

}  // namespace arraycore
