// The library's state: arrays by id, the back end, the budget and the counters. Every operation is
// decided here and carried out by the back end. Touched by Python's thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "api/array_table.h"
#include "api/backend.h"
#include "base/result.h"

namespace arraycore {

// Numbers are part of the C interface (ac_binary_operation).
enum class BinaryOperation : std::uint8_t { add = 0, subtract = 1, multiply = 2, divide = 3 };

enum class Side : std::uint8_t { left, right };

struct Description {
  DType dtype;
  const View& view;  // valid until the next call
};

class Context {
 public:
  // `arrays` outlives contexts, so that an id of an earlier one never names an array of this one.
  // `budget_bytes`: the most that storage may take together; none: no limit of our own.
  Context(std::unique_ptr<Backend> backend, ArrayTable& arrays,
          std::optional<std::int64_t> budget_bytes);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { arrays_.clear(); }

  // A C-ordered array. `elements` holds them all, or is nullptr for zeros.
  Result<ArrayId> create(DType dtype, const Dims& shape, const void* elements);
  Status read(ArrayId id, std::span<std::byte> out);
  Result<Description> describe(ArrayId id) const;
  void release(ArrayId id) { arrays_.erase(id); }

  Result<ArrayId> binary(BinaryOperation operation, ArrayId a, ArrayId b);
  // `value` stands on `side` of the operator.
  Result<ArrayId> binary_scalar(BinaryOperation operation, ArrayId a, double value, Side side);

  // Frees every array; their ids raise from now on. Counters begin anew. Where the device was lost
  // it is opened again.
  Status reset();

  Counters& counters() { return counters_; }
  const Counters& counters() const { return counters_; }
  std::int64_t live_arrays() const { return arrays_.size(); }

 private:
  Result<const Array*> get(ArrayId id) const;
  // A new contiguous array with storage of its own, content undefined.
  Result<Array> allocate(DType dtype, const Dims& shape);
  Result<ArrayId> insert(Array array);
  // `left`, `right` and a new array of the loop's shape as the kernel's three arguments.
  Result<ArrayId> launch(KernelId kernel, LaunchArgument left, LaunchArgument right, DType dtype,
                         const Dims& loop);
  Result<KernelId> kernel(BinaryOperation operation, DType dtype, std::optional<Side> scalar);

  Counters counters_;
  std::unique_ptr<Backend> backend_;
  ArrayTable& arrays_;
  std::optional<std::int64_t> budget_bytes_;
  std::vector<std::pair<std::uint32_t, KernelId>> kernels_;  // by what `kernel` was asked for
  Launch launch_;  // the one being made: kept for its memory
};

}  // namespace arraycore
