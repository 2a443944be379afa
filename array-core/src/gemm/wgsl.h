// The shaders of products of matrices: binding 0 is the uniform block, 1 and 2 the operands, 3 the
// result or, of a cut sum, the parts. Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "gemm/variant.h"

namespace arraycore::gemm {

// Batch axes that a kernel walks itself.
inline constexpr int kBatchAxes = 4;
// The uniform block: sizes, strides in elements (whole numbers that wrap), the batch.
inline constexpr std::uint32_t kUniformWords = 32;

std::string generate(const Variant& variant);
// The second dispatch of a cut sum: adds the parts (binding 1) into the result (binding 2).
std::string generate_join();

// REQUIRES: at most kBatchAxes batch axes. `first`: the batch that workgroup 0 along z begins with.
std::array<std::uint32_t, kUniformWords> uniform_words(const Problem& problem, const Choice& choice,
                                                       std::uint32_t first);

}  // namespace arraycore::gemm
