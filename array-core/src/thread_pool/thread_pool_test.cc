#include "thread_pool/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace arraycore {
namespace {

class Helpers {
 public:
  Helpers(ThreadPool& thread_pool, int count) : team_(thread_pool) {
    for (int i = 1; i <= count; ++i)
      threads_.emplace_back([&thread_pool, i] { thread_pool.serve(i); });
    while (thread_pool.threads() != count + 1) std::this_thread::yield();
  }
  ~Helpers() {
    team_.end();
    for (std::thread& thread : threads_) thread.join();
  }
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

 private:
  ThreadPool& team_;
  std::vector<std::thread> threads_;
};

struct Squares {
  std::vector<std::int64_t> of;
  std::vector<int> by;  // the thread that computed each

  explicit Squares(std::size_t count) : of(count, -1), by(count, -1) {}
  static void part(void* task, std::int64_t i, int thread) {
    auto& squares = *static_cast<Squares*>(task);
    squares.of[static_cast<std::size_t>(i)] = i * i;
    squares.by[static_cast<std::size_t>(i)] = thread;
  }
  bool right() const {
    for (std::size_t i = 0; i < of.size(); ++i)
      if (of[i] != static_cast<std::int64_t>(i * i)) return false;
    return true;
  }
};

TEST(ThreadPool, ACallerAloneRunsEveryPart) {
  ThreadPool thread_pool;
  Squares squares(100);
  EXPECT_EQ(thread_pool.threads(), 1);
  EXPECT_TRUE(thread_pool.run(Squares::part, &squares, 100, thread_pool.threads()));
  EXPECT_TRUE(squares.right());
  EXPECT_TRUE(thread_pool.run(Squares::part, &squares, 0, 1));
}

TEST(ThreadPool, EachPartRunsOnceForAnyNumberOfHelpersAndTasks) {
  for (const int helpers : {1, 2, 5}) {
    ThreadPool thread_pool;
    const Helpers threads(thread_pool, helpers);
    for (const std::size_t parts : {1U, 2U, 3U, 50U, 1000U})
      for (int turn = 0; turn < 200; ++turn) {
        // If a helper ran a part of an earlier task too late, it would write to freed memory.
        Squares squares(parts);
        ASSERT_TRUE(thread_pool.run(Squares::part, &squares, static_cast<std::int64_t>(parts),
                                    helpers + 1));
        ASSERT_TRUE(squares.right()) << helpers << " helpers, " << parts << " parts";
      }
  }
}

TEST(ThreadPool, HelpersTakePartsWhileTheCallerIsBusy) {
  ThreadPool thread_pool;
  const Helpers threads(thread_pool, 2);
  struct Task {
    std::atomic<int> threads = 0;
    static void part(void* task, std::int64_t, int thread) {
      auto& all = *static_cast<Task*>(task);
      all.threads.fetch_or(1 << thread);
      // Each thread stays in its part until all three threads run one.
      while (all.threads.load() != 7) std::this_thread::yield();
    }
  };
  Task task;
  EXPECT_TRUE(thread_pool.run(Task::part, &task, 3, 3));
  EXPECT_EQ(task.threads.load(), 7);
}

TEST(ThreadPool, AMemberRunsOnePartAtATime) {
  ThreadPool thread_pool;
  const Helpers threads(thread_pool, 3);
  struct Task {
    std::atomic<int> running[4] = {};
    std::atomic<bool> twice = false;
    static void part(void* task, std::int64_t, int thread) {
      auto& all = *static_cast<Task*>(task);
      if (all.running[thread].fetch_add(1) != 0) all.twice = true;
      std::this_thread::yield();
      all.running[thread].fetch_sub(1);
    }
  };
  Task task;
  for (int turn = 0; turn < 50; ++turn) EXPECT_TRUE(thread_pool.run(Task::part, &task, 40, 4));
  EXPECT_FALSE(task.twice.load());
}

TEST(ThreadPool, AMemberThatIsNotAskedTakesNothing) {
  ThreadPool thread_pool;
  const Helpers threads(thread_pool, 4);
  for (int turn = 0; turn < 100; ++turn) {
    Squares squares(64);
    ASSERT_TRUE(thread_pool.run(Squares::part, &squares, 64, 3));
    ASSERT_TRUE(squares.right());
    ASSERT_LT(*std::max_element(squares.by.begin(), squares.by.end()), 3);
  }
}

TEST(ThreadPool, HelpersThatWereSentHomeAreNotWaitedFor) {
  ThreadPool thread_pool;
  {
    const Helpers threads(thread_pool, 2);
  }
  EXPECT_EQ(thread_pool.threads(), 1);
  Squares squares(10);
  EXPECT_TRUE(thread_pool.run(Squares::part, &squares, 10, 1));
  EXPECT_TRUE(squares.right());
  EXPECT_EQ(std::count(squares.by.begin(), squares.by.end(), 0), 10);
}

}  // namespace
}  // namespace arraycore
