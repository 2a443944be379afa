// The arrays that Python holds, by id. The low bits of an id are a slot's number, and the high bits
// are the slot's generation. So the id of an array that was freed is not found. Python's thread
// only.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dtype/dtype.h"
#include "runtime/storage.h"
#include "view/view.h"

namespace arraycore {

struct Array {
  DType dtype = DType::float32;
  View view;
  std::shared_ptr<Storage> storage;
};

using ArrayId = std::int32_t;  // positive; 0 names none

class ArrayTable {
 public:
  // Adds an array and returns its id; 0 if every slot is in use.
  ArrayId insert(Array array);
  // Returns the array of an id, or nullptr if no array has the id, for example because it was
  // freed. The pointer is valid until the next insert.
  const Array* find(ArrayId id) const;
  // Frees the array. Ignores unknown ids, because a reset may come before Python's `__del__`.
  void erase(ArrayId id);
  // Frees every array. All earlier ids are invalid afterwards.
  void clear();
  std::int64_t size() const { return live_; }

  static constexpr int kSlotBits = 20;
  static constexpr std::uint32_t kMaxSlots = 1U << kSlotBits;
  static constexpr std::uint32_t kGenerations = 1U << (31 - kSlotBits);

 private:
  struct Slot {
    Array array;
    std::uint32_t generation = 1;  // in [1, kGenerations)
    bool used = false;
  };
  void release(std::uint32_t index);

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::int64_t live_ = 0;
};

}  // namespace arraycore
