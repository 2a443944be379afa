// The kernels of indexing with integer arrays: gather, scatter, and updates at places that several
// indices may name. Each kernel takes a source or target whose picked axes come first, in the order
// of the index arrays. The loop's shape is the shape of the indices followed by the kept axes. A
// kernel is made once for each signature and kept. Used by Python's thread only.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "ops/ufunc.h"
#include "runtime/launcher.h"

namespace arraycore {

// The properties of one array of indices on which a kernel depends.
struct PickSignature {
  DType dtype = DType::int32;
  // True: every index is in [0, extent), or may also be -1 if IndexSignature::skips is set. False:
  // negative indices count from the end, and an index out of bounds wraps around (without a device
  // it was refused before).
  bool checked = false;
};

enum class IndexTask : std::uint8_t {
  gather,   // out = array[picks]
  scatter,  // array[picks] = value
  mark,     // array[picks] = -1; the array is int32
  claim,    // array[picks] = the largest number among the loop's elements that pick the place
  add,      // array[picks] += value, atomically
  minimum,
  maximum,
  apply,  // array[picks] = ufunc(array[picks], value), by compare-and-exchange
};

struct IndexSignature {
  IndexTask task = IndexTask::gather;
  DType array = DType::float32;
  DType value = DType::float32;  // for scatter and the updates
  bool value_is_scalar = false;
  bool spread = false;   // an index picks several elements, those of the kept axes
  bool skips = false;    // an index of -1 does nothing
  bool negated = false;  // for add: it subtracts
  bool winners = false;  // for scatter: one more array says which element of the loop is written
  std::vector<PickSignature> picks;
  const ops::UFunc* ufunc = nullptr;  // for apply
  ops::Loop loop;                     // for apply

  std::string key() const;
};

// Makes the kernel of a signature. Its parameters, in order: `array` (raw, indexed by C-order
// number); `value` (not for gather, mark and claim); one elementwise array of indices for each
// pick; one int32 scalar for each pick, its extent; with `spread` an int32 scalar, the number of
// kept elements; with `winners` a raw int32 array over the picked axes; for gather `out`.
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
