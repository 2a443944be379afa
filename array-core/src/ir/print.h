// Prints a Kernel as readable text. The text is stable and complete: two kernels that print alike
// mean the same. Golden tests and messages use it. Any thread.
#pragma once

#include <string>

#include "ir/ir.h"

namespace arraycore::ir {

std::string print(const Kernel& kernel);

}  // namespace arraycore::ir
