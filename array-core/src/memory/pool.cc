#include "memory/pool.h"

#include <algorithm>
#include <bit>
#include <string>

namespace arraycore {
namespace {

std::int64_t padded(std::int64_t bytes) { return std::max<std::int64_t>(4, (bytes + 3) & ~3LL); }

}  // namespace

std::int64_t buffer_bytes_for(std::int64_t bytes, std::int64_t row_bytes) {
  if (row_bytes != 0 && bytes > row_bytes) {
    const std::int64_t size = buffer_bytes_for(bytes);
    return (size + row_bytes - 1) / row_bytes * row_bytes;
  }
  if (bytes > Pool::kExactBytes)
    return (bytes + Pool::kSlotBytes - 1) / Pool::kSlotBytes * Pool::kSlotBytes;
  const auto wanted = static_cast<std::uint64_t>(std::max(bytes, Pool::kSlotBytes));
  const std::uint64_t power = std::bit_floor(wanted);
  const std::uint64_t step = std::max<std::uint64_t>(power / 4, Pool::kSlotBytes);
  return static_cast<std::int64_t>((wanted + step - 1) / step * step);
}

int Pool::slot_class_of(std::int64_t bytes) {
  const auto slots = static_cast<std::uint64_t>((bytes + kSlotBytes - 1) / kSlotBytes);
  return std::countr_zero(std::bit_ceil(slots));
}

Result<Region> Pool::allocate(std::int64_t bytes) {
  const std::int64_t size = padded(bytes);
  if (shelf_ != nullptr) {
    const auto kept = std::find_if(shelf_->unused.begin(), shelf_->unused.end(),
                                   [&](const Region& each) { return each.bytes == size; });
    if (kept != shelf_->unused.end()) {
      const Region region = *kept;
      shelf_->unused.erase(kept);
      return region;
    }
  }
  Result<Region> region =
      has_heaps() && size <= kLargestSlot ? allocate_slot(size) : allocate_buffer(size);
  if (region) live_ += size;
  if (region && shelf_ != nullptr) shelf_->all.push_back(*region);
  most_used_ = std::max(most_used_, held_ - kept_);
  return region;
}

Result<Region> Pool::allocate_slot(std::int64_t bytes) {
  const int slot_class = slot_class_of(bytes);
  std::vector<BufferId>& open = open_heaps_[static_cast<std::size_t>(slot_class)];
  if (open.empty()) {
    const Result<BufferId> made = make_buffer(kHeapBytes, bytes);
    if (!made) return made.error();
    Heap heap{.slot_class = slot_class, .free = {}, .slots = 0};
    heap.slots = static_cast<std::size_t>(kHeapBytes / slot_bytes(slot_class));
    for (std::size_t slot = heap.slots; slot > 0; --slot)
      heap.free.push_back(static_cast<std::uint16_t>(slot - 1));
    heaps_.emplace(*made, std::move(heap));
    open.push_back(*made);
    kept_ += kHeapBytes;  // the new heap holds no region until the next lines take its first slot
  }
  const BufferId buffer = open.back();
  Heap& heap = heaps_.at(buffer);
  if (heap.free.size() == heap.slots) kept_ -= kHeapBytes;
  const std::uint16_t slot = heap.free.back();
  heap.free.pop_back();
  if (heap.free.empty()) open.pop_back();
  return Region{buffer, slot * slot_bytes(slot_class), bytes};
}

Result<Region> Pool::allocate_buffer(std::int64_t bytes) {
  const std::int64_t size = buffer_bytes_for(bytes, limits_.row_bytes);
  const auto found = unused_.find(size);
  if (found != unused_.end()) {
    const BufferId buffer = found->second.back();
    found->second.pop_back();
    if (found->second.empty()) unused_.erase(found);
    kept_ -= size;
    own_.emplace(buffer, size);
    return Region{buffer, 0, bytes};
  }
  const Result<BufferId> made = make_buffer(size, bytes);
  if (!made) return made.error();
  own_.emplace(*made, size);
  return Region{*made, 0, bytes};
}

Result<BufferId> Pool::make_buffer(std::int64_t bytes, std::int64_t asked) {
  if (bytes > limits_.largest_buffer) {
    return Error{ErrorKind::memory, "too_large",
                 "An array of " + std::to_string(asked) + " bytes is larger than this device's " +
                     "largest buffer of " + std::to_string(limits_.largest_buffer) +
                     " bytes: split it, or use smaller batches."};
  }
  if (held_ + bytes > limits_.budget_bytes) trim();
  if (held_ + bytes > limits_.budget_bytes) {
    return Error{ErrorKind::memory, "over_budget",
                 std::to_string(asked) + " bytes more than the " + std::to_string(live_) +
                     " in use would exceed the budget of " + std::to_string(limits_.budget_bytes) +
                     " bytes: free arrays, or use smaller batches."};
  }
  Result<BufferId> buffer = source_.create_buffer(bytes);
  if (buffer) held_ += bytes;
  return buffer;
}

void Pool::clear_shelf(Shelf& shelf) {
  for (const Region& region : shelf.all) free(region);
  shelf = {};
}

void Pool::free(const Region& region) {
  if (shelf_ != nullptr &&
      std::find(shelf_->all.begin(), shelf_->all.end(), region) != shelf_->all.end()) {
    shelf_->unused.push_back(region);
    return;
  }
  live_ -= region.bytes;
  if (const auto own = own_.find(region.buffer); own != own_.end()) {
    const std::int64_t size = own->second;
    own_.erase(own);
    keep(region.buffer, size);
    return;
  }
  const auto found = heaps_.find(region.buffer);
  Heap& heap = found->second;
  std::vector<BufferId>& open = open_heaps_[static_cast<std::size_t>(heap.slot_class)];
  if (heap.free.empty()) open.push_back(region.buffer);
  heap.free.push_back(static_cast<std::uint16_t>(region.offset / slot_bytes(heap.slot_class)));
  if (heap.free.size() < heap.slots) return;
  // The whole heap is free. One heap of each class is always kept. Otherwise repeated allocation of
  // a single array would create and destroy a heap each time.
  if (open.size() > 1 && !may_keep(kHeapBytes)) {
    open.erase(std::find(open.begin(), open.end(), region.buffer));
    heaps_.erase(found);
    destroy(region.buffer, kHeapBytes);
  } else {
    kept_ += kHeapBytes;
  }
}

bool Pool::may_keep(std::int64_t bytes) const {
  return kept_ + bytes <= limits_.kept_bytes || held_ <= most_used_ + most_used_ / 4;
}

void Pool::keep(BufferId buffer, std::int64_t bytes) {
  if (!may_keep(bytes)) trim();
  unused_[bytes].push_back(buffer);
  kept_ += bytes;
}

void Pool::destroy(BufferId buffer, std::int64_t bytes) {
  source_.destroy_buffer(buffer);
  held_ -= bytes;
}

void Pool::trim() {
  for (const auto& [bytes, buffers] : unused_)
    for (const BufferId buffer : buffers) destroy(buffer, bytes);
  unused_.clear();
  for (auto heap = heaps_.begin(); heap != heaps_.end();) {
    if (heap->second.free.size() < heap->second.slots) {
      ++heap;
      continue;
    }
    std::erase(open_heaps_[static_cast<std::size_t>(heap->second.slot_class)], heap->first);
    destroy(heap->first, kHeapBytes);
    heap = heaps_.erase(heap);
  }
  kept_ = 0;
  most_used_ = held_;
}

void Pool::forget() {
  heaps_.clear();
  for (auto& open : open_heaps_) open.clear();
  own_.clear();
  unused_.clear();
  live_ = held_ = kept_ = most_used_ = 0;
}

}  // namespace arraycore
