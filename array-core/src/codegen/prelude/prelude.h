// The helper functions of generated shaders, one string for each, in the language of
// codegen/shader_types.h. They read infinity and NaN from the words 1 and 2 of the uniform `u`.
// Pure; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace arraycore::codegen {

// Returns the helper functions (ac_...) that `text` uses, directly or through other helpers, each
// after those that it uses.
std::string prelude_for(const std::string& text);

std::span<const std::string_view> integer_helpers();
std::span<const std::string_view> float_helpers();
std::span<const std::string_view> special_helpers();

}  // namespace arraycore::codegen
