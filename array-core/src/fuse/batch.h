// One elementwise kernel over many sets of small arrays, in one launch: an optimizer's update of
// every parameter. Arrays lie in few buffers (memory/pool.h), so that each of the kernel's array
// parameters becomes a whole buffer and each set a segment of the loop, whose places in the buffers
// are scalars. An element finds its segment, reads what it reads, runs the kernel's own body over
// these values and writes what it writes: the operations are the same, and so are the bits. Pure;
// any thread.
#pragma once

#include <cstdint>

#include "ir/ir.h"

namespace arraycore::fuse {

// Whether batch() takes the kernel: elementwise, over arrays of 4-byte items alone; it neither asks
// where it is nor returns early, and has few enough parameters.
bool can_batch(const ir::Kernel& kernel);

// How many segments one launch takes at most: their places are uniform words.
std::uint32_t most_segments(const ir::Kernel& kernel);

// Parameters: the kernel's own, arrays among them raw; then for each segment `end` (one past its
// last element's number in the loop) and for each array parameter, in order, `place`: the number in
// the buffer of the segment's first item, less the number of its first element. All are int32.
// REQUIRES: can_batch(kernel); 1 < segments <= most_segments(kernel).
ir::Kernel batch(const ir::Kernel& kernel, std::uint32_t segments);

}  // namespace arraycore::fuse
