// Makes the names of operations and kernels in messages. Any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "ir/ir.h"

namespace arraycore {

// Returns a name such as "add (kernel 'add(float32 x0, float32 x1, float32 y0)')".
std::string operation_name(const ir::Kernel& kernel);

// Returns the error with the name of the operation before its message.
Error named(Error error, const std::string& operation);

}  // namespace arraycore
