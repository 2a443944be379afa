// Compares the order in which studies compete for a device (R31, R61, R70) with a search through a
// list.
#include "dispatch/study_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "dispatch/model/scenario.h"

namespace hyperflock::dispatch {
namespace {

struct Listed {
  std::string owner;
  Standing standing;
};

// Finds the next study as R31, R61 and R70 say, by loops over all studies. `served` has what each
// researcher was served.
std::optional<StudyId> first_of(const std::vector<Listed>& all,
                                const std::vector<std::int64_t>& served,
                                const std::vector<StudyId>& fitting) {
  const Listed* best = nullptr;
  const auto fits = [&](const Listed& one) {
    return std::find(fitting.begin(), fitting.end(), one.standing.study) != fitting.end();
  };
  for (const Listed& one : all) {
    const bool behind = std::any_of(all.begin(), all.end(), [&](const Listed& other) {
      return other.owner == one.owner && fits(other) &&
             other.standing.priority > one.standing.priority;
    });
    if (!fits(one) || behind) continue;
    const auto turn = [&served](const Listed& of) {
      return std::tuple(served[static_cast<std::size_t>(of.owner[0] - 'a')], of.owner,
                        of.standing.running, of.standing.study);
    };
    if (best == nullptr || turn(one) < turn(*best)) best = &one;
  }
  if (best == nullptr) return std::nullopt;
  return best->standing.study;
}

const auto kAllNeeds = [](std::size_t) { return true; };
const auto kEveryOwner = [](const std::string&) { return true; };
const auto kEveryStudy = [](StudyId) { return true; };
const auto kNoTime = [](StudyId) { return Instant{}; };

TEST(StudyOrder, R61_R70_AgreesWithASearchThroughAllStudies) {
  std::uint64_t state = 7;
  const auto draw = [&state](std::uint64_t below) {
    return static_cast<std::int64_t>(splitmix64(state) % below);
  };
  std::vector<Listed> listed;
  std::vector<std::int64_t> served(4);
  StudyOrder order;
  for (const std::string owner : {"a", "b", "c", "d"}) order.account(owner, 1, {});
  std::int64_t next = 1;
  for (int step = 0; step < 20'000; ++step) {
    if (listed.size() < 12 && draw(3) == 0) {
      const Listed one{std::string(1, static_cast<char>('a' + draw(4))),
                       {draw(4) - 1, draw(4), StudyId{next++}, static_cast<std::size_t>(draw(3))}};
      order.insert(*order.find(one.owner), one.standing, {draw(9)});
      listed.push_back(one);
    } else if (!listed.empty()) {
      const auto at = listed.begin() + draw(listed.size());
      const std::size_t account = *order.find(at->owner);
      if (draw(2) == 0) {
        Standing changed = at->standing;
        changed.priority = draw(4) - 1;
        changed.running = draw(4);
        order.replace(account, std::exchange(at->standing, changed), changed);
      } else {
        order.erase(account, at->standing);
        listed.erase(at);
      }
    }
    const std::int64_t more = draw(5) - 2;
    const std::int64_t account = draw(4);
    served[static_cast<std::size_t>(account)] += more;
    order.add(static_cast<std::size_t>(account), more);
    const std::array<bool, 3> met{draw(3) > 0, draw(3) > 0, draw(3) > 0};
    const auto meets = [&met](std::size_t needs) { return met.at(needs); };
    std::vector<StudyId> fitting;
    for (const Listed& one : listed) {
      if (meets(one.standing.needs) && draw(3) > 0) fitting.push_back(one.standing.study);
    }
    const Choice given = order.first(
        {}, meets, kEveryOwner,
        [&](StudyId id) { return std::find(fitting.begin(), fitting.end(), id) != fitting.end(); },
        kEveryStudy, kNoTime);
    ASSERT_EQ(given.study, first_of(listed, served, fitting)) << "after step " << step;
    ASSERT_EQ(order.empty(), listed.empty());
    const std::int64_t priority = draw(5) - 1;
    ASSERT_EQ(order.has_below(0, priority),
              std::any_of(listed.begin(), listed.end(), [priority](const Listed& one) {
                return one.owner == "a" && one.standing.priority < priority;
              }));
  }
}

// The number of studies that first() looks at must not grow with the number of all studies.
TEST(StudyOrder, R61_ALeaseLooksAtOneOfManyStudies) {
  StudyOrder order;
  const std::size_t ada = order.account("ada", 1, {});
  const std::size_t eve = order.account("eve", 1, {});
  for (std::int64_t id = 1; id <= 5'000; ++id)
    order.insert(ada, {id % 7, id % 50, StudyId{id}}, {});
  for (std::int64_t id = 5'001; id <= 5'005; ++id) order.insert(eve, {0, 3, StudyId{id}}, {});
  int looks = 0;
  const auto fits = [&looks](StudyId) {
    ++looks;
    return true;
  };
  // Only ada's studies of priority 6 take part, and one of them without a running attempt is next.
  EXPECT_EQ(order.first({}, kAllNeeds, kEveryOwner, fits, kEveryStudy, kNoTime).study,
            StudyId{300});
  EXPECT_EQ(looks, 1);
  order.serve(ada, 1, 0, {}, {});
  EXPECT_EQ(order.first({}, kAllNeeds, kEveryOwner, fits, kEveryStudy, kNoTime).study,
            StudyId{5'001});
  EXPECT_EQ(looks, 2);
}

// The number of studies that first() looks at must not grow with the number of those that need what
// the device lacks, however long they have waited.
TEST(StudyOrder, R40_StudiesThatNeedTheSameAreSkippedTogether) {
  StudyOrder order;
  const std::size_t ada = order.account("ada", 1, {});
  for (std::int64_t id = 1; id <= 5'000; ++id)
    order.insert(ada, {id % 7, id % 50, StudyId{id}, 1}, {});
  int compared = 0;
  const auto meets = [&compared](std::size_t needs) {
    ++compared;
    return needs == 0;
  };
  int looks = 0;
  const auto fits = [&looks](StudyId) {
    ++looks;
    return true;
  };
  const ForDevice late{.now = {1'000}, .aging_ms = 50};
  EXPECT_EQ(order.first(late, meets, kEveryOwner, fits, kEveryStudy, kNoTime).study, std::nullopt);
  EXPECT_EQ(looks, 0);
  EXPECT_LE(compared, 20);
  order.insert(ada, {-1, 0, StudyId{6'000}, 0}, {1'000});
  EXPECT_EQ(order.first(late, meets, kEveryOwner, fits, kEveryStudy, kNoTime).study,
            StudyId{6'000});
}

// A study that had a lease meanwhile is not served out of turn, although it was not moved then.
TEST(StudyOrder, R70_WhoWaitsLongestIsServedOutOfTurn) {
  std::uint64_t state = 3;
  const auto draw = [&state](std::uint64_t below) {
    return static_cast<std::int64_t>(splitmix64(state) % below);
  };
  StudyOrder order;
  const std::size_t ada = order.account("ada", 1, {});
  std::map<StudyId, Instant> leased;
  for (std::int64_t id = 1; id <= 20; ++id) {
    leased[StudyId{id}] = {draw(100)};
    order.insert(ada, {id == 20 ? 1 : 0, 0, StudyId{id}, id % 3 == 0 ? 1u : 0u},
                 leased[StudyId{id}]);
  }
  Instant now{100};
  for (int step = 0; step < 5'000; ++step) {
    now.ms += draw(10);
    const Choice next =
        order.first({.now = now, .aging_ms = 50}, kAllNeeds, kEveryOwner, kEveryStudy, kEveryStudy,
                    [&](StudyId id) { return leased.at(id); });
    const auto longest = std::ranges::min_element(
        leased, {}, [](const auto& one) { return std::pair(one.second, one.first); });
    if (now - longest->second >= 50) {
      ASSERT_EQ(next.study, longest->first) << "after step " << step;
    } else {
      ASSERT_EQ(next.study, StudyId{20}) << "after step " << step;
    }
    leased[StudyId{1 + draw(20)}] = now;
  }
}

}  // namespace
}  // namespace hyperflock::dispatch
