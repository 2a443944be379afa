// Turns generated code into GLSL ES 3.00. The code is in the language of codegen/shader_types.h: a
// part of WGSL that differs from GLSL only in its words and in the order of names and types. So
// code generation, operations and helper functions exist once for both languages. Pure; any thread.
#pragma once

#include <string>

namespace arraycore::codegen::glsl {

// Returns the GLSL of `text`. REQUIRES: `text` is in the language of codegen/shader_types.h.
std::string translate(const std::string& text);

// Returns those of the functions in `code` that `user` names, directly or through others of them,
// in the same order. REQUIRES: `code` has only functions, each from a line that begins with "fn ".
std::string used_functions(const std::string& code, const std::string& user);

// Returns the functions that GLSL ES 3.00 lacks and that translated code uses: select(), the bit
// casts as_int(), as_uint() and as_float(), countOneBits(), countLeadingZeros() and fma().
std::string missing_functions(const std::string& translated);

}  // namespace arraycore::codegen::glsl
