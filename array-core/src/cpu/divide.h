// Divides int32 lanes. Kernels that split an element's index into coordinates (pooling, unfolding)
// divide all lanes of a block by one extent. A multiplication does that in the time of a few
// additions. Internal to cpu/. Pure; any thread.
#pragma once

#include "cpu/loops.h"

namespace arraycore::cpu {

// Returns the loop of divide, remainder, floor_divide or modulo for int32; nullptr for any other
// operation or dtype.
Loop division_of(ir::Op op, DType operand);

}  // namespace arraycore::cpu
