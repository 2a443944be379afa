#include "memory/pool.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace arraycore {
namespace {

class CountingSource final : public BufferSource {
 public:
  Result<BufferId> create_buffer(std::int64_t bytes) override {
    if (refuses) return Error{ErrorKind::device_lost, "device_lost", "The device is gone."};
    sizes[next] = bytes;
    ++made;
    return next++;
  }
  void destroy_buffer(BufferId buffer) override { EXPECT_EQ(sizes.erase(buffer), 1U); }
  std::int64_t held() const {
    std::int64_t sum = 0;
    for (const auto& [id, bytes] : sizes) sum += bytes;
    return sum;
  }

  std::map<BufferId, std::int64_t> sizes;
  BufferId next = 1;
  int made = 0;
  bool refuses = false;
};

constexpr std::int64_t kMiB = 1 << 20;

struct Fixture {
  CountingSource source;
  Pool pool;
  explicit Fixture(std::int64_t budget = 256 * kMiB)
      : pool(source, {.budget_bytes = budget, .largest_buffer = 128 * kMiB}) {}
};

TEST(Pool, ALoopThatFreesItsResultMakesNothingAfterTheFirstTurns) {
  Fixture f;
  for (const std::int64_t bytes :
       std::array<std::int64_t, 5>{4, 4'000, 100'000, 3 * kMiB, 40 * kMiB}) {
    f.pool.free(f.pool.allocate(bytes).value());
    const int made = f.source.made;
    for (int i = 0; i < 1'000; ++i) f.pool.free(f.pool.allocate(bytes).value());
    EXPECT_EQ(f.source.made, made) << bytes;
  }
  EXPECT_EQ(f.pool.live_bytes(), 0);
}

TEST(Pool, WhatIsHeldServesTheSameUseAgainAndNobodyElse) {
  Fixture f;
  const Region before = f.pool.allocate(1000).value();
  Shelf shelf;
  std::array<Region, 2> first;
  for (int turn = 0; turn < 2; ++turn) {
    f.pool.hold(shelf);
    const std::array<Region, 2> taken{f.pool.allocate(1000).value(), f.pool.allocate(kMiB).value()};
    for (const Region& region : taken) f.pool.free(region);
    if (turn == 0) f.pool.free(before);  // it did not come from the shelf
    f.pool.let_go();
    if (turn == 0) first = taken;
    EXPECT_EQ(taken, first) << turn;
  }
  EXPECT_EQ(f.pool.live_bytes(), 1000 + kMiB);
  const Region other = f.pool.allocate(kMiB).value();
  EXPECT_NE(other.buffer, first[1].buffer);
  f.pool.free(other);
  f.pool.clear_shelf(shelf);
  EXPECT_EQ(f.pool.live_bytes(), 0);
}

TEST(Pool, SmallRegionsShareAHeapAndAreAligned) {
  Fixture f;
  std::set<std::int64_t> offsets;
  for (int i = 0; i < 4'096; ++i) {
    const Region region = f.pool.allocate(100).value();
    EXPECT_EQ(region.offset % Pool::kSlotBytes, 0);
    EXPECT_TRUE(offsets.insert(region.offset).second);
  }
  EXPECT_EQ(f.source.made, 1);
  f.pool.allocate(100).value();
  EXPECT_EQ(f.source.made, 2);
}

TEST(Pool, NoRegionIsEmptyAndSizesAreWholeWords) {
  Fixture f;
  EXPECT_EQ(f.pool.allocate(0)->bytes, 4);
  EXPECT_EQ(f.pool.allocate(5)->bytes, 8);
  EXPECT_EQ(f.pool.allocate(Pool::kExactBytes + 1)->bytes, Pool::kExactBytes + 4);
}

TEST(Pool, ClassesWasteAtMostAFifth) {
  for (std::int64_t bytes = Pool::kLargestSlot + 4; bytes < 48 * kMiB; bytes += bytes / 7 + 4) {
    const std::int64_t size = buffer_bytes_for(bytes);
    EXPECT_GE(size, bytes);
    EXPECT_LE(static_cast<double>(size - bytes), 0.2 * static_cast<double>(size)) << bytes;
    EXPECT_EQ(size % Pool::kSlotBytes, 0);
  }
}

TEST(Pool, TheBudgetCountsBuffersAndTrimsBeforeItRefuses) {
  Fixture f(64 * kMiB);
  const Region first = f.pool.allocate(30 * kMiB).value();
  f.pool.free(first);
  EXPECT_GT(f.pool.kept_bytes(), 0);
  const auto large = f.pool.allocate(60 * kMiB);
  ASSERT_TRUE(large);
  EXPECT_EQ(f.pool.kept_bytes(), 0);
  const auto refused = f.pool.allocate(8 * kMiB);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::memory);
  EXPECT_EQ(refused.error().code, "over_budget");
  EXPECT_NE(refused.error().message.find("62914560 in use"), std::string::npos);
  f.pool.free(*large);
  EXPECT_TRUE(f.pool.allocate(8 * kMiB));
}

// Allocates `each` regions of every size and frees them all, as a training step does.
void step(Pool& pool, const std::vector<std::int64_t>& sizes, int each) {
  std::vector<Region> taken;
  for (int i = 0; i < each; ++i)
    for (const std::int64_t size : sizes) taken.push_back(pool.allocate(size).value());
  while (!taken.empty()) {
    pool.free(taken.back());
    taken.pop_back();
  }
}

TEST(Pool, AStepThatNeedsMuchMakesNothingAfterTheFirst) {
  Fixture f(1'000 * kMiB);
  step(f.pool, {20 * kMiB, 5 * kMiB, 30'000}, 20);
  const int made = f.source.made;
  for (int turn = 0; turn < 20; ++turn) step(f.pool, {20 * kMiB, 5 * kMiB, 30'000}, 20);
  EXPECT_EQ(f.source.made, made);
  f.pool.trim();
  EXPECT_EQ(f.source.held(), 0);
}

TEST(Pool, AnotherProgramTakesThePlaceOfTheFirst) {
  Fixture f(1'000 * kMiB);
  for (int turn = 0; turn < 3; ++turn) step(f.pool, {20 * kMiB}, 20);
  for (int turn = 0; turn < 3; ++turn) step(f.pool, {33 * kMiB}, 10);
  const int made = f.source.made;
  for (int turn = 0; turn < 10; ++turn) step(f.pool, {33 * kMiB}, 10);
  EXPECT_EQ(f.source.made, made);
  EXPECT_LE(f.pool.held_bytes(), 500 * kMiB);
}

TEST(Pool, WhatNoBufferHoldsIsNamed) {
  Fixture f(1'000 * kMiB);
  EXPECT_EQ(f.pool.allocate(129 * kMiB).error().code, "too_large");
  EXPECT_EQ(f.pool.held_bytes(), 0);
}

TEST(Pool, AFaultOfTheSourceChangesNothing) {
  Fixture f;
  f.source.refuses = true;
  EXPECT_EQ(f.pool.allocate(10).error().code, "device_lost");
  EXPECT_EQ(f.pool.allocate(10 * kMiB).error().code, "device_lost");
  EXPECT_EQ(f.pool.live_bytes(), 0);
  f.source.refuses = false;
  EXPECT_TRUE(f.pool.allocate(10));
}

TEST(Pool, RandomUseKeepsItsBooks) {
  Fixture f(48 * kMiB);
  std::mt19937_64 random(7);
  struct Taken {
    Region region;
    std::int64_t bytes;
  };
  std::vector<Taken> taken;
  std::int64_t live = 0;
  for (int step = 0; step < 50'000; ++step) {
    if (taken.empty() || random() % 100 < 55) {
      const int magnitude = static_cast<int>(random() % 22);
      const auto bytes = static_cast<std::int64_t>(random() % (1ULL << magnitude) + 1);
      if (auto region = f.pool.allocate(bytes)) {
        taken.push_back({*region, bytes});
        live += region->bytes;
        const std::int64_t size = f.source.sizes.at(region->buffer);
        ASSERT_LE(region->offset + region->bytes, size);
      }
    } else {
      const std::size_t which = random() % taken.size();
      f.pool.free(taken[which].region);
      live -= taken[which].region.bytes;
      taken[which] = taken.back();
      taken.pop_back();
    }
    if (step % 5'000 == 0) f.pool.trim();
    ASSERT_EQ(f.pool.live_bytes(), live);
    ASSERT_EQ(f.pool.held_bytes(), f.source.held());
    ASSERT_LE(f.pool.held_bytes(), 48 * kMiB);
  }
  // Checks that no two regions share a byte.
  std::map<std::pair<BufferId, std::int64_t>, std::int64_t> ends;
  for (const Taken& t : taken)
    ASSERT_TRUE(
        ends.emplace(std::pair{t.region.buffer, t.region.offset}, t.region.offset + t.region.bytes)
            .second);
  for (auto it = ends.begin(); it != ends.end() && std::next(it) != ends.end(); ++it) {
    if (std::next(it)->first.first != it->first.first) continue;
    ASSERT_LE(it->second, std::next(it)->first.second);
  }
  for (const Taken& t : taken) f.pool.free(t.region);
  f.pool.trim();
  EXPECT_EQ(f.source.held(), 0);
}

TEST(Pool, TexturesAreNotSharedAndHaveWholeRows) {
  constexpr std::int64_t kRow = 32 << 10;
  CountingSource source;
  Pool pool(source, {.budget_bytes = 256 * kMiB, .largest_buffer = 128 * kMiB, .row_bytes = kRow});
  const Region small = pool.allocate(4).value();
  const Region other = pool.allocate(4).value();
  EXPECT_NE(small.buffer, other.buffer);
  EXPECT_EQ(source.sizes.at(small.buffer), 256);
  const Region large = pool.allocate(kRow + 4).value();
  EXPECT_EQ(source.sizes.at(large.buffer), 2 * kRow);
  const Region exact = pool.allocate(40 * kMiB + 4).value();
  EXPECT_EQ(source.sizes.at(exact.buffer), 40 * kMiB + kRow);
  EXPECT_EQ(pool.held_bytes(), source.held());
  for (const Region& region : {small, other, large, exact}) {
    EXPECT_EQ(region.offset, 0);
    pool.free(region);
  }
  EXPECT_EQ(pool.allocate(4).value().buffer, other.buffer);  // kept for the next one
}

}  // namespace
}  // namespace arraycore
