// Division of int32 lanes: kernels that take an element's number apart (pooling, unfolding) divide
// all lanes of a block by one extent, which multiplication does in the time of a few additions.
// Internal to cpu/. Pure; any thread.
#pragma once

#include "cpu/loops.h"

namespace arraycore::cpu {

// A loop for divide, remainder, floor_divide and modulo of int32, else nullptr.
Loop division_of(ir::Op op, DType operand);

}  // namespace arraycore::cpu
