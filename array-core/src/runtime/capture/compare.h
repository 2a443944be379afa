// Decides whether two recorded steps are one program: the same operations on the same arrays. Only
// scalars may differ; the caller then gives them for each play. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "ir/value.h"
#include "runtime/capture/tape.h"

namespace arraycore::capture {

// A scalar argument whose value was different in the second step.
struct Difference {
  std::uint32_t command = 0;
  // The argument's index; in a raw kernel, the index of a word of its uniforms.
  std::uint32_t argument = 0;
  std::optional<DType> dtype;  // none: it is a 32-bit word of a raw kernel's uniforms
  ir::Scalar before;
  ir::Scalar after;
};

struct Mismatch {
  Error error;
  std::uint32_t command = 0;  // the index of the command in the second step
};

struct Comparison {
  std::vector<Difference> differences;
  std::optional<Mismatch> mismatch;  // set if the two steps are not one program
};

// Compares two tapes. Errors of mismatches, all of kind value: the error with which a tape was
// refused, "capture_operations" (another operation, or another number of them), "capture_shapes",
// "capture_arrays" (another array, or one that the step frees), "capture_uploads" (other bytes from
// the host).
Comparison compare(const Tape& first, const Tape& second);

}  // namespace arraycore::capture
