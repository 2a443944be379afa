// Runs the table's reductions, `ufunc.reduce` and `ufunc.accumulate` on arrays. It decides dtypes,
// axes and results, and makes one launch (two for a variance). The decision for a combination of
// dtypes is kept. Python's thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "base/result.h"
#include "operations/ufunc_call.h"
#include "ops/reductions.h"
#include "runtime/launcher.h"

namespace arraycore {

struct ReductionCall {
  // Calls either `reduction` or, if it is not set, `ufunc`.
  std::optional<ops::ReductionId> reduction;
  ops::UFuncId ufunc = 0;
  const Array* x = nullptr;
  std::optional<Dims> axes;  // none: all axes
  bool keep_dims = false;
  std::optional<DType> dtype;    // the dtype of the computation
  const Array* out = nullptr;    // the result is written there instead of to a new array
  const Array* where = nullptr;  // bool, broadcast to x; elements where it is false do not count
  std::optional<UFuncOperand> initial;
  bool has_identity =
      true;  // false: there is no identity, not even the ufunc's, as with NumPy's initial=None
  double less = 0;  // NumPy's ddof: it is subtracted from the number of elements
};

struct AccumulateCall {
  ops::UFuncId ufunc = 0;
  const Array* x = nullptr;
  std::int64_t axis = 0;
  std::optional<DType> dtype;
  const Array* out = nullptr;
  bool skips_nan = false;  // NaN counts as the identity
};

class ReductionCalls {
 public:
  explicit ReductionCalls(Launcher& launcher) : launcher_(launcher) {}
  ReductionCalls(const ReductionCalls&) = delete;
  ReductionCalls& operator=(const ReductionCalls&) = delete;

  // Each run() returns the result, or nullopt if it was written to `out`. REQUIRES: `where` is
  // bool; ufuncs have two operands and one result. Errors: value, "axis_out_of_bounds",
  // "repeated_axis", "out_shape", "read_only", "empty_reduction", "not_reorderable",
  // "where_needs_initial", "shapes_do_not_broadcast", "scalar_out_of_bounds"; type, "no_loop";
  // those of the launch.
  Result<std::optional<Array>> run(const ReductionCall& call);
  Result<std::optional<Array>> run(const AccumulateCall& call);

  // One launch combines at most this many elements of a row one by one, because a device is lost if
  // it computes for too long. A longer row takes further launches, which continue from its total.
  static constexpr std::int64_t kSteps = 1 << 16;

 private:
  enum class Way : std::uint8_t { tree, scan, ordered, ordered_running };
  Result<KernelRef> kernel(const ops::ReductionSpec& spec, Way way);
  Result<ops::ReductionSpec> spec_of(const ReductionCall& call) const;
  // Returns the array for the result: `out`, or a new one. `shape` is the shape that the caller
  // gets.
  Result<Array> place(const Array* out, DType dtype, const Dims& shape);
  Result<ir::Scalar> of_nothing(const ops::ReductionSpec& spec, const ReductionCall& call,
                                std::optional<ir::Scalar> initial) const;
  Result<std::optional<ir::Scalar>> initial_of(const ops::ReductionSpec& spec,
                                               const ReductionCall& call) const;
  Status reduce(const ops::ReductionSpec& spec, const ReductionCall& call, std::uint32_t axes,
                std::optional<ir::Scalar> initial, const Array& result);
  Status reduce_in_order(ops::ReductionSpec spec, const ReductionCall& call, std::uint32_t axes,
                         std::optional<ir::Scalar> initial, const Array& result);
  Status accumulate_in_order(ops::ReductionSpec spec, const AccumulateCall& call,
                             std::uint32_t axis, const Array& result);

  Launcher& launcher_;
  std::unordered_map<std::uint64_t, KernelRef> kernels_;
};

}  // namespace arraycore
