// Fits a launch to a device that binds fewer buffers than the launch has arguments. Arguments of
// one heap share a binding that spans them. If that is not enough, the cheapest arguments go
// through one block that is bound instead of them. They are copied in before the launch and, if
// written, back after it. Pure; any thread. Only launches that do not fit come here.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "codegen/plan.h"
#include "ir/ir.h"

namespace arraycore {

// A bound range of a buffer, in whole units of 16 bytes. An operand's `binding` is the position of
// its range in the list.
struct BoundRange {
  std::uint32_t buffer = 0;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
};

// The bytes [offset, offset + bytes) of a buffer, and their offset in the block.
struct PackedPiece {
  std::uint32_t buffer = 0;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
  std::uint32_t place = 0;
  bool written = false;
};

struct Packing {
  std::vector<PackedPiece> pieces;
  std::uint32_t block =
      0;  // the position of the block among the ranges; its buffer is not known yet
  std::uint32_t block_bytes = 0;  // 0: no block is needed
};

// Changes `ranges` to at most `most`, and the operands of `launch` with them. Error:
// not_implemented, "too_many_bindings", where the block would exceed `largest_block`.
Result<Packing> pack(const ir::Kernel& kernel, codegen::Launch& launch,
                     std::vector<BoundRange>& ranges, std::uint32_t most,
                     std::uint64_t largest_block);

}  // namespace arraycore
