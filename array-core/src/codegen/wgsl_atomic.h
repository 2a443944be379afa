// Atomic updates of array elements in WGSL, whose only atomics are 32-bit words. Internal to
// codegen/; pure, any thread.
#pragma once

#include <string>

#include "ir/ir.h"

namespace arraycore::codegen {

// Returns whether a GPU can compute expression `atomic`. All types of up to 32 bits work. An update
// of a narrow type exchanges the whole word that contains the element. 64-bit integers can be
// added, first the low half and then the high half. The sum is exact, but the old value is not
// known, because the halves change at different times.
bool has_atomic(const ir::Kernel& kernel, ir::Id atomic);

// Writes `fn NAME(e: u32, v: T[, w: T]) -> T`, which updates element `e` of `buffer`, an
// array<atomic<u32>>, and returns the element's old value (for 64 bits: zero). `count` is the text
// of the array's number of elements. If that number is 0, the function does nothing.
std::string atomic_function(const std::string& name, ir::Op op, DType dtype,
                            const std::string& buffer, const std::string& count);

}  // namespace arraycore::codegen
