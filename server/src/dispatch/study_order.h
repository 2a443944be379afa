// The studies of a project that compete for devices, in the order of R70, R31 and R61. Researchers
// compete by their shares: who is below a guaranteed number of devices comes first, and then who
// has been served least in proportion to the weight. Among the studies of one researcher, those
// with the highest priority compete; of these, the one with the fewest running attempts is next; of
// several such studies, the oldest.
//
//   const std::size_t ada = order.account("ada", weight, now);
//   order.insert(ada, {.priority = 5, .running = 0, .study = id}, now);
//   const Choice next = order.first({.now = now}, meets, admits, fits, works, since);
//   order.serve(ada, cost, slack, next, now);
//
// The amount that a researcher has been served is a virtual time: time of devices, divided by the
// weight (docs/decisions/server/researchers-share-devices-by-time.md has the source). All
// changes take logarithmic time. Studies that need the same of a device (R40) are kept together,
// and first() skips them together. So its time grows with the number of researchers and of
// different needs, and with the number of studies that come before the returned one, or have waited
// too long, and do not fit for another reason. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/instant.h"
#include "dispatch/shares.h"

namespace hyperflock::dispatch {

// The place of a study among those of its researcher.
struct Standing {
  std::int64_t priority = 0;
  std::int64_t running = 0;  // attempts
  StudyId study{};
  std::size_t needs = 0;  // the number of what it needs of a device; never changes
  bool operator==(const Standing&) const = default;
};

// A study that was chosen, and how.
struct Choice {
  std::optional<StudyId> study{};
  bool owner_by_age = false;  // its researcher had waited too long
  bool study_by_age = false;  // the study had waited too long
  bool was_next = false;      // its researcher was next by the weights
  std::int64_t priority = 0;  // of the study, like the next one
  std::int64_t running = 0;
};

// What a choice depends on besides the order.
struct ForDevice {
  Instant now{};
  // Studies and researchers that have waited this long are served out of turn. nullopt: nobody is.
  std::optional<Millis> aging_ms{};
  // The study whose files the device has, and the researcher's account, if it has a trial for it.
  std::optional<std::pair<std::size_t, Standing>> near{};
};

class StudyOrder {
 public:
  bool empty() const { return turns_.empty(); }

  // Returns the account of the researcher. A new one has this weight, and waits from now on.
  std::size_t account(const std::string& owner, std::int64_t weight, Instant now) {
    const auto [found, is_new] = by_name_.try_emplace(owner, accounts_.size());
    if (is_new) accounts_.push_back({.owner = owner, .weight = weight, .since = now});
    return found->second;
  }
  std::optional<std::size_t> find(const std::string& owner) const {
    const auto found = by_name_.find(owner);
    return found == by_name_.end() ? std::nullopt : std::optional(found->second);
  }
  const std::map<std::string, std::size_t>& accounts() const { return by_name_; }
  std::int64_t weight_of(std::size_t account) const { return accounts_[account].weight; }
  void set_weight(std::size_t account, std::int64_t weight) { accounts_[account].weight = weight; }

  // Notes whether the researcher has fewer devices than guaranteed.
  void set_below(std::size_t account, bool below) {
    Account& one = accounts_[account];
    if (one.below == below) return;
    move(account, [below](Account& of) { of.below = below; });
  }

  // `since`: the study's last lease, or when it began to run. REQUIRES: the study is not in the
  // order.
  void insert(std::size_t account, const Standing& one, Instant since) {
    Account& of = accounts_[account];
    if (of.noted.empty()) {
      turns_.insert(turn_of(account));
      ages_.emplace(of.since, account);
    }
    of.levels[one.priority][one.needs].insert(turn_of(one));
    of.waits[one.needs].emplace(since, one.study);
    of.noted.emplace(one.study, since);
  }

  // REQUIRES: insert() was called with the same arguments.
  void erase(std::size_t account, const Standing& one) {
    Account& of = accounts_[account];
    leave_level(of, one);
    const auto noted = of.noted.find(one.study);
    const auto waits = of.waits.find(one.needs);
    waits->second.erase({noted->second, one.study});
    if (waits->second.empty()) of.waits.erase(waits);
    of.noted.erase(noted);
    if (!of.noted.empty()) return;
    turns_.erase(turn_of(account));
    ages_.erase({of.since, account});
  }

  // Does the same as erase() and insert(). REQUIRES: both name the same study and needs.
  void replace(std::size_t account, const Standing& before, const Standing& one) {
    Account& of = accounts_[account];
    if (before.priority != one.priority) {
      leave_level(of, before);
      of.levels[one.priority][one.needs].insert(turn_of(one));
    } else if (before.running != one.running) {
      std::set<Turn>& turns = of.levels.find(one.priority)->second.find(one.needs)->second;
      auto node = turns.extract(turn_of(before));
      node.value() = turn_of(one);
      turns.insert(std::move(node));
    }
  }

  // Returns whether the researcher has studies in the order with a lower priority.
  bool has_below(std::size_t account, std::int64_t priority) const {
    const auto& levels = accounts_[account].levels;
    return !levels.empty() && levels.rbegin()->first < priority;
  }

  // Returns whether the researcher has studies in the order with a higher priority.
  bool has_above(std::size_t account, std::int64_t priority) const {
    const auto& levels = accounts_[account].levels;
    return !levels.empty() && levels.begin()->first > priority;
  }

  // The weights of all researchers in the order, and how many of them come before this one.
  // nullopt: this one is not in the order.
  struct Place {
    std::int64_t weights = 0;
    std::optional<std::int64_t> ahead{};
  };
  Place place_of(const std::string& owner) const {
    Place out;
    std::int64_t before = 0;
    for (const auto& [in_order, served, index] : turns_) {
      const Account& one = accounts_[index];
      out.weights += one.weight;
      if (one.owner == owner) out.ahead = before;
      ++before;
    }
    return out;
  }

  // Counts a lease for `cost` of virtual time. See serve_next() for `slack`.
  void serve(std::size_t account, std::int64_t cost, std::int64_t slack, const Choice& how,
             Instant now) {
    Account& of = accounts_[account];
    const Instant before = of.since;
    move(account,
         [&](Account& one) { serve_next(virtual_time_, one.served, cost, slack, how.was_next); });
    of.since = now;
    of.by_age = how.study_by_age;
    by_age_ = how.owner_by_age;
    if (of.noted.empty() || before == now) return;
    auto node = ages_.extract({before, account});
    node.value() = {now, account};
    ages_.insert(ages_.end(), std::move(node));
  }

  // Counts more, or less, for attempts that run.
  void add(std::size_t account, std::int64_t cost) {
    if (cost == 0) return;
    move(account, [cost](Account& of) { of.served += cost; });
  }

  // Returns whether the researcher would then be further ahead of the others than `lead`.
  bool is_ahead(std::size_t account, std::int64_t cost, std::int64_t lead) const {
    return accounts_[account].served + cost > virtual_time_ + lead;
  }

  // Returns the next of the studies for whose needs `meets` and for which `fits` returns true, of
  // those researchers for which `admits` returns true. The others are left out, as if they had no
  // work. So studies of lower priority of the same researcher may take part. `works` returns
  // whether a study has a trial now; only such a study is served out of turn. `since` returns when
  // it had its last lease.
  template <typename Meets, typename Admits, typename Fits, typename Works, typename Since>
  Choice first(const ForDevice& device, Meets meets, Admits admits, Fits fits, Works works,
               Since since_of) {
    if (device.aging_ms && !by_age_) {
      for (const auto& [since, index] : ages_) {
        if (device.now - since < *device.aging_ms) break;
        Account& of = accounts_[index];
        if (!admits(of.owner)) continue;
        const auto both = [&](StudyId id) { return works(id) && fits(id); };
        Choice one = first_of(of, device, meets, both, works, since_of);
        if (!one.study) continue;
        one.owner_by_age = true;
        return one;
      }
    }
    for (const auto& [in_order, served, index] : turns_) {
      Account& of = accounts_[index];
      if (!admits(of.owner)) continue;
      Choice one = first_of(of, device, meets, fits, works, since_of);
      if (!one.study) continue;
      // Those below their guarantee say nothing about what the others have been served.
      one.was_next = !of.below || !std::get<bool>(*turns_.rbegin());
      if (prefers_near(device, index, one, meets, admits, fits, works, since_of))
        return {.study = device.near->second.study};
      return one;
    }
    return {};
  }

 private:
  using Turn = std::pair<std::int64_t, StudyId>;  // by running attempts, then by age
  using Wait = std::pair<Instant, StudyId>;
  template <typename Entry>
  using ByNeeds = std::map<std::size_t, std::set<Entry>>;
  struct Account {
    std::string owner;
    std::int64_t weight = 1;
    std::int64_t served = 0;  // virtual time
    bool below = false;       // fewer devices than guaranteed
    bool by_age = false;      // the last lease was out of turn among this researcher's studies
    Instant since{};          // of the last lease
    std::map<std::int64_t, ByNeeds<Turn>, std::greater<>> levels{};  // by priority
    // The same studies by their last lease, as it was when they were looked at last. A lease does
    // not change it, because nearly no study waits for too long.
    ByNeeds<Wait> waits{};
    std::unordered_map<StudyId, Instant> noted{};  // their times in `waits`
  };
  using AccountTurn = std::tuple<bool, std::int64_t, std::size_t>;

  static Turn turn_of(const Standing& one) { return {one.running, one.study}; }
  AccountTurn turn_of(std::size_t account) const {
    const Account& of = accounts_[account];
    return {!of.below, of.served, account};
  }

  static void leave_level(Account& of, const Standing& one) {
    const auto level = of.levels.find(one.priority);
    const auto turns = level->second.find(one.needs);
    turns->second.erase(turn_of(one));
    if (turns->second.empty()) level->second.erase(turns);
    if (level->second.empty()) of.levels.erase(level);
  }

  // Changes an account and keeps its place in the order.
  template <typename Change>
  void move(std::size_t account, Change change) {
    Account& of = accounts_[account];
    if (of.noted.empty()) return change(of);
    auto node = turns_.extract(turn_of(account));
    change(of);
    node.value() = turn_of(account);
    turns_.insert(std::move(node));
  }

  template <typename Meets, typename Fits, typename Works, typename Since>
  static Choice first_of(Account& of, const ForDevice& device, const Meets& meets, const Fits& fits,
                         const Works& works, const Since& since_of) {
    if (device.aging_ms && !of.by_age) {
      std::optional<Wait> longest;
      for (auto& [needs, waits] : of.waits) {
        if (!meets(needs)) continue;
        const auto one = longest_wait(of, waits, device, fits, works, since_of);
        if (one && (!longest || *one < *longest)) longest = one;
      }
      if (longest) return {.study = longest->second, .study_by_age = true};
    }
    for (const auto& [priority, kinds] : of.levels) {
      std::optional<Turn> next;
      for (const auto& [needs, turns] : kinds) {
        if (!meets(needs)) continue;
        for (const Turn& turn : turns) {
          if (next && *next < turn) break;
          if (!fits(turn.second)) continue;
          next = turn;
          break;
        }
      }
      if (next) return {.study = next->second, .priority = priority, .running = next->first};
    }
    return {};
  }

  // Returns the study that has waited longest, and too long, of those of the same needs.
  template <typename Fits, typename Works, typename Since>
  static std::optional<Wait> longest_wait(Account& of, std::set<Wait>& waits,
                                          const ForDevice& device, const Fits& fits,
                                          const Works& works, const Since& since_of) {
    auto next = waits.begin();
    while (next != waits.end() && device.now - next->first >= *device.aging_ms) {
      const auto one = next++;
      const StudyId study = one->second;
      if (const Instant since = since_of(study); since != one->first) {
        // It had a lease meanwhile. Its place is further back, where it is looked at again.
        auto node = waits.extract(one);
        node.value().first = of.noted[study] = since;
        const auto moved = waits.insert(std::move(node)).position;
        if (next == waits.end() || *moved < *next) next = moved;
      } else if (works(study) && fits(study)) {
        return *one;
      }
    }
    return std::nullopt;
  }

  // Returns whether the device gets the study whose files it has, in place of `next`. It does if
  // that costs fairness little: the study has no more devices than the next one of its researcher,
  // and the researcher is at most kLocalityMs ahead of the researcher of `next`.
  template <typename Meets, typename Admits, typename Fits, typename Works, typename Since>
  bool prefers_near(const ForDevice& device, std::size_t index, const Choice& next, Meets& meets,
                    Admits& admits, Fits& fits, Works& works, Since& since_of) {
    if (!device.near || next.study_by_age || !works(*next.study)) return false;
    const auto& [near_index, near] = *device.near;
    if (near.study == *next.study) return false;
    Choice own = next;
    if (near_index != index) {
      const Account& first = accounts_[index];
      Account& of = accounts_[near_index];
      if (first.below || of.served - first.served > cost_of(kLocalityMs, of.weight)) return false;
      if (!admits(of.owner)) return false;
      own = first_of(of, device, meets, fits, works, since_of);
      if (!own.study || own.study_by_age) return false;
    }
    return near.priority == own.priority && near.running <= own.running;
  }

  std::vector<Account> accounts_;
  std::map<std::string, std::size_t> by_name_;
  // Researchers with studies in the order: those below their guarantee first, then by virtual time.
  std::set<AccountTurn> turns_;
  std::set<std::pair<Instant, std::size_t>> ages_;  // the same researchers by their last lease
  std::int64_t virtual_time_ = 0;                   // of the last lease
  bool by_age_ = false;  // the last lease was out of turn among the researchers
};

}  // namespace hyperflock::dispatch
