// Atomic updates of array elements in WGSL, whose only atomics are of 32-bit words. Internal to
// codegen/; pure, any thread.
#pragma once

#include <string>

#include "ir/ir.h"

namespace arraycore::codegen {

// Whether expression `atomic` can be computed on a GPU. Types of up to 32 bits always: narrow ones
// by exchanging the word that holds them. Of the 64-bit ones integers can be added to, one half
// after the other: the sum is exact, but there is no moment whose old value could be given.
bool has_atomic(const ir::Kernel& kernel, ir::Id atomic);

// `fn NAME(e: u32, v: T[, w: T]) -> T`: updates element `e` of `buffer`, an array<atomic<u32>>, and
// gives its old value (64 bits: zero). `count`: the text of the array's number of elements; where
// that is 0 nothing happens.
std::string atomic_function(const std::string& name, ir::Op op, DType dtype,
                            const std::string& buffer, const std::string& count);

}  // namespace arraycore::codegen
