// The regions of a GPU's buffers in which arrays lie. The pool hands out regions and takes them
// back, under a byte budget. It only keeps books: a BufferSource makes and destroys the buffers.
// Its commands run in order, so a region may be handed out again while commands that use it still
// wait. Touched by one thread.
//
// A small region is a slot of a shared heap buffer and is bound by its range. A larger region has a
// buffer of its own: of a size class below kExactBytes, of the exact size above. Freed buffers and
// heaps are kept for the next allocation, because a training step frees all its memory and needs it
// again. Kept buffers may have `kept_bytes`, or as much as brings the total to 1.25 times the most
// that was in use at once before. A freed buffer beyond that is kept in the place of all older
// ones, which another program may have needed. When the budget needs memory, all kept buffers are
// destroyed (trim).
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

// Regions that are reserved for one user; see Pool::hold().
struct Shelf {
  std::vector<Region> all;
  std::vector<Region> unused;  // the regions that are not in use
};

struct PoolLimits {
  std::int64_t budget_bytes = 0;  // of all buffers, those kept included
  std::int64_t largest_buffer =
      0;  // the adapter's maxBufferSize or largest binding size, whichever is smaller
  std::int64_t kept_bytes = 64 << 20;  // unused buffers that are always kept
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

  // Error: memory, "over_budget" (the message says what is live and what was requested) or
  // "too_large" (no buffer of this device can be that large). After an error the pool has destroyed
  // the buffers that it kept; nothing else has changed.
  Result<Region> allocate(std::int64_t bytes);
  // REQUIRES: `region` came from allocate() since the last forget() and was not freed.
  void free(const Region& region);
  // Between hold() and let_go(), allocate() prefers regions of the right size from the shelf, and
  // free() returns to the shelf what was allocated in between. So the same commands, issued again,
  // use the same regions. Regions on the shelf count as handed out until clear_shelf().
  void hold(Shelf& shelf) { shelf_ = &shelf; }
  void let_go() { shelf_ = nullptr; }
  void clear_shelf(Shelf& shelf);
  // Destroys every buffer that holds no region.
  void trim();
  // Forgets all buffers, because the device is gone.
  void forget();

  std::int64_t live_bytes() const { return live_; }  // regions handed out
  std::int64_t held_bytes() const { return held_; }  // buffers that exist
  std::int64_t kept_bytes() const {
    return kept_;
  }  // the part of held_bytes() in buffers without a region

 private:
  static constexpr int kSlotClasses = 9;  // 256 B to 64 KiB, powers of two

  struct Heap {
    int slot_class = 0;
    std::vector<std::uint16_t> free;  // slots, the next one last
    std::size_t slots = 0;
  };

  static int slot_class_of(std::int64_t bytes);
  static std::int64_t slot_bytes(int slot_class) { return kSlotBytes << slot_class; }
  Result<Region> allocate_slot(std::int64_t bytes);
  Result<Region> allocate_buffer(std::int64_t bytes);
  Result<BufferId> make_buffer(std::int64_t bytes, std::int64_t asked);
  void destroy(BufferId buffer, std::int64_t bytes);
  void keep(BufferId buffer, std::int64_t bytes);
  // Returns whether a buffer that holds no region any more is kept. REQUIRES: it still counts as in
  // use.
  bool may_keep(std::int64_t bytes) const;

  BufferSource& source_;
  PoolLimits limits_;
  std::map<BufferId, Heap> heaps_;
  std::array<std::vector<BufferId>, kSlotClasses> open_heaps_;  // heaps that have a free slot
  std::map<BufferId, std::int64_t> own_;                  // buffers of one region, with their sizes
  std::map<std::int64_t, std::vector<BufferId>> unused_;  // unused buffers by size, the latest last
  Shelf* shelf_ = nullptr;                                // null: nothing is held
  std::int64_t live_ = 0;
  std::int64_t held_ = 0;
  std::int64_t kept_ = 0;
  std::int64_t most_used_ = 0;  // the most of held_ - kept_ since the last trim()
};

// Returns the size of the buffer for one region of `bytes`. There are four size classes for each
// power of two, so at most a fifth is wasted.
std::int64_t buffer_bytes_for(std::int64_t bytes);

}  // namespace arraycore
