// The words of a shader's uniform block: what each contains, and its value in a launch. Pure; any
// thread.
#pragma once

#include <cstdint>

#include "codegen/plan.h"

namespace arraycore::codegen {

// Describes the content of one word of the uniform block.
struct UniformWord {
  enum class From : std::uint8_t {
    bits,          // `bits`
    loop_size,     // elements of the loop
    rows,          // elements of the output of a reduction
    row_length,    // elements of a row, which give one result
    parts,         // workgroups that share a row
    part_length,   // elements of a scan's part
    outer_extent,  // the extent of axis `axis` of lower::Walks::outer
    inner_extent,
    // The stride of parameter `param` along axis `axis` of lower::Walks::outer, in elements. If
    // `param` is kNone: the change of the element's C-order number in the loop per step on that
    // axis.
    outer_stride,
    inner_stride,
    offset,  // the position of the parameter's first element, in elements
    extent,  // of the raw parameter along axis `axis`
    stride,
    count,   // the number of the parameter's elements
    scalar,  // word `axis` of the scalar's value
    target,  // GLSL only: number `axis` about where the pass writes `param` (glsl/glsl.h)
  };
  From from = From::bits;
  std::uint32_t param = 0;
  std::uint32_t axis = 0;
  std::uint32_t bits = 0;
  bool operator==(const UniformWord&) const = default;
};

// Returns the value of a word in one launch. It allocates nothing. REQUIRES: `word` is not
// `target`.
std::int64_t word_of(const UniformWord& word, const ir::Kernel& kernel, const Plan& plan,
                     const Launch& launch, const lower::Walks& walks);

}  // namespace arraycore::codegen
