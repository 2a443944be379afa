#include "team/team.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace arraycore {
namespace {

class Helpers {
 public:
  Helpers(Team& team, int count) : team_(team) {
    for (int i = 1; i <= count; ++i) threads_.emplace_back([&team, i] { team.serve(i); });
    while (team.members() != count + 1) std::this_thread::yield();
  }
  ~Helpers() {
    team_.end();
    for (std::thread& thread : threads_) thread.join();
  }
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

 private:
  Team& team_;
  std::vector<std::thread> threads_;
};

struct Squares {
  std::vector<std::int64_t> of;
  std::vector<int> by;  // the member that computed each

  explicit Squares(std::size_t count) : of(count, -1), by(count, -1) {}
  static void part(void* task, std::int64_t i, int member) {
    auto& squares = *static_cast<Squares*>(task);
    squares.of[static_cast<std::size_t>(i)] = i * i;
    squares.by[static_cast<std::size_t>(i)] = member;
  }
  bool right() const {
    for (std::size_t i = 0; i < of.size(); ++i)
      if (of[i] != static_cast<std::int64_t>(i * i)) return false;
    return true;
  }
};

TEST(Team, ACallerAloneRunsEveryPart) {
  Team team;
  Squares squares(100);
  EXPECT_EQ(team.members(), 1);
  EXPECT_TRUE(team.run(Squares::part, &squares, 100, team.members()));
  EXPECT_TRUE(squares.right());
  EXPECT_TRUE(team.run(Squares::part, &squares, 0, 1));
}

TEST(Team, EachPartRunsOnceForAnyNumberOfHelpersAndTasks) {
  for (const int helpers : {1, 2, 5}) {
    Team team;
    const Helpers threads(team, helpers);
    for (const std::size_t parts : {1U, 2U, 3U, 50U, 1000U})
      for (int turn = 0; turn < 200; ++turn) {
        // A part of an earlier task that came late would write into freed memory.
        Squares squares(parts);
        ASSERT_TRUE(
            team.run(Squares::part, &squares, static_cast<std::int64_t>(parts), helpers + 1));
        ASSERT_TRUE(squares.right()) << helpers << " helpers, " << parts << " parts";
      }
  }
}

TEST(Team, HelpersTakePartsWhileTheCallerIsBusy) {
  Team team;
  const Helpers threads(team, 2);
  struct Task {
    std::atomic<int> members = 0;
    static void part(void* task, std::int64_t, int member) {
      auto& all = *static_cast<Task*>(task);
      all.members.fetch_or(1 << member);
      // Nobody leaves before all have come.
      while (all.members.load() != 7) std::this_thread::yield();
    }
  };
  Task task;
  EXPECT_TRUE(team.run(Task::part, &task, 3, 3));
  EXPECT_EQ(task.members.load(), 7);
}

TEST(Team, AMemberRunsOnePartAtATime) {
  Team team;
  const Helpers threads(team, 3);
  struct Task {
    std::atomic<int> running[4] = {};
    std::atomic<bool> twice = false;
    static void part(void* task, std::int64_t, int member) {
      auto& all = *static_cast<Task*>(task);
      if (all.running[member].fetch_add(1) != 0) all.twice = true;
      std::this_thread::yield();
      all.running[member].fetch_sub(1);
    }
  };
  Task task;
  for (int turn = 0; turn < 50; ++turn) EXPECT_TRUE(team.run(Task::part, &task, 40, 4));
  EXPECT_FALSE(task.twice.load());
}

TEST(Team, AMemberThatIsNotAskedTakesNothing) {
  Team team;
  const Helpers threads(team, 4);
  for (int turn = 0; turn < 100; ++turn) {
    Squares squares(64);
    ASSERT_TRUE(team.run(Squares::part, &squares, 64, 3));
    ASSERT_TRUE(squares.right());
    ASSERT_LT(*std::max_element(squares.by.begin(), squares.by.end()), 3);
  }
}

TEST(Team, HelpersThatWereSentHomeAreNotWaitedFor) {
  Team team;
  {
    const Helpers threads(team, 2);
  }
  EXPECT_EQ(team.members(), 1);
  Squares squares(10);
  EXPECT_TRUE(team.run(Squares::part, &squares, 10, 1));
  EXPECT_TRUE(squares.right());
  EXPECT_EQ(std::count(squares.by.begin(), squares.by.end(), 0), 10);
}

}  // namespace
}  // namespace arraycore
