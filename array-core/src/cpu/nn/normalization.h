// Loops for batch normalization of float32 (ops/normalization.h): a channel's statistics, the two
// sums of its gradient, and the gradient itself. There is no loop for the kernel that normalizes
// the data, because that kernel is fused with later operations. Blocks of up to 1024 elements are
// summed, and then the blocks' sums pairwise. So the errors are no larger than if the kernels'
// bodies ran. The gradient is computed by the same operations in the same order as in its kernel's
// body. One caller at a time; channels are divided among the thread pool's threads.
#pragma once

#include <optional>

#include "base/result.h"
#include "ir/interpret.h"
#include "ir/ir.h"

namespace arraycore::cpu {

// Runs the launch if there is a loop for it. Returns nullopt for other kernels, dtypes and layouts,
// and for channels of few neighbouring elements. Error: device, "thread_lost". REQUIRES:
// ir::check_launch(kernel, launch) passes.
std::optional<Status> run_normalization(const ir::Kernel& kernel, const ir::Launch& launch);

}  // namespace arraycore::cpu
