#include "backend/gpu/packing.h"

#include <algorithm>
#include <limits>
#include <string>

namespace arraycore {

namespace {

// If data move by a multiple of this many bytes, each element keeps its position in its vec4.
constexpr std::int64_t kVectorBytes = 16;

bool is_bound(const ir::Param& param) { return param.kind != ir::ParamKind::scalar; }

// The part of a bound range that the kernel uses.
struct Touched {
  std::int64_t begin = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = 0;
  bool written = false;
  std::int64_t bytes() const { return end - begin; }
  // Returns the number of bytes that are copied if this part is packed. A part that the kernel
  // writes is copied twice: to the block, and back.
  std::int64_t cost() const { return bytes() * (written ? 2 : 1); }
};

std::vector<Touched> touched_by(const ir::Kernel& kernel, const codegen::Launch& launch,
                                const std::vector<BoundRange>& ranges) {
  std::vector<Touched> result(ranges.size());
  for (std::size_t p = 0; p < kernel.params.size(); ++p) {
    if (!is_bound(kernel.params[p])) continue;
    const codegen::Operand& operand = launch.operands[p];
    Touched& touched = result[static_cast<std::size_t>(operand.binding)];
    const ByteExtent extent = byte_extent(operand.view, size_of(kernel.params[p].dtype));
    // An array without elements may begin at the end of its storage.
    const std::int64_t last =
        ranges[static_cast<std::size_t>(operand.binding)].bytes - kVectorBytes;
    const std::int64_t begin = std::min(extent.begin / kVectorBytes * kVectorBytes, last);
    touched.begin = std::min(touched.begin, begin);
    touched.end = std::max({touched.end, extent.end, touched.begin + 4});
    touched.written = touched.written || kernel.params[p].access != ir::Access::read;
  }
  for (std::size_t r = 0; r < ranges.size(); ++r)
    result[r].end =
        std::min((result[r].end + 3) / 4 * 4, static_cast<std::int64_t>(ranges[r].bytes));
  return result;
}

// Moves every operand of binding `from` to binding `to`, where its data begin `shift` bytes later.
void rebind(const ir::Kernel& kernel, codegen::Launch& launch, std::size_t from, std::size_t to,
            std::int64_t shift, std::vector<bool>& moved) {
  for (std::size_t p = 0; p < kernel.params.size(); ++p) {
    codegen::Operand& operand = launch.operands[p];
    if (!is_bound(kernel.params[p]) || moved[p] || operand.binding != from) continue;
    operand.binding = static_cast<std::uint32_t>(to);
    operand.view.offset += shift;
    moved[p] = true;
  }
}

// Merges ranges of the same buffer until there are at most `most` ranges. A merged range also has
// the bytes between the ranges, which belong to arrays that the kernel does not use.
void share_heaps(const ir::Kernel& kernel, codegen::Launch& launch, std::vector<BoundRange>& ranges,
                 std::uint32_t most) {
  for (std::size_t first = 0; first < ranges.size() && ranges.size() > most; ++first) {
    const std::uint32_t buffer = ranges[first].buffer;
    std::uint32_t begin = ranges[first].offset;
    std::uint32_t end = begin + ranges[first].bytes;
    for (const BoundRange& range : ranges) {
      if (range.buffer != buffer) continue;
      begin = std::min(begin, range.offset);
      end = std::max(end, range.offset + range.bytes);
    }
    std::vector<bool> moved(kernel.params.size(), false);
    std::vector<BoundRange> kept;
    for (std::size_t r = 0; r < ranges.size(); ++r) {
      const bool joins = ranges[r].buffer == buffer;
      const std::size_t to = joins ? first : kept.size();
      rebind(kernel, launch, r, to, joins ? ranges[r].offset - begin : 0, moved);
      if (!joins) kept.push_back(ranges[r]);
      if (r == first) kept.push_back({buffer, begin, end - begin});
    }
    ranges = std::move(kept);
  }
}

}  // namespace

Result<Packing> pack(const ir::Kernel& kernel, codegen::Launch& launch,
                     std::vector<BoundRange>& ranges, std::uint32_t most,
                     std::uint64_t largest_block) {
  Packing packing;
  share_heaps(kernel, launch, ranges, most);
  if (ranges.size() > most) {
    const std::vector<Touched> touched = touched_by(kernel, launch, ranges);
    std::vector<std::size_t> order(ranges.size());
    for (std::size_t r = 0; r < order.size(); ++r) order[r] = r;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return touched[a].cost() < touched[b].cost();
    });
    // All packed ranges together need one binding, which is that of the block.
    order.resize(ranges.size() - most + 1);
    std::vector<bool> packed(ranges.size(), false);
    for (const std::size_t r : order) packed[r] = true;
    std::vector<bool> moved(kernel.params.size(), false);
    std::vector<BoundRange> kept;
    packing.block = static_cast<std::uint32_t>(ranges.size() - order.size());
    std::int64_t used = 0;
    for (std::size_t r = 0; r < ranges.size(); ++r) {
      if (!packed[r]) {
        rebind(kernel, launch, r, kept.size(), 0, moved);
        kept.push_back(ranges[r]);
        continue;
      }
      const Touched& piece = touched[r];
      rebind(kernel, launch, r, packing.block, used - piece.begin, moved);
      packing.pieces.push_back({ranges[r].buffer,
                                ranges[r].offset + static_cast<std::uint32_t>(piece.begin),
                                static_cast<std::uint32_t>(piece.bytes()),
                                static_cast<std::uint32_t>(used), piece.written});
      used += (piece.bytes() + kVectorBytes - 1) / kVectorBytes * kVectorBytes;
      if (static_cast<std::uint64_t>(used) > largest_block)
        return Error{ErrorKind::not_implemented, "too_many_bindings",
                     "kernel '" + kernel.name + "': it has " + std::to_string(ranges.size()) +
                         " arrays, the device binds " + std::to_string(most) +
                         ", and those beyond do not fit one buffer together."};
    }
    ranges = std::move(kept);
    ranges.push_back({0, 0, static_cast<std::uint32_t>(used)});
    packing.block_bytes = static_cast<std::uint32_t>(used);
  }
  for (std::size_t p = 0; p < kernel.params.size(); ++p) {
    if (!is_bound(kernel.params[p])) continue;
    codegen::Operand& operand = launch.operands[p];
    operand.bytes = ranges[static_cast<std::size_t>(operand.binding)].bytes;
    operand.heap = ranges[static_cast<std::size_t>(operand.binding)].buffer;
  }
  return packing;
}

}  // namespace arraycore
