// Tests of results with a value outside of the range that their study states (R73).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/model/scenario.h"

namespace hyperflock::dispatch {
namespace {

using protocol::Cause;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using How = SessionClosed::How;

const ModelStore::TrialState& stored_trial(const Scenario& s, std::int64_t number = 0) {
  return s.store().studies.at(StudyId{1}).trials.at(number);
}
const storage::AttemptRow& stored_attempt(const Scenario& s, std::int64_t id) {
  return s.store().attempts.at(AttemptId{id});
}

Scenario with_two_devices(std::int64_t trials = 1) {
  Scenario s;
  s.worker("a").worker("b").study({.trials = trials, .ranged = true});
  s.ready("a");
  return s;
}

TEST(ValueRange, R73_BothLimitsAreInside) {
  Scenario s = with_two_devices(2);
  EXPECT_THAT(s.complete("a", 1, 0), Contains("a < result_ack #1 accepted"));
  s.ready("a");
  EXPECT_THAT(s.complete("a", 2, 1), Contains("a < result_ack #2 accepted"));
}

TEST(ValueRange, R73_AValueOutsideIsNotAcceptedAndTheTrialRunsOnAnotherDevice) {
  Scenario s = with_two_devices();
  EXPECT_THAT(s.complete("a", 1, -1e308), Contains("a < result_ack #1 recorded"));
  EXPECT_EQ(stored_trial(s).state, storage::TrialState::running);
  const storage::AttemptRow& row = stored_attempt(s, 1);
  EXPECT_EQ(row.state, storage::AttemptState::failed);
  EXPECT_THAT(row.values, ElementsAre(-1e308));  // kept as evidence
  ASSERT_TRUE(row.failure);
  EXPECT_EQ(row.failure->code, "value_out_of_range");
  EXPECT_EQ(row.failure->message, "The value -1e+308 is below 0, the lowest of the study's range.");
  EXPECT_THAT(s.ready("a"), ElementsAre("a < wait no_matching_work"));
  EXPECT_THAT(s.ready("b"), Contains("b < lease #2 trial 0"));
  EXPECT_THAT(s.complete("b", 2, 0.25), Contains("b < result_ack #2 accepted"));
}

TEST(ValueRange, R73_ASecondDeviceWithSuchAValueFailsTheTrialWithBoth) {
  Scenario s = with_two_devices();
  s.complete("a", 1, 2);
  s.ready("b");
  s.complete("b", 2, 3);
  EXPECT_EQ(stored_trial(s).state, storage::TrialState::failed);
  ASSERT_TRUE(stored_trial(s).failure);
  EXPECT_EQ(stored_trial(s).failure->code, "value_out_of_range");
  EXPECT_THAT(stored_trial(s).failure->message,
              AllOf(HasSubstr("The value 2 is"), HasSubstr("The value 3 is")));
}

TEST(ValueRange, R73_TheFirstDeviceGetsTheTrialAgainWhenTheOthersHaveLeft) {
  Scenario s = with_two_devices();
  s.complete("a", 1, 2);
  EXPECT_THAT(s.ready("a"), ElementsAre("a < wait no_matching_work"));
  EXPECT_THAT(s.close("b", How::lost), Contains("a < lease #2 trial 0"));
}

TEST(ValueRange, R73_TheFirstDeviceGetsTheTrialAgainWhenTheOtherCannotRunIt) {
  Scenario s = with_two_devices();
  s.complete("a", 1, 2);
  s.ready("a");
  s.ready("b");
  EXPECT_THAT(s.release("b", 2, protocol::ReleaseReason::cannot_run),
              Contains("a < lease #3 trial 0"));
}

TEST(ValueRange, R73_ARejectedDeviceDoesNotGetTheTrialAgainWhenTheOthersHaveLeft) {
  Scenario s = with_two_devices();
  s.complete("a", 1, 2);
  s.ready("a");
  s.reject(1, "a");
  EXPECT_THAT(s.close("b", How::lost), Not(Contains(HasSubstr("lease"))));
}

TEST(ValueRange, R73_ASingleDeviceGetsTheTrialASecondTime) {
  Scenario s;
  s.worker("a").study({.trials = 1, .ranged = true});
  s.ready("a");
  s.complete("a", 1, 2);
  EXPECT_THAT(s.ready("a"), Contains("a < lease #2 trial 0"));
  s.complete("a", 2, 2);
  EXPECT_EQ(stored_trial(s).state, storage::TrialState::failed);
}

TEST(ValueRange, R73_ALateValueIsNotAcceptedEither) {
  Scenario s = with_two_devices();
  s.close("a", How::lost);
  s.after(Settings{}.lease_ms + 1);
  s.worker("a");
  EXPECT_THAT(s.complete("a", 1, 2), Contains("a < result_ack #1 recorded"));
  EXPECT_EQ(stored_trial(s).state, storage::TrialState::running);
}

TEST(ValueRange, R73_TheFirstValueCountsAfterARestart) {
  Scenario s = with_two_devices();
  s.complete("a", 1, 2);
  s.restart();
  s.worker("b");
  s.ready("b");
  s.complete("b", 2, 3);
  EXPECT_EQ(stored_trial(s).state, storage::TrialState::failed);
}

TEST(ValueRange, R73_ADeviceThatInventsValuesForAllTrialsIsBarred) {
  Scenario s = with_two_devices(3'000);
  std::int64_t lease = 1;
  int answers = 0;
  while (lease != 0 && answers < 3'000) {
    ++answers;
    const Said said = s.complete("a", lease, -1e308, true);
    lease = 0;
    for (const std::string& one : said) {
      const std::size_t at = one.find("lease #");
      if (at != std::string::npos) lease = std::stoll(one.substr(at + 7));
    }
  }
  EXPECT_EQ(answers, 3);
  EXPECT_EQ(s.accepted(), 0);
}

TEST(ValueRange, R73_ADeviceCannotReportTheFailureItself) {
  Scenario s = with_two_devices();
  protocol::TrialResult result;
  result.attempt = AttemptId{1};
  result.seq = 1;
  result.outcome = protocol::Outcome::failed;
  result.failure = protocol::Failure{Cause::user_error, "value_out_of_range", "mine", ""};
  s.tell("a", result);
  EXPECT_EQ(stored_trial(s).state, storage::TrialState::failed);
  EXPECT_EQ(stored_trial(s).failure->code, "user_error");
}

}  // namespace
}  // namespace hyperflock::dispatch
