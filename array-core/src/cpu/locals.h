// Finds the locals of a kernel that must be 0 when an element begins, because the kernel's body may
// read them before it has assigned them. Internal to cpu/. Pure; any thread.
#pragma once

#include <vector>

#include "ir/ir.h"

namespace arraycore::cpu {

// Returns the locals to set to 0, without those of `post`. REQUIRES: verify(kernel) passed.
std::vector<ir::Id> locals_to_zero(const ir::Kernel& kernel);

}  // namespace arraycore::cpu
