// The browsers' runtimes that the server has: the one of its installation, and copies of earlier
// ones in the state folder, which running studies still need after an upgrade (R58).
//
//   state/runtimes/<id>/index.json, <piece>-<hash>/...
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/runtime/runtime_index.h"

namespace hyperflock::app {

struct KeptRuntime {
  protocol::Runtime runtime;
  std::string folder;
};

// Copies the runtime in `installed` to `kept`, unless it is there. Removes copies that `wanted`
// does not name, and copies whose trials can also run on the installed runtime. Returns the
// runtimes of the server, the installed one first. An empty or unreadable folder is no runtime.
// Error: `bad_state`, if the copy fails.
Result<std::vector<KeptRuntime>> keep_runtimes(const std::string& installed,
                                               const std::string& kept,
                                               const std::set<std::string>& wanted);

}  // namespace hyperflock::app
