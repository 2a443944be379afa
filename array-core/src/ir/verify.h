// Whether a Kernel keeps the language's rules: types, operands before users, each block and
// statement in one place, no recursion, stores to writable parameters only, functions blind to
// parameters, leave and next inside loops. Every front end's output is verified in tests and in
// debug builds.
#pragma once

#include "base/result.h"
#include "ir/ir.h"

namespace arraycore::ir {

inline constexpr std::uint32_t kMaxExprDepth = 1000;
inline constexpr std::uint32_t kMaxBlockDepth = 100;

// The error (internal, "bad_kernel") names the kernel and the offending expression or statement.
Status verify(const Kernel& kernel);

}  // namespace arraycore::ir
