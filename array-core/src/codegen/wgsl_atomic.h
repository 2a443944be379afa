// Atomic updates of array elements in WGSL, whose only atomics are 32-bit words. Internal to
// codegen/; pure, any thread.
#pragma once

#include <string>

#include "ir/ir.h"

namespace arraycore::codegen {

// Returns whether a GPU can compute expression `atomic`. All types of up to 32 bits work; narrow
// ones by exchanging the word that holds them. Of the 64-bit types, integers can be added to, one
// half after the other. The sum is exact, but there is no moment at which the old value could be
// read.
bool has_atomic(const ir::Kernel& kernel, ir::Id atomic);

// Writes `fn NAME(e: u32, v: T[, w: T]) -> T`, which updates element `e` of `buffer`, an
// array<atomic<u32>>, and returns its old value (for 64 bits: zero). `count` is the text of the
// array's number of elements; where that is 0, nothing happens.
std::string atomic_function(const std::string& name, ir::Op op, DType dtype,
                            const std::string& buffer, const std::string& count);

}  // namespace arraycore::codegen
