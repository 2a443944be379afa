// Whether a kernel only gathers: each element writes its own outputs and nothing else. WebGL2 can
// run such kernels alone (a fragment cannot choose where it writes), so this is asked of every
// operation.
#pragma once

#include <string>
#include <vector>

#include "ir/ir.h"

namespace arraycore::lower {

struct Gather {
  bool only = true;
  std::vector<std::string> reasons;  // one sentence each, where not
};

Gather gather_only(const ir::Kernel& kernel);

}  // namespace arraycore::lower
