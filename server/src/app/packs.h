// Reads the folder of the packs, which the option --packs names.
#pragma once

#include <string>

#include "protocol/runtime/packs.h"

namespace hyperflock::app {

// Returns the packs in a folder; none if `folder` is empty. If the folder's packs.json cannot be
// used, the log says why, and the server has no packs: studies without packs go on.
protocol::PackList read_packs(const std::string& folder);

}  // namespace hyperflock::app
