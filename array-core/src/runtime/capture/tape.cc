#include "runtime/capture/tape.h"

#include <utility>

namespace arraycore::capture {

std::vector<StorageId*> storages_of(Action& action) {
  std::vector<StorageId*> all;
  if (auto* const launch = std::get_if<Launch>(&action)) {
    for (LaunchArgument& argument : launch->arguments)
      if (auto* const array = std::get_if<ArrayArgument>(&argument)) all.push_back(&array->storage);
  } else if (auto* const product = std::get_if<GemmLaunch>(&action)) {
    all = {&product->a, &product->b, &product->out};
    for (StorageId& storage : product->operands)
      if (storage != 0) all.push_back(&storage);
  } else if (auto* const raw = std::get_if<RawLaunch>(&action)) {
    for (StorageId& storage : raw->bindings) all.push_back(&storage);
  } else if (auto* const batch = std::get_if<BatchLaunch>(&action)) {
    for (BatchSegment& segment : batch->segments)
      for (ArrayArgument& array : segment.arrays) all.push_back(&array.storage);
  } else if (auto* const upload = std::get_if<Upload>(&action)) {
    all.push_back(&upload->storage);
  } else if (auto* const zero = std::get_if<Zero>(&action)) {
    all.push_back(&zero->storage);
  }
  return all;
}

void Tape::add(std::size_t side, const Operation* operation, Action action,
               std::span<const std::uint64_t> serials) {
  for (StorageId* const storage : storages_of(action)) {
    const StorageId id = *storage;
    *storage = name(side, id);
    if ((*storage & kCarried) == 0) outside_[side].emplace(id, Outside{serials[id - 1]});
  }
  commands_.push_back({side, operation, std::move(action)});
}

Name Tape::name(std::size_t side, StorageId id) const {
  if (const auto own = made_at_[side].find(id); own != made_at_[side].end())
    return kMade | own->second;
  if (before_ != nullptr) {
    const auto earlier = before_->made_at_[side].find(id);
    if (earlier != before_->made_at_[side].end()) return kCarried | earlier->second;
  }
  return id;
}

void Tape::destroyed(std::size_t side, StorageId id) {
  if (before_ != nullptr) before_->destroyed(side, id);
  if (const auto own = made_at_[side].find(id); own != made_at_[side].end()) {
    made_[own->second].alive = false;
    made_at_[side].erase(own);
    return;
  }
  if (const auto other = outside_[side].find(id); other != outside_[side].end())
    other->second.alive = false;
}

bool Tape::is_of_this_step(std::size_t side, StorageId id) const {
  return made_at_[side].contains(id);
}

void Tape::refuse(Error error) {
  if (!refusal_) refusal_ = Refusal{std::move(error), static_cast<std::uint32_t>(commands_.size())};
}

}  // namespace arraycore::capture
