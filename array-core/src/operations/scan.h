// Running sums of whole numbers over an array: where the elements go that a mask chooses. Touched
// by Python's thread only.
//
//   Scans scans(launcher);
//   scans.add(positions, mask, ScanKind::exclusive);  // int32 of a bool
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "runtime/launcher.h"

namespace arraycore {

enum class ScanKind : std::uint8_t {
  inclusive,  // element k: the sum of elements 0 to k
  exclusive,  // element k: the sum of elements 0 to k - 1; 0 for the first
};

class Scans {
 public:
  explicit Scans(Launcher& launcher) : launcher_(launcher) {}
  Scans(const Scans&) = delete;
  Scans& operator=(const Scans&) = delete;

  // The sums over all of `source` in C order, whatever its strides; a bool counts 0 or 1, sums
  // wrap. One launch; nothing is read back. The target may be the source. REQUIRES: `target` is
  // int32 and has the source's shape; the source is bool or of whole numbers.
  Status add(const Array& target, const Array& source, ScanKind kind);

 private:
  Result<KernelRef> kernel(DType source, ScanKind kind);

  Launcher& launcher_;
  std::array<std::array<std::optional<KernelRef>, 2>, kDTypes> kernels_;  // by dtype, by kind
};

}  // namespace arraycore
