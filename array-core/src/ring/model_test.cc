// Explores every interleaving of issuer, executor and surroundings within small bounds, using the
// real transition functions, and proves that the checker finds mistakes in the protocol.
#include "ring/model.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace arraycore::ring {
namespace {

std::string story(const ModelReport& report) {
  std::string text = report.violation;
  for (const std::string& step : report.trace) text += "\n  " + step;
  return text;
}

void expect_sound(const ModelOptions& options) {
  const ModelReport report = explore(options);
  EXPECT_EQ(report.violation, "") << story(report);
  EXPECT_TRUE(report.complete) << report.states << " states and more";
  EXPECT_GT(report.endings, 0U);
  ::testing::Test::RecordProperty("states", static_cast<int>(report.states));
}

const std::vector<Do> work_script{Do::work, Do::flush, Do::work,  Do::work, Do::fence,
                                  Do::wait, Do::work,  Do::fence, Do::wait};
const std::vector<Do> error_script{Do::work,  Do::bad,  Do::fence, Do::wait,  Do::bad_late, Do::bad,
                                   Do::fence, Do::wait, Do::work,  Do::fence, Do::wait};
const std::vector<Do> reset_script{Do::work, Do::bad,   Do::fence, Do::reset,
                                   Do::work, Do::fence, Do::wait};
const std::vector<Do> short_script{Do::work, Do::fence, Do::wait, Do::work, Do::fence, Do::wait};

const std::vector<Do> fence_script{Do::work, Do::fence, Do::wait};
const std::vector<Do> two_fences_script{Do::work, Do::fence, Do::wait, Do::fence, Do::wait};

TEST(Model, ARingOfOneTwoAndFourNeverStalls) {
  for (const std::uint32_t capacity : {1U, 2U, 4U})
    for (const bool by_message : {false, true})
      expect_sound({.script = work_script, .capacity = capacity, .by_message = by_message});
}

TEST(Model, AnErrorIsReportedOnceAndBeforeTheFenceThatFollowsIt) {
  for (const std::uint32_t capacity : {1U, 2U, 4U})
    expect_sound({.script = error_script, .capacity = capacity});
}

TEST(Model, AResetDropsWhatCameBeforeAndTheRingWorksAfterwards) {
  for (const std::uint32_t capacity : {1U, 2U, 4U})
    for (const bool by_message : {false, true})
      expect_sound({.script = reset_script, .capacity = capacity, .by_message = by_message});
}

TEST(Model, InterruptsAtAnyMoment) {
  expect_sound({.script = short_script, .capacity = 1, .interrupts = 2});
  expect_sound({.script = reset_script, .capacity = 2, .interrupts = 1});
}

TEST(Model, ARevokeAtAnyMoment) {
  expect_sound({.script = error_script, .capacity = 2, .revoke = true});
  expect_sound({.script = reset_script, .capacity = 1, .interrupts = 1, .revoke = true});
}

TEST(Model, DeviceLossAtAnyMomentIsFollowedByAReset) {
  for (const bool by_message : {false, true})
    expect_sound({.script = short_script, .capacity = 2, .by_message = by_message, .loss = true});
  expect_sound({.script = reset_script, .capacity = 1, .loss = true, .reopen_fails = true});
}

TEST(Model, CloseEndsBothSides) {
  expect_sound({.script = {Do::work, Do::bad, Do::close}, .capacity = 2, .loss = true});
}

TEST(Model, AnExecutorThatEndsSilentlyIsNoticedByTime) {
  expect_sound({.script = fence_script, .capacity = 1, .kill = true, .timeouts = true});
}

TEST(Model, AnExecutorWhoseEndIsToldIsNoticedWithoutTime) {
  // Without time-outs, a wait can end only because the executor's owner reports that the executor
  // has ended. The owner then starts another one, which answers.
  for (const bool by_message : {false, true})
    expect_sound({.script = two_fences_script,
                  .capacity = 1,
                  .by_message = by_message,
                  .kill = true,
                  .kill_is_told = true});
}

TEST(Model, TimeOutsAtAnyMomentDoNoHarm) {
  expect_sound({.script = fence_script, .capacity = 1, .timeouts = true});
  expect_sound({.script = {Do::fence, Do::wait}, .capacity = 1, .loss = true, .timeouts = true});
}

// Returns whether one of these scripts shows the mistake.
bool is_found(Mutation mutation) {
  for (const auto& script : {work_script, error_script, reset_script})
    for (const std::uint32_t capacity : {1U, 2U}) {
      const ModelReport report =
          explore({.script = script, .capacity = capacity, .mutation = mutation});
      if (!report.violation.empty()) return true;
    }
  return false;
}

TEST(Checker, FindsASleepWithoutARecheck) { EXPECT_TRUE(is_found(Mutation::no_recheck)); }
TEST(Checker, FindsASignalReadTooLate) { EXPECT_TRUE(is_found(Mutation::signal_after_looking)); }
TEST(Checker, FindsAWakeBeforeThePublish) { EXPECT_TRUE(is_found(Mutation::wake_before_publish)); }
TEST(Checker, FindsARequestBeforeTheWords) {
  EXPECT_TRUE(is_found(Mutation::request_before_written));
}
TEST(Checker, FindsAFenceAheadOfItsErrors) { EXPECT_TRUE(is_found(Mutation::fence_before_error)); }
TEST(Checker, FindsAnOverwrittenError) { EXPECT_TRUE(is_found(Mutation::error_overwrites)); }
TEST(Checker, FindsAnErrorReportedTwice) { EXPECT_TRUE(is_found(Mutation::error_not_cleared)); }
TEST(Checker, FindsACommandFreedTooEarly) { EXPECT_TRUE(is_found(Mutation::consume_early)); }
TEST(Checker, FindsAnErrorThatOutlivesAReset) {
  EXPECT_TRUE(is_found(Mutation::error_outlives_reset));
}
TEST(Checker, FindsRoomThatNobodyIsToldOf) { EXPECT_TRUE(is_found(Mutation::consume_unsaid)); }
TEST(Checker, FindsNothingInTheProtocolItself) { EXPECT_FALSE(is_found(Mutation::none)); }

}  // namespace
}  // namespace arraycore::ring
