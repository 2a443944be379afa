// The helper functions of generated shaders, one string for each. wgsl_types.cc adds those that a
// shader uses. Internal to codegen/.
#pragma once

#include <span>
#include <string_view>

namespace arraycore::codegen {

std::span<const std::string_view> integer_helpers();
std::span<const std::string_view> float_helpers();
std::span<const std::string_view> special_helpers();

}  // namespace arraycore::codegen
