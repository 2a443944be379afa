// Tests the reader pool's limits, and how it stops.
#include "hub/reader_pool.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <thread>

namespace hyperflock::hub {
namespace {

TEST(ReaderPool, RunsWhatIsPosted) {
  ReaderPool pool(2, 8);
  std::promise<int> answer;
  ASSERT_TRUE(pool.post([&answer] { answer.set_value(42); }));
  EXPECT_EQ(answer.get_future().get(), 42);
}

TEST(ReaderPool, RefusesBeyondItsLimit) {
  ReaderPool pool(1, 2);
  std::promise<void> go;
  std::promise<void> begun;
  ASSERT_TRUE(pool.post([&begun, held = go.get_future().share()] {
    begun.set_value();
    held.wait();
  }));
  begun.get_future().wait();
  EXPECT_TRUE(pool.post([] {}));
  EXPECT_TRUE(pool.post([] {}));
  EXPECT_FALSE(pool.post([] {}));
  go.set_value();
}

TEST(ReaderPool, StopDropsWhatWaits) {
  ReaderPool pool(1, std::size_t{1} << 30);
  std::promise<void> go;
  std::promise<void> begun;
  const auto dropped = std::make_shared<int>(1);
  ASSERT_TRUE(pool.post([&begun, held = go.get_future().share()] {
    begun.set_value();
    held.wait();
  }));
  begun.get_future().wait();
  ASSERT_TRUE(pool.post([dropped] { ++*dropped; }));
  std::thread stopper([&pool] { pool.stop(); });
  while (pool.post([] {})) {  // until stop() has begun
    std::this_thread::yield();
  }
  go.set_value();
  stopper.join();
  EXPECT_EQ(*dropped, 1);
  EXPECT_EQ(dropped.use_count(), 1);
}

}  // namespace
}  // namespace hyperflock::hub
