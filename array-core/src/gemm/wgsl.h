// The shaders of products of matrices: binding 0 is the uniform block, 1 and 2 the operands, 3 the
// result or, of a cut sum, the parts; then come the operands of stages. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "gemm/stages.h"
#include "gemm/variant.h"

namespace arraycore::gemm {

// Batch axes that a kernel walks itself.
inline constexpr int kBatchAxes = 4;
// The uniform block: sizes, strides in elements (whole numbers that wrap), the batch; then, with a
// window, its axes; then, with stages, where their operands lie.
inline constexpr std::uint32_t kUniformWords = 32;
inline constexpr std::uint32_t kWindowWords = 24;
inline constexpr std::uint32_t kHoleWords = 20;
inline std::uint32_t uniform_count(int window_axes, const Stages& stages) {
  return kUniformWords + (window_axes == 0 ? 0 : kWindowWords) + (stages.any() ? kHoleWords : 0);
}
// The stages of the kernel that multiplies, and of the one that adds the parts of a cut sum.
Stages stages_of_product(const Variant& variant, const Stages& stages);
Stages stages_of_join(const Stages& stages);

// Error: not_implemented, "gpu_operation", for a stage that no GPU text is made for.
Result<std::string> generate(const Variant& variant, const Stages& stages);
// The second dispatch of a cut sum: adds the parts (binding 1) into the result (binding 2).
// `window_axes`: as a variant's `axes`; where the result lies is all that the window says then.
Result<std::string> generate_join(int window_axes, const Stages& stages);

// REQUIRES: at most kBatchAxes batch axes. `first`: the batch that workgroup 0 along z begins with.
std::vector<std::uint32_t> uniform_words(const Problem& problem, const Choice& choice,
                                         std::uint32_t first, const Stages& stages);

}  // namespace arraycore::gemm
