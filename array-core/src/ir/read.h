// Reads a kernel from text, in which front ends outside of C++ (Python's arraycore.jit) write it.
//
// A text has one record a line, of words that blanks separate. The number of a parameter, local,
// expression, statement, block or function is its position among the records of its kind. `-`
// stands for kNone, and names of operations, dtypes and kinds are those of print.h.
//
//   inputs COUNT                                     parameters after these are outputs
//   param NAME DTYPE elementwise|raw|scalar read|write|read_write atomic|plain NDIM
//   local NAME DTYPE LENGTH
//   expr OP DTYPE INDEX BITS BITS_HIGH ARGUMENT...   INDEX: of Expr; BITS: decimal
//   stmt KIND TARGET VALUE THEN OTHERWISE INDEX...   KIND: the names of StmtKind
//   block STMT...
//   function NAME DTYPE|- BLOCK LOCAL...             the result, the body, the arguments
//   accumulator MAPPED A B COMBINE IDENTITY|-
//   post BLOCK                                       of a reduction
//   body BLOCK
//
// Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ir/ir.h"

namespace arraycore::ir {

inline constexpr std::size_t kMaxProgramBytes = std::size_t{4} << 20;
inline constexpr std::uint32_t kMaxLocalLength = 1024;

struct ReadKernel {
  Kernel kernel;
  std::size_t inputs = 0;
};

// Reads a kernel. Its parts may still break the language's rules, which verify() checks. Error:
// internal, "bad_kernel".
Result<ReadKernel> read_kernel(std::string name, std::string_view text);

}  // namespace arraycore::ir
