// The shaders of products of matrices. Binding 0 is the uniform block, 1 and 2 are the operands, 3
// is the result, or the parts of a divided sum. Then follow the operands of prologue and epilogue.
// Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "gemm/stages.h"
#include "gemm/variant.h"

namespace arraycore::gemm {

// The largest number of batch axes over which the kernel itself loops.
inline constexpr int kBatchAxes = 4;
// The uniform block: sizes, strides in elements (integers that wrap), and the batch. With a window
// its axes follow, then the layouts of the operands of prologue and epilogue.
inline constexpr std::uint32_t kUniformWords = 32;
inline constexpr std::uint32_t kWindowWords = 24;
inline constexpr std::uint32_t kHoleWords = 20;
inline std::uint32_t uniform_count(int window_axes, const Stages& stages) {
  return kUniformWords + (window_axes == 0 ? 0 : kWindowWords) + (stages.any() ? kHoleWords : 0);
}
// Return the stages of the kernel that multiplies, and of the kernel that adds the parts of a
// divided sum.
Stages stages_of_product(const Variant& variant, const Stages& stages);
Stages stages_of_join(const Stages& stages);

// Error: not_implemented, "gpu_operation", for a prologue or epilogue that WGSL cannot express.
Result<std::string> generate(const Variant& variant, const Stages& stages);
// Returns the WGSL of a divided sum's second dispatch, which adds the parts (binding 1) into the
// result (binding 2). `window_axes` is a variant's `axes`; here the window only gives the layout of
// the result.
Result<std::string> generate_join(int window_axes, const Stages& stages);

// Returns the uniform words; workgroup 0 along z computes element `first` of the batch. REQUIRES:
// the batch has at most kBatchAxes axes.
std::vector<std::uint32_t> uniform_words(const Problem& problem, const Choice& choice,
                                         std::uint32_t first, const Stages& stages);

}  // namespace arraycore::gemm
