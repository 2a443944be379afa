// Runs the operation table's ufuncs on arrays. It decides dtypes, broadcasting and results,
// and makes one launch. The decision for a combination of dtypes is kept. Python's thread
// only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "dtype/promotion.h"
#include "ops/ufunc.h"
#include "runtime/launcher.h"

namespace arraycore {

// One operand: an array or a scalar. Python's numbers are weak. NumPy's scalars (and Python's bool)
// have a dtype; the promotion mode says whether they count as arrays.
struct UFuncOperand {
  const Array* array = nullptr;
  std::optional<PythonScalar> python;
  DType dtype = DType::float64;  // of a NumPy scalar
  bool strong = false;           // the scalar's dtype counts like an array's
  // The scalar's value. For a NumPy scalar it has `dtype`; for a weak int or float it is a float64
  // (the nearest to an int); for a weak complex it is a complex128.
  ir::Scalar value;
  PythonInt integer;  // the exact value of a weak int
};

// Returns a scalar operand as a value of dtype `to`. Error: value, "scalar_out_of_bounds", for an
// integer that an integer dtype cannot hold.
Result<ir::Scalar> value_for(const UFuncOperand& operand, DType to);

struct UFuncCall {
  ops::UFuncId ufunc = 0;
  std::span<const UFuncOperand> operands;
  PromotionMode mode = PromotionMode::numpy2;
  std::optional<DType> dtype;  // the loop's result type, as NumPy's `dtype=`
  std::array<const Array*, ops::kMaxResults>
      out{};                             // results are written there instead of to new arrays
  const Array* where = nullptr;          // bool; elements where it is false keep their values
  Casting casting = Casting::same_kind;  // how results may be cast to `out`
};

struct UFuncResults {
  std::array<Array, ops::kMaxResults> arrays;  // the results without an `out`
};

class UFuncCalls {
 public:
  explicit UFuncCalls(Launcher& launcher) : launcher_(launcher) {}

  // Runs the ufunc. REQUIRES: as many operands as the ufunc has; one of them or an `out` is an
  // array; `where` is bool. Errors: type, "no_loop", "cannot_cast"; value,
  // "shapes_do_not_broadcast", "out_shape", "read_only", "scalar_out_of_bounds"; those of the
  // launch.
  Result<UFuncResults> run(const UFuncCall& call);

 private:
  struct Decided {
    std::uint64_t key = 0;
    ops::Loop loop;
    std::array<DType, ops::kMaxResults> results{};
    KernelRef kernel = 0;
  };
  Result<const Decided*> decide(const UFuncCall& call);
  static const Decided* put(std::vector<Decided>& table, const Decided& decided);
  Result<std::optional<UFuncResults>> compare_beyond(const UFuncCall& call,
                                                     std::span<UFuncOperand> operands);

  Launcher& launcher_;
  std::vector<Decided> decided_;  // a hash table with open addressing
  std::size_t count_ = 0;
};

}  // namespace arraycore
