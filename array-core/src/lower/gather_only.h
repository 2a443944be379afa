// Decides whether a kernel only gathers: each element writes its own outputs and nothing else.
// WebGL2 can run no other kernels, because a fragment cannot choose where it writes.
#pragma once

#include <string>
#include <vector>

#include "ir/ir.h"

namespace arraycore::lower {

struct Gather {
  bool only = true;
  std::vector<std::string> reasons;  // one sentence for each reason why it does more than gather
};

Gather gather_only(const ir::Kernel& kernel);

}  // namespace arraycore::lower
