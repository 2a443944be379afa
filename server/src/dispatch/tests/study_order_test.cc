// Compares the order in which studies compete for a device (R31, R61) with a search through a list.
#include "dispatch/study_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "dispatch/model/scenario.h"

namespace hyperflock::dispatch {
namespace {

struct Listed {
  std::string owner;
  Standing standing;
};

// Finds the next study as R31 and R61 say, by loops over all studies.
std::optional<StudyId> first_of(const std::vector<Listed>& all,
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
    const auto turn = [](const Listed& of) {
      return std::pair(of.standing.running, of.standing.study);
    };
    if (best == nullptr || turn(one) < turn(*best)) best = &one;
  }
  if (best == nullptr) return std::nullopt;
  return best->standing.study;
}

TEST(StudyOrder, R61_AgreesWithASearchThroughAllStudies) {
  std::uint64_t state = 7;
  const auto draw = [&state](std::uint64_t below) {
    return static_cast<std::int64_t>(splitmix64(state) % below);
  };
  std::vector<Listed> listed;
  StudyOrder order;
  std::int64_t next = 1;
  for (int step = 0; step < 20'000; ++step) {
    if (listed.size() < 12 && draw(2) == 0) {
      const Listed one{std::string(1, static_cast<char>('a' + draw(4))),
                       {draw(4) - 1, draw(4), StudyId{next++}}};
      order.insert(one.owner, one.standing);
      listed.push_back(one);
    } else if (!listed.empty()) {
      const auto at = listed.begin() + draw(listed.size());
      order.erase(at->owner, at->standing);
      listed.erase(at);
    }
    std::vector<StudyId> fitting;
    for (const Listed& one : listed) {
      if (draw(3) > 0) fitting.push_back(one.standing.study);
    }
    const auto given = order.first(
        [&](StudyId id) { return std::find(fitting.begin(), fitting.end(), id) != fitting.end(); });
    ASSERT_EQ(given, first_of(listed, fitting)) << "after step " << step;
    ASSERT_EQ(order.empty(), listed.empty());
    const std::int64_t priority = draw(5) - 1;
    ASSERT_EQ(order.has_below("a", priority),
              std::any_of(listed.begin(), listed.end(), [priority](const Listed& one) {
                return one.owner == "a" && one.standing.priority < priority;
              }));
  }
}

// The number of studies that first() looks at must not grow with the number of all studies.
TEST(StudyOrder, R61_ALeaseLooksAtOneOfManyStudies) {
  StudyOrder order;
  for (std::int64_t id = 1; id <= 5'000; ++id) order.insert("ada", {id % 7, id % 50, StudyId{id}});
  for (std::int64_t id = 5'001; id <= 5'005; ++id) order.insert("eve", {0, 3, StudyId{id}});
  int looks = 0;
  const auto next = order.first([&looks](StudyId) {
    ++looks;
    return true;
  });
  // Only ada's studies of priority 6 take part, and one of them without a running attempt is next.
  EXPECT_EQ(next, StudyId{300});
  EXPECT_LE(looks, 2);  // one of each owner
}

}  // namespace
}  // namespace hyperflock::dispatch
