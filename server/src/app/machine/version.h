// The version of this build.
#pragma once

#include <string_view>

namespace hyperflock::app {

inline constexpr std::string_view kVersion = HYPERFLOCK_VERSION;

}  // namespace hyperflock::app
