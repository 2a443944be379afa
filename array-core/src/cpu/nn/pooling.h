// Loops for pooling of float32 and its gradients (ops/pooling.h). Rows of results are computed side
// by side, and gradients are scattered instead of gathered. The results have the same bits as those
// of the kernel's body, because the same elements are added in the same order. One caller at a
// time; many planes are divided among the thread pool's threads.
#pragma once

#include <optional>

#include "base/result.h"
#include "ir/interpret.h"
#include "ir/ir.h"

namespace arraycore::cpu {

// Runs the launch if there is a loop for it. Returns nullopt for other kernels, dtypes and layouts.
// Error: device, "thread_lost". REQUIRES: ir::check_launch(kernel, launch) passes.
std::optional<Status> run_pooling(const ir::Kernel& kernel, const ir::Launch& launch);

}  // namespace arraycore::cpu
