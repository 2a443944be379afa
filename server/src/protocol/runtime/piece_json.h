// Reads parts of the lists that the browsers' runtime comes with: index.json and packs.json
// (worker-runtime/runtime/README.md). Only for the readers of these lists.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "protocol/runtime/runtime_index.h"

namespace hyperflock::protocol {

// Returns the text of this key; empty if there is none.
std::string text_of(const nlohmann::json& object, const char* key);

// Returns what a browser downloads of a piece; nullopt if the piece does not list its files.
std::optional<Runtime::Download> download_of(const nlohmann::json& piece);

}  // namespace hyperflock::protocol
