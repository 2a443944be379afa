// The studies of a project that compete for devices, in the order of R31 and R61. Of the studies of
// one owner, only those with the highest priority take part. Among those of all owners, the one
// with the fewest running attempts is next; of several such studies, the oldest.
//
//   order.insert("ada", {.priority = 5, .running = 0, .study = id});
//   order.first([](StudyId id) { return fits(id); });
//
// insert() and erase() take logarithmic time. The time of first() grows with the number of studies
// that come before the returned one and do not fit, and of owners whose studies have several
// priorities. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/ids.h"

namespace hyperflock::dispatch {

// The place of a study among those of its project.
struct Standing {
  std::int64_t priority = 0;
  std::int64_t running = 0;  // attempts
  StudyId study{};
  bool operator==(const Standing&) const = default;
};

class StudyOrder {
 public:
  bool empty() const { return owners_.empty(); }

  // REQUIRES: the study is not in the order.
  void insert(const std::string& owner, const Standing& one) {
    Owned& owned = owners_[owner];
    leave(owner, owned);
    owned.levels[one.priority].insert(turn_of(one));
    owned.turns.insert(turn_of(one));
    join(owner, owned);
  }

  // REQUIRES: insert() was called with the same arguments.
  void erase(const std::string& owner, const Standing& one) {
    const auto found = owners_.find(owner);
    Owned& owned = found->second;
    leave(owner, owned);
    const auto level = owned.levels.find(one.priority);
    level->second.erase(turn_of(one));
    if (level->second.empty()) owned.levels.erase(level);
    owned.turns.erase(turn_of(one));
    if (owned.turns.empty()) {
      owners_.erase(found);
    } else {
      join(owner, owned);
    }
  }

  // Returns whether the owner has studies in the order whose priority is lower than `priority`.
  bool has_below(const std::string& owner, std::int64_t priority) const {
    const auto found = owners_.find(owner);
    return found != owners_.end() && found->second.levels.rbegin()->first < priority;
  }

  // Returns the next of the studies for which `fits` returns true. The others are left out, as if
  // they had no work. So studies of lower priority of the same owner may take part.
  template <typename Fits>
  std::optional<StudyId> first(Fits fits) const {
    return first([](const std::string&) { return true; }, fits);
  }

  // Does the same for the studies of those owners for which `admits` returns true.
  template <typename Admits, typename Fits>
  std::optional<StudyId> first(Admits admits, Fits fits) const {
    std::optional<Turn> best;
    for (const auto& [least, owner] : by_least_) {
      if (best && *best < least) break;  // no other owner has an earlier turn
      if (!admits(owner)) continue;
      const std::optional<Turn> one = first_of(owners_.at(owner), fits);
      if (one && (!best || *one < *best)) best = one;
    }
    if (!best) return std::nullopt;
    return best->second;
  }

 private:
  using Turn = std::pair<std::int64_t, StudyId>;  // by running attempts, then by age
  struct Owned {
    std::map<std::int64_t, std::set<Turn>, std::greater<>> levels{};  // by priority
    std::set<Turn> turns{};                                           // of all priorities
  };

  static Turn turn_of(const Standing& one) { return {one.running, one.study}; }

  template <typename Fits>
  static std::optional<Turn> first_of(const Owned& owned, Fits& fits) {
    for (const auto& [priority, turns] : owned.levels) {
      for (const Turn& turn : turns) {
        if (fits(turn.second)) return turn;
      }
    }
    return std::nullopt;
  }

  void leave(const std::string& owner, const Owned& owned) {
    if (!owned.turns.empty()) by_least_.erase({*owned.turns.begin(), owner});
  }
  void join(const std::string& owner, const Owned& owned) {
    by_least_.emplace(*owned.turns.begin(), owner);
  }

  std::map<std::string, Owned> owners_;
  // The owners, sorted by the earliest turn among all their studies. Only studies of an owner's
  // highest priority take part, so an owner's real turn may be later than this one, but never
  // earlier.
  std::set<std::pair<Turn, std::string>> by_least_;
};

}  // namespace hyperflock::dispatch
