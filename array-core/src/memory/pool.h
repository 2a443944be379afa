// Where arrays of a GPU live: hands out regions of buffers and takes them back, under a byte
// budget. Pure bookkeeping: buffers are made and destroyed by a BufferSource, whose commands run in
// order, so that a region may be handed out again while commands that use it are still waiting.
// Touched by one thread.
//
// Small regions are slots of shared heap buffers, bound by range; larger ones have a buffer of
// their own, of a size class below kExactBytes and of the very size above. Freed buffers and heaps
// are kept for the next allocation, and given back when the budget needs them (trim): up to a cap,
// or as much as makes, together with what is in use, a quarter more than was in use at once before.
// So a training step, which frees all that it needed and needs it again, makes no buffers. What is
// beyond that takes the place of all that was kept, which another program may have needed.
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

// [offset, offset + bytes) of a buffer; `bytes` is what was asked for, rounded up to 4 (0: 4, for
// no binding may be empty).
struct Region {
  BufferId buffer = 0;
  std::int64_t offset = 0;  // a multiple of kSlotBytes
  std::int64_t bytes = 0;
  bool operator==(const Region&) const = default;
};

// Regions that are kept for one use (Pool::hold).
struct Shelf {
  std::vector<Region> all;
  std::vector<Region> unused;  // of them
};

struct PoolLimits {
  std::int64_t budget_bytes = 0;       // of all buffers, those kept included
  std::int64_t largest_buffer = 0;     // the adapter's maxBufferSize and binding size, the smaller
  std::int64_t kept_bytes = 64 << 20;  // what is kept unused in any case
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

  // Error: memory, "over_budget" (with what is live and what was asked for) or "too_large" (no
  // buffer of that device is so large). Nothing has changed then, except that nothing is kept.
  Result<Region> allocate(std::int64_t bytes);
  // REQUIRES: `region` came from allocate() since the last forget() and was not freed.
  void free(const Region& region);
  // From hold() to let_go(), allocate() takes from the shelf what has that size there, and free()
  // puts there what was allocated meanwhile: so that the same regions serve whoever issues the same
  // commands again. What is on the shelf counts as handed out until clear_shelf().
  void hold(Shelf& shelf) { shelf_ = &shelf; }
  void let_go() { shelf_ = nullptr; }
  void clear_shelf(Shelf& shelf);
  // Destroys every buffer that is kept unused.
  void trim();
  // The device is gone, and its buffers with it.
  void forget();

  std::int64_t live_bytes() const { return live_; }  // regions handed out
  std::int64_t held_bytes() const { return held_; }  // buffers that exist
  std::int64_t kept_bytes() const { return kept_; }  // of them those that hold no region

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
  // Of a buffer that holds no region any more. REQUIRES: it still counts as in use.
  bool may_keep(std::int64_t bytes) const;

  BufferSource& source_;
  PoolLimits limits_;
  std::map<BufferId, Heap> heaps_;
  std::array<std::vector<BufferId>, kSlotClasses> open_heaps_;  // that have a free slot
  std::map<BufferId, std::int64_t> own_;                        // buffers of one region: size
  std::map<std::int64_t, std::vector<BufferId>> unused_;        // by size, the latest last
  Shelf* shelf_ = nullptr;                                      // null: nothing is held
  std::int64_t live_ = 0;
  std::int64_t held_ = 0;
  std::int64_t kept_ = 0;
  std::int64_t most_used_ = 0;  // the most of held_ - kept_ since the last trim()
};

// The size of the buffer that a region of `bytes` gets for its own: four classes for each power of
// two, so that at most a fifth is wasted.
std::int64_t buffer_bytes_for(std::int64_t bytes);

}  // namespace arraycore
