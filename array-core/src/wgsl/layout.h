// Where WGSL places the numbers of a uniform block (WGSL, "Memory Layout"). For this folder's own
// files.
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
  std::vector<UniformSlot> slots;  // offsets from the type's first byte
};

// More bytes than this no uniform block has that a launch can fill.
inline constexpr std::uint32_t kMaxUniformBytes = 1024;

// Of a host-shareable type with a fixed size. Fails in `sources` on anything else.
Layout layout_of(Tokens type, const Declarations& declarations, dialect::Sources& sources);

}  // namespace arraycore::wgsl
