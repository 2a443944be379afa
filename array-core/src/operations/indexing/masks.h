// Where masks are true: the C-order numbers of their true elements. On a device they are counted
// there in blocks, and only their number is read; each number is then found by itself, so that the
// kernels only gather. Touched by Python's thread only.
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

  // As int32. `count`: so many, where the caller knows or will not ask how many there are: then
  // nothing is read on a device, and what is missing is -1. REQUIRES: `mask` is of bool.
  // Error: value, "loop_too_long".
  Result<Array> positions(const Array& mask, std::optional<std::int64_t> count = {});

  // Coordinates of C-order numbers in `shape`: one int64 row each. `positions` has one axis.
  Result<Array> coordinates(const Array& positions, const Dims& shape);

 private:
  Result<Array> on_host(const Array& mask);
  Result<KernelRef> count_kernel();
  Result<KernelRef> find_kernel();
  Result<KernelRef> coordinate_kernel();

  Launcher& launcher_;
  Scans& scans_;
  std::int32_t total_ = 0;  // what is read: in the library's memory, where a device's bytes land
  std::optional<KernelRef> count_;
  std::optional<KernelRef> find_;
  std::optional<KernelRef> coordinate_;
};

// The bytes of an array's elements in C order. REQUIRES: it lives on the CPU.
Result<std::vector<std::byte>> host_elements(Launcher& launcher, const Array& array);

// Error: value, "loop_too_long", for what int32 does not number.
Status check_numbers(std::int64_t count);

}  // namespace arraycore
