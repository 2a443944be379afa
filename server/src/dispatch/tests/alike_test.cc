// Tests which failures count as alike, and the study that pauses itself because of them (R56).
#include "dispatch/alike.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/model/scenario.h"

namespace hyperflock::dispatch {
namespace {

using protocol::Cause;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// ---- kinds

protocol::Failure raised(const std::string& traceback, const std::string& message = "E: text") {
  return {Cause::user_error, "objective_raised", message, traceback};
}

std::string frame(const std::string& file, int line, const std::string& function = "objective") {
  return "  File \"" + file + "\", line " + std::to_string(line) + ", in " + function +
         "\n    call(trial)\n         ^^^^^\n";
}

const std::string kHead = "Traceback (most recent call last):\n";

TEST(AlikeFailures, R56_ErrorsOfOneTypeAtOneLineAreAlikeWhateverTheySay) {
  const auto first = raised(kHead + frame("train.py", 7) + "ValueError: 0.1 is too small\n");
  const auto other =
      raised(kHead + frame("train.py", 7) + "ValueError: 0.2: too small\nsee x\n", "see x");
  EXPECT_EQ(kind_of(first), kind_of(other));
  EXPECT_EQ(kind_of(first), "user_error objective_raised ValueError \"train.py\", line 7");
}

TEST(AlikeFailures, R56_AnotherTypeOrAnotherLineOfTheResearchersCodeIsAnotherFailure) {
  const auto first = kind_of(raised(kHead + frame("train.py", 7) + "ValueError: x\n"));
  EXPECT_NE(first, kind_of(raised(kHead + frame("train.py", 8) + "ValueError: x\n")));
  EXPECT_NE(first, kind_of(raised(kHead + frame("model.py", 7) + "ValueError: x\n")));
  EXPECT_NE(first, kind_of(raised(kHead + frame("train.py", 7) + "KeyError: 'x'\n")));
  auto imports = raised(kHead + frame("train.py", 7) + "ValueError: x\n");
  imports.code = "import_failed";
  EXPECT_NE(first, kind_of(imports));
}

TEST(AlikeFailures, R56_FramesOfLibrariesDoNotCount) {
  const std::string library = "/lib/python3.14/site-packages/numpy/linalg/_linalg.py";
  const auto first = raised(kHead + frame("train.py", 3) + frame(library, 90) +
                            "numpy.linalg.LinAlgError: Singular matrix\n");
  const auto other = raised(kHead + frame("train.py", 3) + frame(library, 95) +
                            frame("<string>", 1) + "numpy.linalg.LinAlgError: not positive\n");
  EXPECT_EQ(kind_of(first), kind_of(other));
  EXPECT_THAT(kind_of(first), HasSubstr("LinAlgError \"train.py\", line 3"));
}

TEST(AlikeFailures, R56_OfAChainTheLastErrorCounts) {
  const std::string cause = kHead + frame("train.py", 3) + "KeyError: 'rate'\n" +
                            "\nThe above exception was the direct cause of the following "
                            "exception:\n\n";
  EXPECT_EQ(kind_of(raised(cause + kHead + frame("train.py", 5) + "ValueError: no rate\n")),
            "user_error objective_raised ValueError \"train.py\", line 5");
}

TEST(AlikeFailures, R56_WithoutATracebackTheMessageNamesTheType) {
  EXPECT_EQ(kind_of(raised("", "ValueError: 0.1")), kind_of(raised("", "ValueError: 0.2")));
  EXPECT_NE(kind_of(raised("", "ValueError: 0.1")), kind_of(raised("", "KeyError: 'x'")));
  EXPECT_EQ(kind_of(raised("", "")), "user_error objective_raised  ");
}

TEST(AlikeFailures, R56_ATextThatIsNoTracebackIsRead) {
  for (const std::string text : {"\n\n", "File \"", "  File \"", "  File \"a",
                                 "  File \"a\", line ", "  | ", "[...]\n  File \"a\", line 1"}) {
    EXPECT_THAT(kind_of(raised(text, "E")), HasSubstr("E")) << text;
  }
}

TEST(AlikeFailures, R56_OtherCausesAreAlikeByTheirCode) {
  const protocol::Failure nan{Cause::invalid, "metric_not_finite", "the value is nan", "a"};
  const protocol::Failure inf{Cause::invalid, "metric_not_finite", "the value is inf", "b"};
  const protocol::Failure none{Cause::invalid, "metric_not_number", "the value is None", "a"};
  EXPECT_EQ(kind_of(nan), kind_of(inf));
  EXPECT_NE(kind_of(nan), kind_of(none));
}

TEST(AlikeFailures, R56_FailuresOfSeveralKindsAreCountedApart) {
  AlikeFailures counts;
  const auto one = raised("", "A: 1");
  const auto two = raised("", "B: 1");
  EXPECT_EQ(counts.add(one).failures, 1);
  EXPECT_EQ(counts.add(two).failures, 1);
  EXPECT_EQ(counts.add(one).failures, 2);
  counts.clear();
  EXPECT_EQ(counts.add(one).failures, 1);
}

TEST(AlikeFailures, R56_TheKindSeenLeastRecentlyIsForgottenFirst) {
  AlikeFailures counts;
  const auto kept = raised("", "kept");
  for (std::size_t i = 0; i < 2 * AlikeFailures::kMostKinds; ++i) {
    EXPECT_EQ(counts.add(kept).failures, static_cast<std::int64_t>(i) + 1);
    counts.add(raised("", "kind " + std::to_string(i)));
  }
  EXPECT_EQ(counts.add(raised("", "kind 0")).failures, 1);
}

// ---- the study

const ModelStore::StudyState& stored(const Scenario& s) { return s.store().studies.at(StudyId{1}); }

// Lets `worker` take the next trial, in which its objective raises an error.
void fail_next(Scenario& s, const std::string& worker = "a", Cause cause = Cause::user_error) {
  s.ready(worker);
  s.failed(worker, to_int(s.last_lease().attempt), cause);
}

TEST(Stopping, R56_ThreeFailuresAlikePauseTheStudyInTheSameBatch) {
  Scenario s;
  s.worker("a").study({.trials = 300, .max_failures = 3});
  for (int i = 0; i < 2; ++i) {
    fail_next(s);
    EXPECT_FALSE(stored(s).paused);
  }
  s.ready("a");
  s.hold();
  s.failed("a", 3, Cause::user_error);
  s.commit();
  EXPECT_THAT(s.proposed(), Contains("fail trial 2 user_error and pause"));
  EXPECT_EQ(s.held_batches(), 1U);
  EXPECT_THAT(s.resume(), Contains("study 1 changed"));
  EXPECT_TRUE(stored(s).paused);
  EXPECT_EQ(stored(s).stopped_by, 2);
  EXPECT_THAT(s.ready("a"), Contains("a < wait no_work"));
  EXPECT_EQ(s.store().attempts.size(), 3U);
}

TEST(Stopping, R56_FourDevicesSpendAtMostTwelveAttempts) {
  Scenario s;
  s.study({.trials = 300, .max_failures = 3});
  const std::vector<std::string> workers{"a", "b", "c", "d"};
  for (const std::string& worker : workers) {
    s.worker(worker);
    s.ready(worker);
  }
  // All trials fail at the same moment, and their workers ask for more work with the results.
  s.hold();
  for (std::size_t i = 0; i < workers.size(); ++i)
    s.failed(workers[i], static_cast<std::int64_t>(i) + 1, Cause::user_error, true);
  s.resume();
  for (std::int64_t attempt = 5; attempt <= 8; ++attempt) {
    const auto& row = s.store().attempts.at(AttemptId{attempt});
    s.failed(row.device, attempt, Cause::user_error, true);
  }
  EXPECT_TRUE(stored(s).paused);
  EXPECT_LE(s.store().attempts.size(), 12U);
  EXPECT_EQ(s.dispatcher().counters().leased, 0);
}

TEST(Stopping, R56_ASuccessBeforeThemKeepsItRunning) {
  Scenario s;
  s.worker("a").study({.trials = 9, .max_failures = 3});
  s.ready("a");
  s.complete("a", 1);
  for (int i = 0; i < 5; ++i) fail_next(s);
  EXPECT_FALSE(stored(s).paused);
}

TEST(Stopping, R56_FailuresThatDifferDoNotPauseIt) {
  Scenario s;
  s.worker("a").study({.trials = 9, .max_failures = 3});
  for (const Cause cause :
       {Cause::user_error, Cause::invalid, Cause::timeout, Cause::user_error, Cause::invalid}) {
    fail_next(s, "a", cause);
    EXPECT_FALSE(stored(s).paused);
  }
  fail_next(s, "a", Cause::invalid);
  EXPECT_TRUE(stored(s).paused);
}

TEST(Stopping, R56_ZeroMeansNever) {
  Scenario s;
  s.worker("a").study({.trials = 9, .max_failures = 0});
  for (int i = 0; i < 8; ++i) fail_next(s);
  EXPECT_FALSE(stored(s).paused);
}

TEST(Stopping, R56_LostDevicesFailNoTrialAndPauseNothing) {
  Scenario s;
  s.study({.trials = 9, .max_failures = 1});
  for (const std::string worker : {"a", "b"}) {
    s.worker(worker);
    s.ready(worker);
    s.close(worker, SessionClosed::How::lost);
  }
  s.after(Settings{}.lease_ms + 1);
  EXPECT_FALSE(stored(s).paused);
  EXPECT_EQ(s.dispatcher().counters().queued, 2);
}

TEST(Stopping, R56_WhatRunsMayEndAndItsResultCounts) {
  Scenario s;
  s.worker("a").worker("b").study({.trials = 9, .max_failures = 1});
  s.ready("b");
  fail_next(s);
  ASSERT_TRUE(stored(s).paused);
  EXPECT_EQ(s.dispatcher().counters().leased, 1);
  EXPECT_THAT(s.complete("b", 1), Contains("b < result_ack #1 accepted"));
  EXPECT_TRUE(stored(s).paused);
}

TEST(Stopping, R56_ASuccessThatIsStoredFirstLetsItGoOn) {
  Scenario s;
  s.worker("a").worker("b").study({.trials = 9, .max_failures = 1});
  s.ready("a");
  s.ready("b");
  s.hold();
  s.failed("a", 1, Cause::user_error);
  s.complete("b", 2);
  s.commit(1);  // the result of a; FailTrial of its trial is now proposed after the result of b
  EXPECT_EQ(s.held_batches(), 2U);
  s.resume();
  EXPECT_FALSE(stored(s).paused);
  EXPECT_THAT(s.ready("a"), Contains("a < lease #3 trial 2"));
}

TEST(Stopping, R56_AResumedStudyCountsAnew) {
  Scenario s;
  s.worker("a").study({.trials = 9, .max_failures = 2});
  fail_next(s);
  fail_next(s);
  ASSERT_TRUE(stored(s).paused);
  s.pause(1, false);
  EXPECT_FALSE(stored(s).stopped_by.has_value());
  fail_next(s);
  EXPECT_FALSE(stored(s).paused);
  fail_next(s);
  EXPECT_TRUE(stored(s).paused);
  EXPECT_EQ(stored(s).stopped_by, 3);
}

TEST(Stopping, R56_TheCountAndThePauseOutliveARestart) {
  Scenario s;
  s.worker("a").study({.trials = 9, .max_failures = 2});
  fail_next(s);
  s.restart();
  s.worker("a");
  fail_next(s);
  ASSERT_TRUE(stored(s).paused);
  s.restart();
  s.worker("a");
  EXPECT_THAT(s.ready("a"), Contains("a < wait no_work"));
  s.pause(1, false);
  s.restart();
  s.worker("a");
  fail_next(s);
  EXPECT_FALSE(stored(s).paused);  // failures from before the resume still do not count
}

TEST(Stopping, R56_AFailureThatWasNotWrittenIsJudgedAgain) {
  Scenario s;
  s.worker("a").study({.trials = 9, .max_failures = 1});
  s.ready("a");
  s.hold();
  s.failed("a", 1, Cause::user_error);
  s.commit(1);  // the result; FailTrial, with which the study pauses, is now proposed
  s.fail_batch();
  s.restored();
  s.resume();
  EXPECT_TRUE(stored(s).paused);
  EXPECT_EQ(stored(s).stopped_by, 0);
}

TEST(Stopping, R56_TrialsThatAreIssuedAgainCountNoMore) {
  Scenario s;
  s.worker("a").study({.trials = 9, .max_failures = 2});
  fail_next(s);
  s.reissue(1);
  fail_next(s);
  EXPECT_FALSE(stored(s).paused);
  fail_next(s);
  EXPECT_TRUE(stored(s).paused);
}

TEST(Stopping, R56_AStudyWhoseLastTrialFailsIsOverAndNotPaused) {
  Scenario s;
  s.worker("a").study({.trials = 2, .max_failures = 2});
  fail_next(s);
  fail_next(s);
  EXPECT_EQ(stored(s).state, storage::StudyState::finished);
  EXPECT_FALSE(stored(s).paused);
}

}  // namespace
}  // namespace hyperflock::dispatch
