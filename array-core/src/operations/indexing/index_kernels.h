// The kernels of integer-array indexing: gather, scatter, and updates of what many indices may
// meet. Each takes a source or target whose picked axes come first, in the order of its indices,
// and a loop over the indices' shape with the kept elements behind it. Made once for each look, and
// kept. Touched by Python's thread only.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "ops/ufunc.h"
#include "runtime/launcher.h"

namespace arraycore {

// One array of indices as a kernel sees it.
struct PickSignature {
  DType dtype = DType::int32;
  // Every index lies in [0, extent), or is -1 in a kernel that skips. Else negative indices count
  // from the end, and what lies outside wraps around (on the CPU alone it was refused before).
  bool checked = false;
};

enum class IndexTask : std::uint8_t {
  gather,   // out = array[picks]
  scatter,  // array[picks] = value
  mark,     // array[picks] = -1, an int32 array
  claim,    // array[picks] = the largest number of an element of the loop that goes there
  add,      // array[picks] += value, atomically
  minimum,
  maximum,
  apply,  // array[picks] = ufunc(array[picks], value), by comparing and exchanging
};

struct IndexSignature {
  IndexTask task = IndexTask::gather;
  DType array = DType::float32;
  DType value = DType::float32;  // scatter and the updates
  bool value_is_scalar = false;
  bool spread = false;   // an index picks many kept elements, not one
  bool skips = false;    // an index of -1 does nothing
  bool negated = false;  // add: subtracts
  bool winners = false;  // scatter: one more array says which element of the loop stays
  std::vector<PickSignature> picks;
  const ops::UFunc* ufunc = nullptr;  // apply
  ops::Loop loop;                     // apply

  std::string key() const;
};

// The kernel of a signature. Parameters, in order: `array`, raw, by one C-order number; `value`
// (not of gather, mark and claim); one elementwise array for each pick; one int32 scalar for each
// pick, its extent; with `spread` an int32 scalar, the number of kept elements; with `winners` a
// raw int32 array over the picked axes; of gather `out`.
ir::Kernel make_index_kernel(const IndexSignature& signature);

class IndexKernels {
 public:
  explicit IndexKernels(Launcher& launcher) : launcher_(launcher) {}
  Result<KernelRef> get(const IndexSignature& signature);

 private:
  Launcher& launcher_;
  std::unordered_map<std::string, KernelRef> known_;
};

}  // namespace arraycore
