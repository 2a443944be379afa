// Tests the server's time while the wall clock jumps in both directions, also at restarts.
#include "auth/trusted_clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace hyperflock::auth {
namespace {

constexpr std::int64_t kStart = 1'700'000'000'000;
constexpr std::int64_t kHour = 3'600'000;
constexpr std::int64_t kDay = 24 * kHour;
constexpr std::int64_t kYear = 365 * kDay;

// A machine whose wall clock can be set, and whose server can be restarted.
class Machine {
 public:
  explicit Machine(std::int64_t kept = 0, AtStart at_start = AtStart::be_careful)
      : time_({wall_, steady_}, kept, at_start) {}

  // Lets time pass. The server looks at the clock once a second.
  void pass(std::int64_t ms) {
    for (std::int64_t left = ms; left > 0; left -= 1'000) {
      const std::int64_t step = std::min<std::int64_t>(left, 1'000);
      wall_ += step;
      steady_ += step;
      now();
    }
  }
  // Lets time pass without anybody looking at the clock.
  void sleep(std::int64_t ms) {
    wall_ += ms;
    steady_ += ms;
  }
  void set_clock(std::int64_t wall) { wall_ = wall; }
  void shift_clock(std::int64_t by) { wall_ += by; }
  std::int64_t now() { return time_.now({wall_, steady_}); }
  std::int64_t wall() const { return wall_; }
  std::optional<ClockJump> jump() { return time_.take_jump({wall_, steady_}); }
  // The steady clock starts again when the machine starts.
  void restart(std::int64_t off_ms, AtStart at_start = AtStart::be_careful) {
    const std::int64_t kept = now();
    wall_ += off_ms;
    steady_ = 5'000;
    time_ = TrustedTime({wall_, steady_}, kept, at_start);
  }

 private:
  std::int64_t wall_ = kStart;
  std::int64_t steady_ = 77'000;
  TrustedTime time_;
};

TEST(TrustedTime, FollowsARightClock) {
  Machine machine;
  EXPECT_EQ(machine.now(), kStart);
  machine.pass(10 * kHour);
  EXPECT_EQ(machine.now(), kStart + 10 * kHour);
  machine.sleep(kDay);  // a laptop
  EXPECT_EQ(machine.now(), kStart + 10 * kHour + kDay);
  EXPECT_EQ(machine.jump(), std::nullopt);
}

// A time service corrects the wall clock by some seconds. The server's time agrees with the wall
// clock again after at most twice as many seconds.
TEST(TrustedTime, FollowsSmallCorrections) {
  Machine machine;
  machine.pass(kHour);
  machine.shift_clock(30'000);
  machine.pass(30'000);
  EXPECT_EQ(machine.now(), machine.wall());
  machine.shift_clock(-30'000);
  machine.pass(60'000);
  EXPECT_EQ(machine.now(), machine.wall());
  EXPECT_EQ(machine.jump(), std::nullopt);
}

TEST(TrustedTime, AJumpForwardEndsNothingAtOnce) {
  Machine machine;
  machine.pass(kHour);
  machine.shift_clock(10 * kYear);
  EXPECT_EQ(machine.now(), kStart + kHour);
  const auto jump = machine.jump();
  ASSERT_TRUE(jump.has_value());
  EXPECT_EQ(*jump, (ClockJump{machine.wall(), kStart + kHour}));
  EXPECT_EQ(machine.jump(), std::nullopt);  // is reported once
  machine.pass(kHour);
  EXPECT_EQ(machine.now(), kStart + 3 * kHour);  // twice as fast, not more
  machine.shift_clock(-10 * kYear);              // somebody corrects the clock
  machine.pass(2 * kHour);
  EXPECT_EQ(machine.now(), machine.wall());
  EXPECT_EQ(machine.jump(), std::nullopt);
  machine.shift_clock(kYear);
  EXPECT_TRUE(machine.jump().has_value());  // another jump is reported again
}

TEST(TrustedTime, AClockThatIsSetBackRevivesNothing) {
  Machine machine;
  machine.pass(kHour);
  machine.set_clock(kStart - 3 * kYear);
  EXPECT_EQ(machine.now(), kStart + kHour);
  EXPECT_TRUE(machine.jump().has_value());
  machine.pass(2 * kHour);
  EXPECT_EQ(machine.now(), kStart + 2 * kHour);  // half as fast, but it goes on
}

TEST(TrustedTime, ARestartWithAnEarlierClockContinues) {
  Machine machine;
  machine.pass(kDay);
  machine.set_clock(0);  // the battery of the machine's clock is empty
  machine.restart(0);
  EXPECT_EQ(machine.now(), kStart + kDay);
  EXPECT_TRUE(machine.jump().has_value());
}

TEST(TrustedTime, ARestartAfterARestIsBelieved) {
  Machine machine;
  machine.pass(kDay);
  machine.restart(80 * kDay);
  EXPECT_EQ(machine.now(), kStart + 81 * kDay);
  EXPECT_EQ(machine.jump(), std::nullopt);
}

TEST(TrustedTime, ARestartFarInTheFutureIsNotBelievedUnlessTheOperatorSaysSo) {
  Machine machine;
  machine.pass(kDay);
  machine.restart(10 * kYear);
  EXPECT_EQ(machine.now(), kStart + kDay);
  EXPECT_TRUE(machine.jump().has_value());
  machine.restart(0, AtStart::trust_wall);
  EXPECT_EQ(machine.now(), kStart + kDay + 10 * kYear);
  EXPECT_EQ(machine.jump(), std::nullopt);
}

TEST(TrustedTime, AFirstStartTakesTheClockAsItIs) {
  Machine machine(0);
  EXPECT_EQ(machine.now(), kStart);
}

// Whatever the wall clock does, the time never goes back, is never slower than half nor faster than
// double, and no restart changes that.
TEST(TrustedTime, KeepsItsSpeedThroughRandomJumpsAndRestarts) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937_64 random(seed);
    Machine machine;
    std::int64_t last = machine.now();
    for (int step = 0; step < 300; ++step) {
      const auto up_to = [&random](std::int64_t most) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most + 1));
      };
      const std::int64_t passed = up_to(5'000);
      switch (random() % 4) {
        case 0:
          machine.shift_clock(up_to(2 * kYear) - kYear);
          break;
        case 1:
          machine.shift_clock(up_to(4'000) - 2'000);
          break;
        case 2:
          if (random() % 8 == 0) {
            machine.set_clock(kStart - kYear);
            machine.restart(0);
          }
          break;
        default:
          break;
      }
      for (std::int64_t left = passed; left > 0;) {  // looked at in uneven steps
        const std::int64_t part = std::min<std::int64_t>(left, 1 + up_to(700));
        machine.sleep(part);
        machine.now();
        left -= part;
      }
      const std::int64_t now = machine.now();
      ASSERT_GE(now, last) << "seed " << seed;
      ASSERT_LE(now - last, 2 * passed + 2'000) << "seed " << seed;
      last = now;
    }
  }
}

TEST(TrustedClock, ContinuesFromTheKeptTime) {
  TrustedClock clock;
  const std::int64_t wall = TrustedClock::read_clocks().wall;
  EXPECT_GE(clock.now(), wall);
  clock.begin(wall + kYear, AtStart::be_careful);
  EXPECT_GE(clock.now(), wall + kYear);
  EXPECT_TRUE(clock.take_jump().has_value());
}

}  // namespace
}  // namespace hyperflock::auth
