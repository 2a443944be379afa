// Reads and writes arrays by arrays of indices and masks. The basic parts of a key become a view
// (index_key.h), and the rest becomes one gather or one scatter. Python's thread only.
//
// Without a device, an index out of bounds is an error before anything is written. With a device it
// wraps around, because a check would have to wait for the device; only indices in Python's memory
// are checked. If several values are assigned to one element, the last one stays.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "operations/indexing/index_kernels.h"
#include "operations/indexing/index_key.h"
#include "operations/indexing/masks.h"
#include "operations/scan.h"
#include "ops/ufunc.h"
#include "runtime/launcher.h"

namespace arraycore {

// The value to write: an array, or a scalar of the dtype `scalar_dtype`.
struct IndexedValue {
  const Array* array = nullptr;
  ir::Scalar scalar;
  DType scalar_dtype = DType::float32;
};

// An update of picked elements. It is applied to an element as often as the key picks it.
struct IndexUpdate {
  const ops::UFunc* ufunc = nullptr;  // has one result; with one operand, the value is ignored
  ops::Loop loop;
};

class IndexCalls {
 public:
  IndexCalls(Launcher& launcher, Scans& scans)
      : launcher_(launcher), masks_(launcher, scans), kernels_(launcher) {}

  // Errors of all functions: those of resolve_key and picked_shape; index, "index_out_of_bounds",
  // "indices_do_not_broadcast"; value, "loop_too_long"; those of allocating and launching.

  // Returns `source[key]` as a new C-ordered array.
  Result<Array> read(const Array& source, std::span<const KeyItem> key);
  // Does `target[key] = value`, with the value cast as by Op::convert. Errors: value, "read_only",
  // "shapes_do_not_broadcast", "mask_values"; type, "mask_values_ndim".
  Status write(const Array& target, std::span<const KeyItem> key, const IndexedValue& value);
  // Applies `ufunc.at(target, key, value)`. Errors: value, "read_only", "shapes_do_not_broadcast";
  // not_implemented, "no_update".
  Status update(const Array& target, std::span<const KeyItem> key, const IndexUpdate& update,
                const IndexedValue& value);

  // Does `target[mask] = value[mask]`. The mask and the value broadcast to the target. Errors:
  // value, "read_only", "shapes_do_not_broadcast".
  Status write_where(const Array& target, const Array& mask, const IndexedValue& value);

  // Returns `condition ? then : otherwise` in the common shape, with the given dtype. Error: value,
  // "shapes_do_not_broadcast". REQUIRES: the condition has bools; a value that is a scalar has the
  // given dtype.
  Result<Array> select(const Array& condition, const IndexedValue& then,
                       const IndexedValue& otherwise, DType dtype);

  Masks& masks() { return masks_; }

 private:
  // The arrays of a key in the form that kernels take.
  struct Picks {
    std::vector<Array> arrays;
    std::vector<PickSignature> signatures;
    std::vector<std::int64_t> extents;
    Dims shape;           // the common shape of all index arrays
    bool unique = false;  // no element is picked twice
    bool skips = false;
  };
  enum class Indices : std::uint8_t { single, many };
  // Prepares the arrays of a key. `trues` is the number of a mask's true elements, if known.
  Result<Picks> picks(const Picking& picking, std::span<const KeyItem> key,
                      std::optional<std::int64_t> trues = {});
  Status check_bounds(const Picking& picking, std::span<const KeyItem> key, Indices which);
  Result<Array> winners(const Picking& picking, const Picks& picks);
  Status run(IndexSignature signature, const Picking& picking, const Picks& picks,
             const Array& array, const IndexedValue* value, const Array* winners, const Array* out);
  Status scatter(IndexSignature signature, const Array& target, const Picking& picking,
                 std::span<const KeyItem> key, const Picks& picks, const IndexedValue& value);
  Status write_mask(const Array& target, const Picking& picking, std::span<const KeyItem> key,
                    const IndexedValue& value);
  Result<KernelRef> where_kernel(DType target, DType value, bool scalar);

  Launcher& launcher_;
  Masks masks_;
  IndexKernels kernels_;
  std::vector<std::optional<KernelRef>>
      wheres_;  // by the dtypes of target and value, and whether it is a scalar
  std::unordered_map<std::string, KernelRef> selects_;  // by the dtypes of result and values
};

}  // namespace arraycore
