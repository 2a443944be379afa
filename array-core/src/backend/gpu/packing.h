// Makes a launch fit a device that binds fewer buffers than the launch has arguments: arguments of
// one heap share a binding that spans them; where that is not enough, the cheapest ones travel
// through one block that is bound in their place, copied in before and, if written, back after.
// Pure; any thread. Only launches that do not fit come here.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "codegen/plan.h"
#include "ir/ir.h"

namespace arraycore {

// A bound range of a buffer, a whole number of 16 bytes; operands' `binding` is its place in the
// list.
struct BoundRange {
  std::uint32_t buffer = 0;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
};

// [offset, offset + bytes) of a buffer, and its place in the block.
struct PackedPiece {
  std::uint32_t buffer = 0;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
  std::uint32_t place = 0;
  bool written = false;
};

struct Packing {
  std::vector<PackedPiece> pieces;
  std::uint32_t block = 0;        // the block's place among the ranges; its buffer is not known yet
  std::uint32_t block_bytes = 0;  // 0: no block is needed
};

// Changes `ranges` to at most `most`, and the operands of `launch` with them.
// Error: not_implemented, "too_many_bindings", where the block would exceed `largest_block`.
Result<Packing> pack(const ir::Kernel& kernel, codegen::Launch& launch,
                     std::vector<BoundRange>& ranges, std::uint32_t most,
                     std::uint64_t largest_block);

}  // namespace arraycore
