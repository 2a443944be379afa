// The layout of a uniform block's numbers (WGSL, "Memory Layout"). Only for the files of this
// folder.
#pragma once

#include <cstdint>
#include <vector>

#include "dialect/source.h"
#include "wgsl/declarations.h"
#include "wgsl/raw_module.h"

namespace arraycore::wgsl {

struct Layout {
  std::uint32_t size = 0;
  std::uint32_t align = 1;
  std::vector<UniformSlot> slots;  // with offsets from the type's first byte
};

// The largest uniform block that a launch can fill.
inline constexpr std::uint32_t kMaxUniformBytes = 1024;

// Returns the layout of a host-shareable type with a fixed size. Reports an error in `sources` for
// any other type.
Layout layout_of(Tokens type, const Declarations& declarations, dialect::Sources& sources);

}  // namespace arraycore::wgsl
