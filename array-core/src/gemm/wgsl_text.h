// What the shaders of products share: the uniform block, and where a batch's matrices begin. Any
// thread.
#pragma once

#include <cstdint>
#include <string>

#include "gemm/variant.h"

namespace arraycore::gemm {

// A literal of WGSL's u32.
inline std::string u(std::uint64_t value) { return std::to_string(value) + "u"; }

// The block, the bindings of a and b by how they are loaded and of the result, and
// `place(z) -> Place`, whose members are offsets in elements and the part's range of terms.
std::string head(bool a4, bool b4, bool out4);

// `put(at, row, column, sums)`: four columns of a row go to the result.
std::string put_text(const Variant& variant);
std::string tiled_text(const Variant& variant);
std::string direct_text(const Variant& variant);
std::string plain_text(const Variant& variant);
std::string vector_text(const Variant& variant);

}  // namespace arraycore::gemm
