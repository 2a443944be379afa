// Checks that a Kernel follows the language's rules: types match, operands precede their users,
// each block and statement is used in one place, nothing recurses, only writable parameters are
// stored to, functions use no parameters, and leave and next are inside loops. Tests and debug
// builds verify the output of every front end.
#pragma once

#include "base/result.h"
#include "ir/ir.h"

namespace arraycore::ir {

inline constexpr std::uint32_t kMaxExprDepth = 1000;
inline constexpr std::uint32_t kMaxBlockDepth = 100;

// Checks the kernel. The error (internal, "bad_kernel") names the kernel and the offending
// expression or statement.
Status verify(const Kernel& kernel);

}  // namespace arraycore::ir
