// Runs one elementwise kernel over many sets of small arrays in one launch, for example an
// optimizer's update of every parameter. The arrays lie in few buffers (memory/pool.h). So each
// array parameter of the kernel becomes a whole buffer, and each set of arrays becomes a segment of
// the loop, whose places in the buffers are scalars. An element finds its segment, reads its
// operands there, runs the kernel's own body on them, and writes the results. The operations are
// the same, so the bits are too. Pure; any thread.
#pragma once

#include <cstdint>

#include "ir/ir.h"

namespace arraycore::fuse {

// Returns whether batch() accepts the kernel. It must be elementwise, over arrays of 4-byte items
// only. It may not use its position or return early, and has few enough parameters.
bool can_batch(const ir::Kernel& kernel);

// Returns the most segments of one launch. Their places are uniform words, which limits them.
std::uint32_t most_segments(const ir::Kernel& kernel);

// Makes the batched kernel. Its parameters are the kernel's own, with arrays as raw ones. Then
// follow, for each segment, `end` (one past the number of its last element in the loop) and, for
// each array parameter in order, `place`: the number in the buffer of the segment's first item,
// minus the number of its first element. All are int32. REQUIRES: can_batch(kernel); 1 < segments
// <= most_segments(kernel).
ir::Kernel batch(const ir::Kernel& kernel, std::uint32_t segments);

}  // namespace arraycore::fuse
