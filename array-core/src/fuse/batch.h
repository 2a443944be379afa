// Runs one elementwise kernel over many sets of small arrays in one launch, for example an
// optimizer's update of every parameter. The arrays are in few buffers (memory/pool.h). So each
// array parameter of the kernel becomes a whole buffer. Each set of arrays becomes a segment of the
// loop. Scalars say where the arrays of each segment are in the buffers. The code of an element
// finds the element's segment, reads its operands there, runs the kernel's own body on them, and
// writes the results. The body's operations do not change, so the results have the same bits. Pure;
// any thread.
#pragma once

#include <cstdint>

#include "ir/ir.h"

namespace arraycore::fuse {

// Returns whether batch() accepts the kernel. The kernel must be elementwise, and all its arrays
// must have 4-byte items. It must not use the position of its element, return early or have many
// parameters.
bool can_batch(const ir::Kernel& kernel);

// Returns the largest number of segments of one launch. The scalars of the segments are uniform
// words, of which a launch has few.
std::uint32_t most_segments(const ir::Kernel& kernel);

// Makes the batched kernel. Its first parameters are those of `kernel`, whose arrays become raw.
// For each segment, int32 scalars follow: first `end`, then one `place` for each array parameter in
// order. `end` is one more than the loop index of the segment's last element. `place` is the index
// of the segment's first item in the buffer, minus the loop index of the segment's first element.
// REQUIRES: can_batch(kernel); 1 < segments <= most_segments(kernel).
ir::Kernel batch(const ir::Kernel& kernel, std::uint32_t segments);

}  // namespace arraycore::fuse
