// Runs one elementwise kernel over many sets of small arrays in one launch, for example an
// optimizer's update of every parameter. The arrays are in few buffers (memory/pool.h). So each
// array parameter of the kernel becomes a whole buffer. Each set of arrays becomes a segment of the
// loop, and scalars give its places in the buffers. An element finds its segment, reads its
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

// Makes the batched kernel. Its first parameters are the kernel's own, with raw arrays. Then
// follow, for each segment, the int32 scalar `end`, one past the number of its last element in the
// loop, and for each array parameter in order the int32 scalar `place`. A `place` is the index in
// the buffer of the segment's first item, minus the number of its first element. REQUIRES:
// can_batch(kernel); 1 < segments <= most_segments(kernel).
ir::Kernel batch(const ir::Kernel& kernel, std::uint32_t segments);

}  // namespace arraycore::fuse
