#include "runtime/array_table.h"

#include <utility>

namespace arraycore {

namespace {

constexpr std::uint32_t kSlotMask = ArrayTable::kMaxSlots - 1;

std::uint32_t slot_of(ArrayId id) { return static_cast<std::uint32_t>(id) & kSlotMask; }
std::uint32_t generation_of(ArrayId id) {
  return static_cast<std::uint32_t>(id) >> ArrayTable::kSlotBits;
}

}  // namespace

ArrayId ArrayTable::insert(Array array) {
  std::uint32_t index = 0;
  if (!free_.empty()) {
    index = free_.back();
    free_.pop_back();
  } else {
    if (slots_.size() == kMaxSlots) return 0;
    index = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  }
  Slot& slot = slots_[index];
  slot.array = std::move(array);
  slot.used = true;
  ++live_;
  return static_cast<ArrayId>((slot.generation << kSlotBits) | index);
}

const Array* ArrayTable::find(ArrayId id) const {
  if (id <= 0 || slot_of(id) >= slots_.size()) return nullptr;
  const Slot& slot = slots_[slot_of(id)];
  return slot.used && slot.generation == generation_of(id) ? &slot.array : nullptr;
}

void ArrayTable::erase(ArrayId id) {
  if (find(id) != nullptr) release(slot_of(id));
}

void ArrayTable::clear() {
  for (std::uint32_t index = 0; index < slots_.size(); ++index)
    if (slots_[index].used) release(index);
}

void ArrayTable::release(std::uint32_t index) {
  Slot& slot = slots_[index];
  Storage* const storage = slot.array.storage.get();
  if (storage != nullptr) storage->let_go(slot.array.storage.use_count());
  slot.array.storage.reset();
  slot.used = false;
  slot.generation = slot.generation + 1 == kGenerations ? 1 : slot.generation + 1;
  free_.push_back(index);
  --live_;
}

}  // namespace arraycore
