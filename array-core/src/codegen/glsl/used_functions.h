// Leaves out what a pass does not use. Pure; any thread.
#pragma once

#include <string>

namespace arraycore::codegen::glsl {

// Returns those of the functions in `code` that `user` names, directly or through others of them,
// in the same order. REQUIRES: `code` has only functions, each from a line that begins with "fn ".
std::string used_functions(const std::string& code, const std::string& user);

}  // namespace arraycore::codegen::glsl
