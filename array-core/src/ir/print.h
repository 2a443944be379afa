// A Kernel as readable text: stable, complete (two kernels that print alike mean the same), used by
// golden tests and in messages. Any thread.
#pragma once

#include <string>

#include "ir/ir.h"

namespace arraycore::ir {

std::string print(const Kernel& kernel);

}  // namespace arraycore::ir
