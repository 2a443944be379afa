// The regions of a GPU's buffers that hold arrays. The pool allocates and frees regions under a
// byte budget. It only does the accounting; a BufferSource creates and destroys the buffers. A
// device runs commands in order, so a region may be allocated again while commands that use it
// still wait. Used by one thread.
//
// A small region is a slot of a heap, a buffer that many regions share. A larger region (if buffers
// are textures: every region) has a buffer of its own, rounded up to a size class below
// kExactBytes. Empty buffers and heaps are kept for the next allocation, because a training step
// frees all its memory and needs it again. Kept memory has at most `kept_bytes` bytes, or more as
// long as all buffers, kept or in use, have at most 1.25 times the largest number of bytes that was
// in use at once. If one more empty buffer would exceed this limit, it is kept and the older ones
// are destroyed, because they may come from an earlier program. If the budget needs memory, all
// kept buffers are destroyed (trim).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "base/result.h"

namespace arraycore {

using BufferId = std::uint32_t;  // a BufferSource's own number; never 0

class BufferSource {
 public:
  virtual ~BufferSource() = default;
  virtual Result<BufferId> create_buffer(std::int64_t bytes) = 0;
  virtual void destroy_buffer(BufferId buffer) = 0;
};

// The bytes [offset, offset + bytes) of a buffer. `bytes` is the requested size rounded up to a
// multiple of 4, and at least 4, because no binding may be empty.
struct Region {
  BufferId buffer = 0;
  std::int64_t offset = 0;  // a multiple of kSlotBytes
  std::int64_t bytes = 0;
  bool operator==(const Region&) const = default;
};

// The regions that were allocated between one Pool::hold() and let_go(), and will be used again.
struct Shelf {
  std::vector<Region> all;
  std::vector<Region> unused;  // the regions that are not in use
};

struct PoolLimits {
  std::int64_t budget_bytes = 0;  // of all buffers, including kept ones
  std::int64_t largest_buffer =
      0;  // the adapter's maxBufferSize or largest binding size, whichever is smaller
  // Empty buffers are kept in any case as long as they have at most this many bytes together.
  std::int64_t kept_bytes = 64 << 20;
  // If buffers are textures: the bytes of a row. Every region then has a buffer of its own, which
  // has whole rows if it is longer than one. 0: buffers are plain memory.
  std::int64_t row_bytes = 0;
};

class Pool {
 public:
  static constexpr std::int64_t kSlotBytes = 256;  // WebGPU's binding alignment
  static constexpr std::int64_t kHeapBytes = std::int64_t{1} << 20;
  static constexpr std::int64_t kLargestSlot = std::int64_t{64} << 10;
  static constexpr std::int64_t kExactBytes = std::int64_t{32} << 20;

  Pool(BufferSource& source, const PoolLimits& limits) : source_(source), limits_(limits) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Allocates a region. Error: memory, "over_budget" (the message says how much is in use and was
  // requested) or "too_large" (no buffer of this device can be that large). After an error the pool
  // has destroyed the buffers that it kept, and nothing else has changed.
  Result<Region> allocate(std::int64_t bytes);
  // REQUIRES: `region` came from allocate() since the last forget() and was not freed.
  void free(const Region& region);
  // A shelf keeps the regions that are allocated between hold() and let_go(). In that time, free()
  // returns these regions to the shelf, and allocate() prefers a region of the right size from it.
  // So the same commands, issued again, use the same regions. Regions on the shelf count as in use
  // until clear_shelf().
  void hold(Shelf& shelf) { shelf_ = &shelf; }
  void let_go() { shelf_ = nullptr; }
  void clear_shelf(Shelf& shelf);
  // Destroys every buffer that contains no region in use.
  void trim();
  // Forgets all buffers, because the device is gone.
  void forget();

  std::int64_t live_bytes() const { return live_; }  // regions handed out
  std::int64_t held_bytes() const { return held_; }  // buffers that exist
  std::int64_t kept_bytes() const {
    return kept_;
  }  // part of held_bytes(): the buffers and heaps that are empty and kept

 private:
  static constexpr int kSlotClasses = 9;  // 256 B to 64 KiB, powers of two

  struct Heap {
    int slot_class = 0;
    std::vector<std::uint16_t> free;  // free slots; the last one is used next
    std::size_t slots = 0;
  };

  static int slot_class_of(std::int64_t bytes);
  bool has_heaps() const { return limits_.row_bytes == 0; }
  static std::int64_t slot_bytes(int slot_class) { return kSlotBytes << slot_class; }
  Result<Region> allocate_slot(std::int64_t bytes);
  Result<Region> allocate_buffer(std::int64_t bytes);
  Result<BufferId> make_buffer(std::int64_t bytes, std::int64_t asked);
  void destroy(BufferId buffer, std::int64_t bytes);
  void keep(BufferId buffer, std::int64_t bytes);
  // Returns whether a buffer that has become empty should be kept. REQUIRES: kept_ does not include
  // it yet.
  bool may_keep(std::int64_t bytes) const;

  BufferSource& source_;
  PoolLimits limits_;
  std::map<BufferId, Heap> heaps_;
  std::array<std::vector<BufferId>, kSlotClasses> open_heaps_;  // heaps that have a free slot
  std::map<BufferId, std::int64_t> own_;  // buffers of one region, with their sizes
  // Kept buffers by size, the most recent last.
  std::map<std::int64_t, std::vector<BufferId>> unused_;
  Shelf* shelf_ = nullptr;  // null: nothing is held
  std::int64_t live_ = 0;
  std::int64_t held_ = 0;
  std::int64_t kept_ = 0;
  std::int64_t most_used_ = 0;  // the most of held_ - kept_ since the last trim()
};

// Returns the size of the buffer for one region of `bytes`. There are four size classes for each
// power of two, so at most a fifth is wasted. `row_bytes` is that of PoolLimits.
std::int64_t buffer_bytes_for(std::int64_t bytes, std::int64_t row_bytes = 0);

}  // namespace arraycore
