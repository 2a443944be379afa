#include "capture/tape.h"

#include <utility>

namespace arraycore::capture {

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
