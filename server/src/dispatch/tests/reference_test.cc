// Compares the dispatcher with the reference model: random walks over a real SQLite store, and
// every order of a few events. `./run model` does the same at full length.
#include <gtest/gtest.h>

#include "base/testing/sample.h"
#include "base/testing/scratch_folder.h"
#include "dispatch/model/walk.h"
#include "storage/sqlite/open.h"

namespace hyperflock::dispatch {
namespace {

#ifdef __SANITIZE_THREAD__
const int kWalks = 10;  // there is one thread, so TSan finds nothing and only costs time
constexpr int kDepth = 3;
#else
const int kWalks = cases(100, 40);
constexpr int kDepth = 4;
#endif
constexpr int kEvents = 80;

class Model : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Blocks, Model, ::testing::Range<std::uint64_t>(0, 10));

TEST_P(Model, RandomEventsOverSqliteAgreeWithTheReference) {
  ScratchFolder folder(ScratchFolder::Where::memory);
  auto storage = storage::open_sqlite_storage(folder.file("walk.db"), [] { return 1; });
  ASSERT_TRUE(storage.has_value()) << storage.error().message;
  for (int i = 0; i < kWalks; ++i) {
    const auto seed =
        GetParam() * static_cast<std::uint64_t>(kWalks) + static_cast<std::uint64_t>(i);
    const Walked walked = random_walk(seed, kEvents, storage->get());
    ASSERT_EQ(walked.disagreement.value_or(""), "");
  }
}

// Otherwise nothing would be compared of what follows (R75). Of these seeds, walks begin with a
// single device.
TEST(Model, WalksGetToDevicesThatInventAValue) {
  std::int64_t convictions = 0;
  for (std::uint64_t seed = 5; seed < 400; seed += 8)
    convictions += random_walk(seed, kEvents, nullptr).convictions;
  EXPECT_GT(convictions, 0);
}

TEST(Explore, EveryOrderOfAFewEventsAgreesWithTheReference) {
  const Explored found = explore(kDepth);
  EXPECT_EQ(found.disagreement.value_or(""), "");
  EXPECT_GT(found.sequences, kDepth == 3 ? 500 : 5'000);
}

// Uses sequences that are one event shorter than in the test above. Pauses add two kinds of events,
// and the number of sequences must stay small.
TEST(Explore, SoDoesEveryOrderWithPauses) {
  const Explored found = explore(kDepth - 1, Pauses::some);
  EXPECT_EQ(found.disagreement.value_or(""), "");
  EXPECT_GT(found.sequences, kDepth == 3 ? 100 : 1'000);
}

TEST(Model, SeesADispatcherThatSaysOrStoresSomethingElse) {
  const auto pair = [] {
    Pair out{Settings{}};
    for (const Action& action :
         {Action{.kind = Action::Kind::submit, .study = {.trials = 2, .submit_key = "k"}},
          Action{.kind = Action::Kind::open, .worker = "a"}}) {
      EXPECT_EQ(out.act(action), std::nullopt);
    }
    return out;
  };
  Pair another_lease = pair();
  another_lease.real().inject<storage::StartAttempt>(storage::Applied::conflict);
  EXPECT_TRUE(another_lease.act({.kind = Action::Kind::ready, .worker = "a"}).has_value());

  Pair lost_result = pair();
  EXPECT_EQ(lost_result.act({.kind = Action::Kind::ready, .worker = "a"}), std::nullopt);
  lost_result.real().inject<storage::EndAttempt>(storage::Applied::repeated);
  EXPECT_TRUE(lost_result.act({.kind = Action::Kind::close_clean, .worker = "a"}).has_value());
}

}  // namespace
}  // namespace hyperflock::dispatch
