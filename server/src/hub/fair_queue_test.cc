// Tests who is served next, and the limits of a caller.
#include "hub/fair_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

namespace hyperflock::hub {
namespace {

using testing::ElementsAre;

// Takes a task and ends it at once. Returns its number, or -1 if there is none.
int run_next(FairQueue<int>& queue) {
  auto next = queue.take();
  if (!next) return -1;
  queue.done(next->caller);
  return next->task;
}

TEST(FairQueue, KeepsTheOrderOfOneCaller) {
  FairQueue<int> queue({});
  for (int i = 0; i < 4; ++i) EXPECT_EQ(queue.add("a", i), Added::yes);
  std::vector<int> order;
  for (int task = run_next(queue); task >= 0; task = run_next(queue)) order.push_back(task);
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(queue.callers(), 0U);
}

// A caller that queues 4,096 tasks delays another caller's task only by what runs already.
TEST(FairQueue, AnotherCallerIsNextHoweverManyTasksWait) {
  FairQueue<int> queue({.waiting_per_caller = 4'096});
  for (int i = 0; i < 4'096; ++i) ASSERT_EQ(queue.add("hog", i), Added::yes);
  const auto running = queue.take();
  ASSERT_EQ(running->caller, "hog");
  ASSERT_EQ(queue.add("b", 9'000), Added::yes);
  EXPECT_EQ(queue.take()->task, 9'000);   // a second thread takes it while the hog's task runs
  EXPECT_EQ(queue.take(), std::nullopt);  // the hog has its one running task
  queue.done("hog");
  queue.done("b");
  ASSERT_EQ(queue.add("b", 9'001), Added::yes);
  EXPECT_EQ(run_next(queue), 1);
  EXPECT_EQ(run_next(queue), 9'001);
  EXPECT_EQ(run_next(queue), 2);
}

TEST(FairQueue, CallersTakeTurns) {
  FairQueue<int> queue({});
  for (int i = 0; i < 3; ++i) queue.add("a", i);
  for (int i = 10; i < 12; ++i) queue.add("b", i);
  queue.add("c", 20);
  std::vector<int> order;
  for (int task = run_next(queue); task >= 0; task = run_next(queue)) order.push_back(task);
  EXPECT_THAT(order, ElementsAre(0, 10, 20, 1, 11, 2));
}

TEST(FairQueue, RefusesBeyondTheLimits) {
  FairQueue<int> queue({.waiting_per_caller = 2, .waiting = 3});
  EXPECT_EQ(queue.add("a", 1), Added::yes);
  EXPECT_EQ(queue.add("a", 2), Added::yes);
  EXPECT_EQ(queue.add("a", 3), Added::caller_full);
  EXPECT_EQ(queue.add("b", 4), Added::yes);
  EXPECT_EQ(queue.add("c", 5), Added::full);
  EXPECT_EQ(queue.callers(), 2U);
  EXPECT_EQ(run_next(queue), 1);
  EXPECT_EQ(queue.add("a", 6), Added::yes);
}

TEST(FairQueue, ARefusedCallerLeavesNothing) {
  FairQueue<int> queue({.waiting_per_caller = 0});
  EXPECT_EQ(queue.add("a", 1), Added::caller_full);
  EXPECT_EQ(queue.callers(), 0U);
}

TEST(FairQueue, ClearReturnsWhatWaits) {
  FairQueue<int> queue({});
  queue.add("a", 1);
  queue.add("b", 2);
  queue.add("b", 3);
  const auto running = queue.take();
  EXPECT_EQ(queue.clear().size(), 2U);
  EXPECT_FALSE(queue.ready());
  EXPECT_EQ(queue.waiting(), 0U);
  queue.done(running->caller);
  EXPECT_EQ(queue.callers(), 0U);
}

// Random callers, tasks and threads: nothing is lost, no caller exceeds its limit, and between two
// tasks of one caller every other caller that waited all the time has had a turn.
TEST(FairQueue, IsFairInRandomOrders) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const FairLimits limits{.running_per_caller = 1 + seed % 3, .waiting_per_caller = 40};
    FairQueue<int> queue(limits);
    std::map<std::string, int> waiting;
    std::map<std::string, std::size_t> running;
    std::map<std::string, int> passed_over;  // turns of others while a caller could run
    std::vector<std::string> held;
    int added = 0;
    int ended = 0;
    for (int step = 0; step < 2'000; ++step) {
      const std::string caller(1, static_cast<char>('a' + random() % 5));
      if (random() % 2 == 0 && queue.add(caller, step) == Added::yes) {
        ++waiting[caller];
        ++added;
      }
      if (random() % 3 == 0 && !held.empty()) {
        const std::size_t at = random() % held.size();
        queue.done(held[at]);
        --running[held[at]];
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(at));
        ++ended;
      }
      if (held.size() < 4) {
        if (auto next = queue.take()) {
          ASSERT_GT(waiting[next->caller]--, 0);
          ASSERT_LE(++running[next->caller], limits.running_per_caller);
          held.push_back(next->caller);
          passed_over[next->caller] = 0;
          for (const auto& [other, count] : waiting) {
            if (other == next->caller || count == 0 || running[other] >= limits.running_per_caller)
              continue;
            ASSERT_LE(++passed_over[other], 8) << "seed " << seed;
          }
        } else {
          for (const auto& [other, count] : waiting)
            ASSERT_TRUE(count == 0 || running[other] >= limits.running_per_caller);
        }
      }
    }
    EXPECT_EQ(static_cast<int>(queue.waiting()) + static_cast<int>(held.size()) + ended, added);
  }
}

}  // namespace
}  // namespace hyperflock::hub
