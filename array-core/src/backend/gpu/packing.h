// Fits a launch to a device that binds fewer buffers than the launch has arguments. Arguments of
// one heap share a binding that spans them. If that is not enough, the arguments that cost least to
// copy are put into one block, which takes one binding. They are copied to the block before the
// launch and, if they are written, back after it. Only for launches with too many arguments. Pure;
// any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "codegen/plan.h"
#include "ir/ir.h"

namespace arraycore {

// A bound range of a buffer; its size is a multiple of 16 bytes. An operand's `binding` is the
// index of its range in the list.
struct BoundRange {
  std::uint32_t buffer = 0;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
};

// The bytes [offset, offset + bytes) of a buffer. `place` is their offset in the packed block.
struct PackedPiece {
  std::uint32_t buffer = 0;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
  std::uint32_t place = 0;
  bool written = false;
};

struct Packing {
  std::vector<PackedPiece> pieces;
  std::uint32_t block = 0;        // the index of the block in `ranges`; the caller sets its buffer
  std::uint32_t block_bytes = 0;  // 0: no block is needed
};

// Reduces `ranges` to at most `most` and changes the operands of `launch` accordingly. Error:
// not_implemented, "too_many_bindings", if the block would be larger than `largest_block`.
Result<Packing> pack(const ir::Kernel& kernel, codegen::Launch& launch,
                     std::vector<BoundRange>& ranges, std::uint32_t most,
                     std::uint64_t largest_block);

}  // namespace arraycore
