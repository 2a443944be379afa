// The packs that a server serves: packages that browsers fetch only for studies that need them.
#pragma once

#include <string>

#include "protocol/runtime/packs.h"
#include "settings/serve_config.h"

namespace hyperflock::app {

// Packs and the folder that has them.
struct ServedPacks {
  protocol::PackList list;
  std::string folder;
};

// Returns the packs of the folder that the option --packs names, or else of `packs` in the state
// folder. If the list cannot be used, the log says why, and the server has no packs: studies
// without packs go on.
ServedPacks served_packs(const settings::ServeConfig& config);

}  // namespace hyperflock::app
