// Tests the reader pool's bands, its limits, and how it stops.
#include "hub/reader_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace hyperflock::hub {
namespace {

const Lane kQuick{Band::quick, "a"};
const Lane kCostly{Band::costly, "a"};

// A task that has begun and does not end before go().
class Blocker {
 public:
  Blocker(ReaderPool& pool, const Lane& lane) {
    EXPECT_EQ(pool.post(lane,
                        [this, held = go_.get_future().share()] {
                          begun_.set_value();
                          held.wait();
                        }),
              Added::yes);
    begun_.get_future().wait();
  }
  void go() { go_.set_value(); }

 private:
  std::promise<void> go_;
  std::promise<void> begun_;
};

// Runs a task in the lane and waits for its end.
bool runs(ReaderPool& pool, const Lane& lane) {
  std::promise<void> ran;
  if (pool.post(lane, [&ran] { ran.set_value(); }) != Added::yes) return false;
  ran.get_future().wait();
  return true;
}

TEST(ReaderPool, RunsWhatIsPosted) {
  ReaderPool pool({});
  std::promise<int> answer;
  ASSERT_TRUE(pool.post([&answer] { answer.set_value(42); }));
  EXPECT_EQ(answer.get_future().get(), 42);
}

TEST(ReaderPool, RefusesBeyondTheLimitOfACaller) {
  ReaderPool pool({.threads = {1, 1, 1, 1, 1, 1}, .queues = {.waiting_per_caller = 2}});
  Blocker running(pool, kCostly);
  EXPECT_EQ(pool.post(kCostly, [] {}), Added::yes);
  EXPECT_EQ(pool.post(kCostly, [] {}), Added::yes);
  EXPECT_EQ(pool.post(kCostly, [] {}), Added::caller_full);
  EXPECT_EQ(pool.post({Band::costly, "b"}, [] {}), Added::yes);
  running.go();
}

// While one caller's long work runs and more of it waits, everybody else is served.
TEST(ReaderPool, LongWorkDelaysNobodyElse) {
  ReaderPool pool({});
  Blocker running(pool, kCostly);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(pool.post(kCostly, [] {}), Added::yes);
  EXPECT_TRUE(runs(pool, kQuick));
  EXPECT_TRUE(runs(pool, {Band::costly, "b"}));
  EXPECT_TRUE(runs(pool, {Band::operators, "admin"}));
  Blocker second(pool, {Band::costly, "b"});  // all threads for long work are busy now
  EXPECT_TRUE(runs(pool, kQuick));
  EXPECT_TRUE(runs(pool, {Band::operators, "admin"}));
  second.go();
  running.go();
}

// However many researchers read, a device is served, also for long work of its own.
TEST(ReaderPool, ResearchersDelayNoDevice) {
  ReaderPool pool({.threads = {1, 1, 1, 1, 1, 1}});
  Blocker quick(pool, kQuick);
  Blocker costly(pool, kCostly);
  Blocker operators(pool, {Band::operators, "admin"});
  EXPECT_TRUE(runs(pool, {Band::devices, "phone"}));
  EXPECT_TRUE(runs(pool, {Band::devices_costly, "phone"}));
  Blocker upload(pool, {Band::devices_costly, "other phone"});
  EXPECT_TRUE(runs(pool, {Band::devices, "phone"}));
  upload.go();
  operators.go();
  costly.go();
  quick.go();
}

// A monitor asks just when all others are busy.
TEST(ReaderPool, NobodyDelaysAMonitor) {
  ReaderPool pool({.threads = {1, 1, 1, 1, 1, 1}});
  std::vector<std::unique_ptr<Blocker>> blockers;
  for (const Band band :
       {Band::quick, Band::costly, Band::operators, Band::devices, Band::devices_costly})
    blockers.push_back(std::make_unique<Blocker>(pool, Lane{band, "a"}));
  EXPECT_TRUE(runs(pool, {Band::monitors, "a"}));
  for (const auto& blocker : blockers) blocker->go();
}

// Work is done for the request of the thread that posts it.
TEST(ReaderPool, WorkBelongsToTheRequestThatPostsIt) {
  ReaderPool pool({});
  const telemetry::RequestContext request = telemetry::new_request();
  std::promise<telemetry::RequestContext> seen;
  const auto note = [&seen] { seen.set_value(telemetry::current_request()); };
  {
    const telemetry::RequestScope scope(request);
    ASSERT_EQ(pool.post(kQuick, note), Added::yes);
  }
  EXPECT_EQ(seen.get_future().get(), request);
  seen = {};
  ASSERT_EQ(pool.post(kQuick, note), Added::yes);
  EXPECT_FALSE(seen.get_future().get());
}

TEST(ReaderPool, ShortWorkAfterLongWorkStaysWithItsKindOfCaller) {
  EXPECT_EQ(quick_after({Band::costly, "a"}).band, Band::quick);
  EXPECT_EQ(quick_after({Band::devices_costly, "a"}).band, Band::devices);
  EXPECT_EQ(quick_after({Band::operators, "a"}).band, Band::operators);
}

TEST(ReaderPool, AllWaitingTasksRunInTheEnd) {
  ReaderPool pool({});
  std::promise<void> all;
  std::atomic<int> left = 400;
  for (std::size_t i = 0; i < 400; ++i) {
    const Lane lane{static_cast<Band>(i % kBands), std::to_string(i % 7)};
    ASSERT_EQ(pool.post(lane,
                        [&] {
                          if (--left == 0) all.set_value();
                        }),
              Added::yes);
  }
  all.get_future().wait();
  EXPECT_EQ(left, 0);
}

TEST(ReaderPool, StopDropsWhatWaits) {
  ReaderPool pool(
      {.threads = {1, 1, 1, 1, 1, 1},
       .queues = {.waiting_per_caller = std::size_t{1} << 30, .waiting = std::size_t{1} << 30}});
  Blocker running(pool, kCostly);
  const auto dropped = std::make_shared<int>(1);
  ASSERT_EQ(pool.post(kCostly, [dropped] { ++*dropped; }), Added::yes);
  std::thread stopper([&pool] { pool.stop(); });
  while (pool.post(kCostly, [] {}) == Added::yes) {  // until stop() has begun
    std::this_thread::yield();
  }
  running.go();
  stopper.join();
  EXPECT_EQ(*dropped, 1);
  EXPECT_EQ(dropped.use_count(), 1);
}

}  // namespace
}  // namespace hyperflock::hub
