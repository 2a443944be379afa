// Divides int32 lanes. Kernels that split an element's index into coordinates (pooling, unfolding)
// divide all lanes of a block by one extent. A multiplication does that in the time of a few
// additions. Internal to cpu/. Pure; any thread.
#pragma once

#include "cpu/loops.h"

namespace arraycore::cpu {

// Returns a loop for divide, remainder, floor_divide and modulo of int32, otherwise nullptr.
Loop division_of(ir::Op op, DType operand);

}  // namespace arraycore::cpu
