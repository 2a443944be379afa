// Reads and writes of arrays by arrays of indices and masks. The basic parts of a key are a view
// (index_key.h); what is left is one gather or one scatter. Touched by Python's thread only.
//
// Indices out of bounds are an error, before anything is written, where the library has no device;
// with one they wrap around, since looking at them would be a round trip. The host looks at those
// that come from there. Of several values for one element the last stays.
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

// What is written: an array, or a scalar of the dtype `scalar_dtype`.
struct IndexedValue {
  const Array* array = nullptr;
  ir::Scalar scalar;
  DType scalar_dtype = DType::float32;
};

// An update of every picked element, as often as it is picked.
struct IndexUpdate {
  const ops::UFunc* ufunc = nullptr;  // of one result; one operand: the value is not looked at
  ops::Loop loop;
};

class IndexCalls {
 public:
  IndexCalls(Launcher& launcher, Scans& scans)
      : launcher_(launcher), masks_(launcher, scans), kernels_(launcher) {}

  // Errors of all: those of resolve_key and picked_shape; index, "index_out_of_bounds",
  // "indices_do_not_broadcast"; value, "loop_too_long"; what allocating and launching give.

  // A new C-ordered array.
  Result<Array> read(const Array& source, std::span<const KeyItem> key);
  // `target[key] = value`, cast as Op::convert does. Errors: value, "read_only",
  // "shapes_do_not_broadcast", "mask_values"; type, "mask_values_ndim".
  Status write(const Array& target, std::span<const KeyItem> key, const IndexedValue& value);
  // `ufunc.at(target, key, value)`. Errors: value, "read_only", "shapes_do_not_broadcast";
  // not_implemented, "no_update".
  Status update(const Array& target, std::span<const KeyItem> key, const IndexUpdate& update,
                const IndexedValue& value);

  // `target[mask] = value[mask]`: the mask and the value broadcast to the target. Errors: value,
  // "read_only", "shapes_do_not_broadcast".
  Status write_where(const Array& target, const Array& mask, const IndexedValue& value);

  // `condition ? then : otherwise` of a common shape and a dtype; scalars are of that dtype.
  // Error: value, "shapes_do_not_broadcast". REQUIRES: the condition is of bool.
  Result<Array> select(const Array& condition, const IndexedValue& then,
                       const IndexedValue& otherwise, DType dtype);

  Masks& masks() { return masks_; }

 private:
  // The arrays of a key as kernels take them.
  struct Picks {
    std::vector<Array> arrays;
    std::vector<PickSignature> signatures;
    std::vector<std::int64_t> extents;
    Dims shape;           // of all, broadcast
    bool unique = false;  // no element is picked twice
    bool skips = false;
  };
  enum class Indices : std::uint8_t { single, many };
  // `trues`: a mask's number of true elements, where it is not to be asked for.
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
  std::vector<std::optional<KernelRef>> wheres_;        // by target, value, scalar
  std::unordered_map<std::string, KernelRef> selects_;  // by the dtypes of result and values
};

}  // namespace arraycore
