// Tests how researchers and projects share devices (R70).
#include <gtest/gtest.h>

#include <algorithm>
#include <queue>

#include "dispatch/model/scenario.h"

namespace hyperflock::dispatch {
namespace {

using storage::CeilingScope;

const Millis kAging = Settings{}.aging_ms;
constexpr Millis kTrial = 20'000;

// Devices that compute trials of studies 1, 2, 3 and so on, and their end. A trial of a study takes
// as long as its entry in `trial_ms`.
class Pool {
 public:
  Pool(Scenario& s, int devices, std::vector<Millis> trial_ms)
      : s_(s), trial_ms_(std::move(trial_ms)), time_(trial_ms_.size()), leases_(trial_ms_.size()) {
    for (int i = 0; i < devices; ++i) {
      const std::string name = "device " + std::to_string(i);
      s_.open(name);
      s_.ready(name);
      take_lease(name);
    }
  }

  // Runs until this many leases were given.
  void run(std::int64_t leases) {
    while (given_ < leases && !ends_.empty()) {
      const End next = ends_.top();
      ends_.pop();
      s_.after(next.at - s_.now());
      s_.complete(next.device, next.attempt, static_cast<double>(next.attempt), true);
      take_lease(next.device);
    }
  }

  // Forgets what was counted.
  void count_anew() {
    std::ranges::fill(time_, 0);
    std::ranges::fill(leases_, 0);
  }
  // Returns the study's part of the time of all devices.
  double share(std::size_t study) const {
    Millis all = 0;
    for (const Millis one : time_) all += one;
    return static_cast<double>(time_[study - 1]) / static_cast<double>(all);
  }
  std::int64_t leases(std::size_t study) const { return leases_[study - 1]; }

 private:
  struct End {
    Instant at;
    std::string device;
    std::int64_t attempt = 0;
    bool operator<(const End& other) const {
      return std::pair(other.at, other.attempt) < std::pair(at, attempt);
    }
  };

  void take_lease(const std::string& device) {
    const protocol::Lease lease = s_.last_lease();
    if (to_int(lease.attempt) == last_) return;  // the device waits
    last_ = to_int(lease.attempt);
    ++given_;
    const auto study = static_cast<std::size_t>(to_int(lease.study) - 1);
    time_[study] += trial_ms_[study];
    ++leases_[study];
    ends_.push({s_.now() + trial_ms_[study], device, last_});
  }

  Scenario& s_;
  std::vector<Millis> trial_ms_;
  std::vector<Millis> time_;
  std::vector<std::int64_t> leases_;
  std::priority_queue<End> ends_;
  std::int64_t last_ = 0;
  std::int64_t given_ = 0;
};

// Returns the study of the lease that the device gets next.
std::int64_t next_study(Scenario& s, const std::string& device) {
  const AttemptId before = s.last_lease().attempt;
  s.ready(device);
  return s.last_lease().attempt == before ? 0 : to_int(s.last_lease().study);
}

void weigh(Scenario& s, const std::string& owner, std::int64_t weight) {
  s.share(CeilingScope::researcher, owner, {.weight = weight});
}

void guarantee(Scenario& s, const std::string& owner, std::int64_t devices) {
  s.share(CeilingScope::researcher, owner, {.guaranteed = devices});
}

class Weights : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Devices, Weights, ::testing::Values(1, 2, 5, 40));

TEST_P(Weights, R70_ResearchersGetTheTimeOfDevicesByTheirWeights) {
  Scenario s;
  weigh(s, "ada", 100);
  weigh(s, "bob", 200);
  weigh(s, "eve", 400);
  for (const std::string owner : {"ada", "bob", "eve"})
    s.submit({.trials = 20'000, .owner = owner});
  // The trials of one study take longer than those of the others, so shares of leases differ.
  Pool pool(s, GetParam(), {40'000, 10'000, 20'000});
  pool.run(10'000);
  EXPECT_NEAR(pool.share(1), 1.0 / 7, 0.05 / 7);
  EXPECT_NEAR(pool.share(2), 2.0 / 7, 0.10 / 7);
  EXPECT_NEAR(pool.share(3), 4.0 / 7, 0.20 / 7);
}

TEST(Shares, R70_ResearchersWithoutAWeightGetTheSame) {
  Scenario s;
  s.submit({.trials = 20'000, .owner = "ada"});
  for (int i = 0; i < 3; ++i) s.submit({.trials = 20'000, .owner = "eve"});
  Pool pool(s, 5, {kTrial, kTrial, kTrial, kTrial});
  pool.run(2'000);
  EXPECT_NEAR(pool.share(1), 0.5, 0.02);  // three studies get no more than one
}

TEST(Shares, R70_AChangedWeightCountsFromNowOn) {
  Scenario s;
  s.submit({.trials = 20'000, .owner = "ada"});
  s.submit({.trials = 20'000, .owner = "eve"});
  Pool pool(s, 5, {kTrial, kTrial});
  pool.run(1'000);
  weigh(s, "eve", 300);
  pool.count_anew();
  pool.run(3'000);
  EXPECT_NEAR(pool.share(2), 0.75, 0.02);
}

TEST(Shares, R31_ASmallStudyOfAnotherResearcherStartsWithTheNextLeases) {
  Scenario s;
  s.submit({.trials = 20'000, .owner = "ada"});
  Pool pool(s, 10, {kTrial, kTrial});
  pool.run(5'000);
  s.submit({.trials = 10, .owner = "eve"});
  pool.count_anew();
  pool.run(5'010);
  EXPECT_GE(pool.leases(2), 5);
  pool.run(5'030);
  EXPECT_EQ(pool.leases(2), 10);
}

TEST(Shares, R70_WhoHadNothingToLeaseGetsNoCreditForThatTime) {
  Scenario s;
  s.submit({.trials = 1, .owner = "eve"});
  s.submit({.trials = 20'000, .owner = "ada"});
  Pool pool(s, 4, {kTrial, kTrial, kTrial});
  pool.run(2'000);
  s.submit({.trials = 20'000, .owner = "eve"});
  pool.count_anew();
  pool.run(2'100);
  EXPECT_NEAR(pool.share(3), 0.5, 0.1);
}

// ada's long trials hold all devices while nobody else has work. Without a bound, eve would then be
// served alone for as long.
TEST(Shares, R70_WhoHeldAllDevicesIsNotMadeToWaitForAsLong) {
  Scenario s;
  s.submit({.trials = 20'000, .owner = "ada"});
  std::vector<std::int64_t> attempts;
  for (const std::string device : {"a", "b", "c", "e"}) {
    s.open(device);
    s.ready(device);
    attempts.push_back(to_int(s.last_lease().attempt));
  }
  for (int i = 0; i < 10 * 120; ++i) {  // ten hours
    s.after(30'000);
    std::size_t next = 0;
    for (const std::string device : {"a", "b", "c", "e"}) s.beat(device, attempts[next++], i + 1);
  }
  s.submit({.trials = 20'000, .owner = "eve"});
  std::size_t next = 0;
  for (const std::string device : {"a", "b", "c", "e"}) s.complete(device, attempts[next++]);
  // Four devices are ahead by ten minutes each, which are 120 trials of eve. Then ada gets half.
  int of_ada = 0;
  for (int i = 0; i < 300; ++i) {
    of_ada += next_study(s, "a") == 1;
    s.after(kTrial);
    const std::int64_t attempt = to_int(s.last_lease().attempt);
    s.complete("a", attempt, static_cast<double>(attempt));
  }
  EXPECT_GE(of_ada, 60);
  EXPECT_LE(of_ada, 100);
}

// ---- guarantees

TEST(Shares, R70_AGuaranteeComesBeforeWeights) {
  Scenario s;
  weigh(s, "ada", 1'000);
  weigh(s, "eve", 1);
  guarantee(s, "eve", 2);
  s.submit({.trials = 100, .owner = "ada"});
  s.submit({.trials = 100, .owner = "eve"});
  for (const std::string device : {"a", "b", "c", "d", "e"}) s.open(device);
  EXPECT_EQ(next_study(s, "a"), 2);
  EXPECT_EQ(next_study(s, "b"), 2);
  EXPECT_EQ(next_study(s, "c"), 1);
  EXPECT_EQ(next_study(s, "d"), 1);
  s.complete("b", 2);
  EXPECT_EQ(next_study(s, "e"), 2);
}

TEST(Shares, R70_GuaranteesStarveNobody) {
  Scenario s;
  guarantee(s, "eve", 100);
  s.submit({.trials = 20'000, .owner = "ada"});
  s.submit({.trials = 20'000, .owner = "eve"});
  Pool pool(s, 3, {kTrial, kTrial});
  pool.run(3'000);
  // ada gets a lease every ten minutes.
  EXPECT_GE(pool.leases(1), 3'000 / 3 * kTrial / kAging - 1);
  EXPECT_LE(pool.leases(1), 100);
}

// ---- aging

TEST(Shares, R70_AStudyOfLowPriorityIsServedAfterTenMinutes) {
  Scenario s;
  s.submit({.trials = 20'000, .priority = 5});
  s.submit({.trials = 20'000, .priority = 0});
  Pool pool(s, 1, {kTrial, kTrial});
  pool.run(300);  // 6,000 s
  EXPECT_GE(pool.leases(2), 9);
  EXPECT_LE(pool.leases(2), 10);
}

TEST(Shares, R70_OfTwoLeasesAtMostOneIsOutOfTurn) {
  Scenario s;
  s.submit({.trials = 1'000, .priority = 5});
  std::vector<Millis> trial_ms{kTrial};
  for (int i = 0; i < 100; ++i) {
    s.submit({.trials = 1'000, .priority = 0});
    trial_ms.push_back(kTrial);
  }
  Pool pool(s, 1, trial_ms);
  pool.run(30);
  pool.count_anew();
  pool.run(230);  // all others have waited for too long
  EXPECT_EQ(pool.leases(1), 100);
}

// ---- files that a device has

TEST(Shares, R70_ADeviceStaysWithTheStudyWhoseFilesItHas) {
  Scenario s;
  for (const std::string owner : {"ada", "bob", "eve"})
    s.submit({.trials = 20'000, .owner = owner});
  for (const std::string device : {"a", "b", "c"}) {
    s.open(device);
    s.ready(device);
  }
  // In turns of one trial each, every device would get another study each time.
  for (std::int64_t attempt = 1; attempt <= 60; ++attempt) {
    const std::string device = attempt % 3 == 1 ? "a" : attempt % 3 == 2 ? "b" : "c";
    s.after(5'000);
    s.complete(device, attempt, static_cast<double>(attempt), true);
    EXPECT_EQ(to_int(s.last_lease().study), (attempt - 1) % 3 + 1) << attempt;
  }
}

TEST(Shares, R70_FilesKeepNoDeviceFromWhoeverIsBehind) {
  Scenario s;
  weigh(s, "ada", 100);
  weigh(s, "eve", 300);
  s.submit({.trials = 20'000, .owner = "ada"});
  s.submit({.trials = 20'000, .owner = "eve"});
  Pool pool(s, 1, {kTrial, kTrial});
  pool.run(4'000);
  EXPECT_NEAR(pool.share(1), 0.25, 0.0125);
}

// ---- lent devices

class Lending : public ::testing::Test {
 protected:
  Lending() { s_.share(CeilingScope::project, "p", {.lends = {"q"}}); }
  Scenario s_;
};

TEST_F(Lending, R70_AnIdleDeviceComputesForAProjectToWhichItsOwnLends) {
  s_.submit({.trials = 5, .project = "q"});
  s_.submit({.trials = 5, .project = "r"});
  s_.worker("a");
  EXPECT_EQ(next_study(s_, "a"), 1);
  s_.open("b", {}, "q");  // q does not lend to p
  s_.submit({.trials = 5, .project = "p"});
  EXPECT_EQ(next_study(s_, "b"), 1);
}

TEST_F(Lending, R70_ALentDeviceReturnsAfterOneTrial) {
  s_.submit({.trials = 5, .project = "q"});
  s_.worker("a");
  EXPECT_EQ(next_study(s_, "a"), 1);
  EXPECT_EQ(s_.submit({.trials = 5}), (Said{"answer study 2", "study 2 changed"}));  // no revoke
  s_.complete("a", 1, 0.5, true);
  EXPECT_EQ(to_int(s_.last_lease().study), 2);
}

TEST_F(Lending, R70_AWaitingDeviceIsLentWhenWorkComes) {
  s_.worker("a");
  EXPECT_EQ(next_study(s_, "a"), 0);
  s_.submit({.trials = 1, .project = "q"});
  EXPECT_EQ(to_int(s_.last_lease().study), 1);
}

TEST_F(Lending, R70_AProjectsOwnDevicesComeFirst) {
  s_.worker("a");
  s_.open("b", {}, "q");
  s_.ready("a");
  s_.ready("b");
  const Said said = s_.submit({.trials = 1, .project = "q"});
  EXPECT_TRUE(std::ranges::count(said, "b < lease #1 trial 0") == 1) << said.size();
}

TEST_F(Lending, R70_TheOperatorEndsTheLending) {
  s_.submit({.trials = 5, .project = "q"});
  s_.share(CeilingScope::project, "p", {});
  s_.worker("a");
  EXPECT_EQ(next_study(s_, "a"), 0);
  s_.share(CeilingScope::project, "p", {.lends = {"*"}});
  EXPECT_EQ(to_int(s_.last_lease().study), 1);
}

TEST_F(Lending, R70_ProjectsShareLentDevicesByWeights) {
  s_.share(CeilingScope::project, "p", {.lends = {"*"}});
  s_.share(CeilingScope::project, "q", {.weight = 300});
  s_.submit({.trials = 20'000, .project = "q"});
  s_.submit({.trials = 20'000, .project = "r", .owner = "eve"});
  Pool pool(s_, 5, {kTrial, kTrial});
  pool.run(2'000);
  EXPECT_NEAR(pool.share(1), 0.75, 0.02);
}

TEST_F(Lending, R70_AProjectsGuaranteeTakesAtMostEverySecondLentDevice) {
  s_.share(CeilingScope::project, "p", {.lends = {"*"}});
  s_.share(CeilingScope::project, "q", {.weight = 1, .guaranteed = 100});
  s_.share(CeilingScope::project, "r", {.weight = 1'000});
  s_.submit({.trials = 20'000, .project = "q"});
  s_.submit({.trials = 20'000, .project = "r", .owner = "eve"});
  Pool pool(s_, 4, {kTrial, kTrial});
  pool.run(400);
  EXPECT_NEAR(pool.share(1), 0.5, 0.02);
}

}  // namespace
}  // namespace hyperflock::dispatch
