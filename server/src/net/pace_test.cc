// Tests the time limits of transfers: a slow but steady transfer completes, and one that is too
// slow is cut off.
#include "net/pace.h"

#include <gtest/gtest.h>

namespace hyperflock::net {
namespace {

constexpr Pace kPace{.grace_ms = 30'000, .bytes_per_s = 1'024};

TEST(Pace, TheLimitGrowsWithTheSize) {
  EXPECT_EQ(kPace.limit_ms(0), 30'000);
  EXPECT_EQ(kPace.limit_ms(4'096), 34'000);
  EXPECT_EQ(kPace.limit_ms(std::uint64_t{64} << 20), 30'000 + 65'536'000);
  EXPECT_GT(kPace.limit_ms(~std::uint64_t{0}), 0);
}

// Returns the second in which a transfer of `size` bytes is cut; 0 if it ends in time.
int cut_after(std::uint64_t size, std::uint64_t bytes_per_s) {
  PacedTransfer transfer(kPace, Instant{5'000});
  std::uint64_t moved = 0;
  for (int second = 1; moved < size; ++second) {
    transfer.moved(bytes_per_s);
    moved += bytes_per_s;
    if (transfer.left_ms(Instant{5'000 + second * 1'000}) == 0) return second;
  }
  return 0;
}

TEST(Pace, ASlowLinePassesWithAnySize) {
  EXPECT_EQ(cut_after(4'096, 1'100), 0);
  EXPECT_EQ(cut_after(std::uint64_t{10} << 20, 1'100), 0);
}

TEST(Pace, ATrickleIsCutSoonWhateverItsSizeIs) {
  EXPECT_EQ(cut_after(std::uint64_t{512} << 20, 1), 31);
  EXPECT_EQ(cut_after(std::uint64_t{512} << 20, 512), 60);
}

TEST(Pace, NothingIsLeftAfterTheLimit) {
  PacedTransfer transfer(kPace, Instant{0});
  EXPECT_EQ(transfer.left_ms(Instant{29'999}), 1);
  EXPECT_EQ(transfer.left_ms(Instant{30'000}), 0);
  EXPECT_EQ(transfer.left_ms(Instant{90'000}), 0);
  transfer.moved(1'024);
  EXPECT_EQ(transfer.left_ms(Instant{30'500}), 500);
}

}  // namespace
}  // namespace hyperflock::net
