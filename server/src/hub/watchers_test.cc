// Tests that watchers are woken when their study changes, and forgotten when they have ended.
#include "hub/watchers.h"

#include <gtest/gtest.h>

namespace hyperflock::hub {
namespace {

class Counter final : public Watcher {
 public:
  void wake() override { ++woken; }
  int woken = 0;
};

TEST(Watchers, AreWokenOnceAtFirstAndAtEachChange) {
  Watchers watchers;
  const auto one = std::make_shared<Counter>();
  const auto two = std::make_shared<Counter>();
  watchers.add(StudyId{1}, one);
  watchers.add(StudyId{1}, two);
  watchers.wake(StudyId{1});
  watchers.wake(StudyId{2});
  EXPECT_EQ(one->woken, 2);
  EXPECT_EQ(two->woken, 2);
}

TEST(Watchers, OneThatIsGoneIsForgottenAtTheNextChange) {
  Watchers watchers;
  auto one = std::make_shared<Counter>();
  watchers.add(StudyId{1}, one);
  EXPECT_EQ(watchers.studies(), 1U);
  one.reset();
  watchers.wake(StudyId{1});
  EXPECT_EQ(watchers.studies(), 0U);
}

TEST(Watchers, StudiesThatNeverChangeDoNotGather) {
  Watchers watchers;
  const auto alive = std::make_shared<Counter>();
  watchers.add(StudyId{1}, alive);
  for (int i = 2; i < 10'000; ++i) watchers.add(StudyId{i}, std::make_shared<Counter>());
  EXPECT_LE(watchers.studies(), 1'001U);
  watchers.wake(StudyId{1});
  EXPECT_EQ(alive->woken, 2);
}

}  // namespace
}  // namespace hyperflock::hub
