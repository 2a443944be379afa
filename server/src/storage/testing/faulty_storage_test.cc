// Tests that FaultyStorage injects the faults of its script.
#include "storage/testing/faulty_storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/contract/suite.h"
#include "storage/testing/scratch_database.h"

namespace hyperflock::storage {
namespace {

using testing::ElementsAre;

class Faulty : public testing::Test {
 protected:
  Result<std::vector<Outcome>> apply(const std::vector<Transition>& batch) {
    return storage_.apply(batch);
  }
  bool has_study(std::int64_t id) { return storage_.study(StudyId{id}).value().has_value(); }

  std::vector<std::chrono::milliseconds> slept_;
  ScratchDatabase database_;
  FaultyStorage storage_{database_.open(),
                         [this](std::chrono::milliseconds time) { slept_.push_back(time); }};
};

TEST_F(Faulty, PassesWithoutAScript) {
  EXPECT_TRUE(apply({create_study(1)}).has_value());
  EXPECT_TRUE(has_study(1));
  EXPECT_EQ(storage_.batches(), 1);
}

TEST_F(Faulty, FailBeforeWritesNothing) {
  storage_.script({Pass{}, FailBefore{}});
  EXPECT_TRUE(apply({create_study(1, "a")}).has_value());
  const auto failed = apply({create_study(2, "b")});
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, "storage_unavailable");
  EXPECT_FALSE(has_study(2));
  EXPECT_TRUE(apply({create_study(2, "b")}).has_value());
  EXPECT_TRUE(has_study(2));
}

TEST_F(Faulty, FailAfterWritesAndLosesTheAnswer) {
  storage_.script({FailAfter{}});
  EXPECT_FALSE(apply({create_study(1)}).has_value());
  EXPECT_TRUE(has_study(1));
  EXPECT_EQ(apply({create_study(1)}).value()[0].applied, Applied::repeated);
}

TEST_F(Faulty, ConflictTakesThePlacesThatItNames) {
  storage_.script({Conflict{{0, 2}}});
  const auto outcomes =
      apply({create_study(1, "a"), create_study(2, "b"), create_study(3, "c")}).value();
  EXPECT_EQ(outcomes[0].applied, Applied::conflict);
  EXPECT_EQ(outcomes[1].applied, Applied::applied);
  EXPECT_EQ(outcomes[1].study, StudyId{2});
  EXPECT_EQ(outcomes[2].applied, Applied::conflict);
  EXPECT_FALSE(has_study(1));
  EXPECT_TRUE(has_study(2));
}

TEST_F(Faulty, DelaySleepsAndPasses) {
  storage_.script({Delay{std::chrono::milliseconds(25)}});
  EXPECT_TRUE(apply({create_study(1)}).has_value());
  EXPECT_THAT(slept_, ElementsAre(std::chrono::milliseconds(25)));
  EXPECT_TRUE(has_study(1));
}

TEST_F(Faulty, HoldWaitsForItsRelease) {
  storage_.script({Hold{}});
  std::thread writer([this] { EXPECT_TRUE(apply({create_study(1)}).has_value()); });
  EXPECT_TRUE(storage_.wait_until_held());
  EXPECT_FALSE(has_study(1));
  storage_.release();
  writer.join();
  EXPECT_TRUE(has_study(1));
}

TEST_F(Faulty, ReadsFailAsOftenAsTold) {
  storage_.fail_reads(2);
  EXPECT_FALSE(storage_.load().has_value());
  EXPECT_TRUE(storage_.outbox(1).has_value());  // a timer's
  EXPECT_FALSE(storage_.study(StudyId{1}).has_value());
  EXPECT_TRUE(storage_.studies({}).has_value());
}

}  // namespace
}  // namespace hyperflock::storage
