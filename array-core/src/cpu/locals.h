// Which locals of a kernel must be 0 when an element begins, because its body may read one before
// it has assigned it. Internal to cpu/. Pure; any thread.
#pragma once

#include <vector>

#include "ir/ir.h"

namespace arraycore::cpu {

// Of the body's locals; a reduction's `post` is not looked at. REQUIRES: verify(kernel) passed.
std::vector<ir::Id> locals_to_zero(const ir::Kernel& kernel);

}  // namespace arraycore::cpu
