// Batch normalization of float32 by loops of their own (ops/normalization.h): a channel's
// statistics, the two sums of its gradient, and the gradient itself. The normalization is fused
// with what follows it, and is left to the kernels' bodies. Sums run over blocks of up to 1024
// elements and then pairwise over these, so that they err no more than the bodies' own; the
// gradient does the operations of its body in their order. One caller at a time; channels are
// shared out among the thread pool's threads.
#pragma once

#include <optional>

#include "base/result.h"
#include "ir/interpret.h"
#include "ir/ir.h"

namespace arraycore::cpu {

// Nothing where there is no such loop: for other kernels, dtypes and layouts, and for channels of
// few neighbouring elements. Error: device, "thread_lost". REQUIRES: ir::check_launch(kernel,
// launch) passes.
std::optional<Status> run_normalization(const ir::Kernel& kernel, const ir::Launch& launch);

}  // namespace arraycore::cpu
