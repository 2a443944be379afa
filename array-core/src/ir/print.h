// Prints a Kernel as readable text. The text is stable and complete: kernels with the same text
// compute the same. Tests compare it with stored texts, and messages show it. Any thread.
#pragma once

#include <string>

#include "ir/ir.h"

namespace arraycore::ir {

std::string print(const Kernel& kernel);

}  // namespace arraycore::ir
