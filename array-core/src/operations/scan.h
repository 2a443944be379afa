// Computes running sums of integers over an array. For a mask they give the place of each selected
// element in the result. Python's thread only.
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
  inclusive,  // element k gets the sum of the elements 0 to k
  exclusive,  // element k gets the sum of the elements 0 to k - 1, and the first one 0
};

class Scans {
 public:
  explicit Scans(Launcher& launcher) : launcher_(launcher) {}
  Scans(const Scans&) = delete;
  Scans& operator=(const Scans&) = delete;

  // Writes the sums over `source` in C order, whatever its strides. A bool counts as 0 or 1, and
  // sums wrap. It takes one launch and reads nothing back. The target may be the source. REQUIRES:
  // `target` is int32 and has the source's shape; the source has bools or integers.
  Status add(const Array& target, const Array& source, ScanKind kind);

 private:
  Result<KernelRef> kernel(DType source, ScanKind kind);

  Launcher& launcher_;
  std::array<std::array<std::optional<KernelRef>, 2>, kDTypes> kernels_;  // by dtype and kind
};

}  // namespace arraycore
