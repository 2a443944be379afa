// Batched launches of the ring's back end. Each set of arrays lies in slots of shared buffers, and
// each buffer is bound once.
#include <algorithm>
#include <utility>

#include "backend/gpu/ring_backend.h"
#include "fuse/batch.h"

namespace arraycore {

namespace {

ir::Scalar int32(std::int64_t value) { return ir::scalar_of(DType::int32, value); }

}  // namespace

std::uint32_t RingBackend::shared_buffer(StorageId storage) const {
  const Region& region = at(storage);
  return !has_passes_ && region.bytes <= Pool::kLargestSlot ? region.buffer : 0;
}

Result<KernelId> RingBackend::batch_of(KernelId kernel, std::uint32_t segments) {
  for (const auto& [count, known] : kernels_[kernel].batches)
    if (count == segments) return known;
  const auto made = prepare(fuse::batch(kernels_[kernel].kernel, segments));
  if (made) kernels_[kernel].batches.emplace_back(segments, *made);
  return made;
}

Status RingBackend::launch_batch(KernelId kernel, std::span<const ir::Scalar> scalars,
                                 std::span<const BatchSegment> segments) {
  TRY(const auto& batched, batch_of(kernel, static_cast<std::uint32_t>(segments.size())));
  const ir::Kernel& own = kernels_[kernel].kernel;
  tag_ = batched + 1;

  // Each shared buffer has one range, which spans all slots that the segments use.
  ranges_.clear();
  const std::size_t arrays = segments[0].arrays.size();
  std::vector<std::uint32_t> range_of(arrays);
  for (std::size_t a = 0; a < arrays; ++a) {
    for (const BatchSegment& segment : segments) {
      const Region& region = at(segment.arrays[a].storage);
      const auto begin = static_cast<std::uint32_t>(region.offset);
      const auto end = begin + static_cast<std::uint32_t>((region.bytes + 15) / 16 * 16);
      std::uint32_t place = 0;
      while (place < ranges_.size() && ranges_[place].buffer != region.buffer) ++place;
      if (place == ranges_.size()) ranges_.push_back({region.buffer, begin, end - begin});
      BoundRange& range = ranges_[place];
      const std::uint32_t last = std::max(range.offset + range.bytes, end);
      range.offset = std::min(range.offset, begin);
      range.bytes = last - range.offset;
      range_of[a] = place;
    }
  }
  if (ranges_.size() > limits_.storage_buffers)
    return Error{ErrorKind::not_implemented, "too_many_bindings", "Too many buffers at once."};

  gpu_.operands.clear();
  gpu_.reduced = 0;
  std::size_t array = 0;
  std::size_t scalar = 0;
  for (const ir::Param& param : own.params) {
    codegen::Operand& operand = gpu_.operands.emplace_back();
    if (param.kind == ir::ParamKind::scalar) {
      operand.scalar = scalars[scalar++];
      continue;
    }
    operand.binding = range_of[array++];
    const BoundRange& range = ranges_[operand.binding];
    operand.heap = range.buffer;
    operand.bytes = range.bytes;
    operand.view = contiguous({static_cast<std::int64_t>(range.bytes / 4)}, 4);
  }
  std::int64_t first = 0;
  for (const BatchSegment& segment : segments) {
    gpu_.operands.emplace_back().scalar = int32(first + segment.count);
    for (std::size_t a = 0; a < arrays; ++a) {
      const ArrayArgument& argument = segment.arrays[a];
      const std::int64_t begin = at(argument.storage).offset + argument.view.offset;
      gpu_.operands.emplace_back().scalar =
          int32((begin - ranges_[range_of[a]].offset) / 4 - first);
    }
    first += segment.count;
  }
  gpu_.loop = Dims{first};
  Prepared& prepared = kernels_[batched];
  const auto found = program(prepared);
  return found ? dispatch(prepared.kernel, **found) : Status(found.error());
}

}  // namespace arraycore
