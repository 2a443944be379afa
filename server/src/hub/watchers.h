// Knows the watchers of each study but does not own them. Used only on the hub's strand.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "hub/peer.h"

namespace hyperflock::hub {

class Watchers {
 public:
  // Adds a watcher and wakes it once.
  void add(StudyId study, const std::weak_ptr<Watcher>& watcher) {
    // After this many additions, watchers that are gone are removed from all studies, even from
    // those that no longer change.
    constexpr std::size_t kAddedBetweenSweeps = 1'000;
    if (++added_ % kAddedBetweenSweeps == 0) sweep();
    by_study_[study].push_back(watcher);
    if (const auto alive = watcher.lock()) alive->wake();
  }

  void wake(StudyId study) {
    const auto found = by_study_.find(study);
    if (found == by_study_.end()) return;
    std::erase_if(found->second, [](const std::weak_ptr<Watcher>& watcher) {
      const auto alive = watcher.lock();
      if (alive) alive->wake();
      return !alive;
    });
    if (found->second.empty()) by_study_.erase(found);
  }

  // Returns the number of studies with watchers.
  std::size_t studies() const { return by_study_.size(); }

 private:
  void sweep() {
    for (auto entry = by_study_.begin(); entry != by_study_.end();) {
      std::erase_if(entry->second, [](const auto& watcher) { return watcher.expired(); });
      entry = entry->second.empty() ? by_study_.erase(entry) : std::next(entry);
    }
  }

  std::unordered_map<StudyId, std::vector<std::weak_ptr<Watcher>>> by_study_;
  std::size_t added_ = 0;
};

}  // namespace hyperflock::hub
