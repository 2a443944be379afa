// Sends random sequences of all events, and checks the invariants after each event. Some sequences
// also use the real storage and compare it with the model of storage.
#include <gtest/gtest.h>

#include "base/testing/sample.h"
#include "dispatch/model/scenario.h"
#include "storage/testing/scratch_database.h"

namespace hyperflock::dispatch {
namespace {

using protocol::Cause;
using How = SessionClosed::How;

#ifdef __SANITIZE_THREAD__
const int kSequences = 300;  // there is one thread, so TSan finds nothing and only costs time
#else
const int kSequences = cases(3000, 1000);
#endif
constexpr int kWalkEvents = 120;
// One sequence in this many uses the real storage, which takes ten times as long as the model.
constexpr std::uint64_t kWithStorage = 7;

class Chaos {
 public:
  explicit Chaos(std::uint64_t seed)
      : seed_(seed), max_leases_(1 + static_cast<int>(seed % 2)), s_({.max_leases = max_leases_}) {
    if (seed % kWithStorage != 0) return;
    database_.emplace();
    storage_ = database_->open();
    s_.shadow(storage_.get());
  }

  void run() {
    for (int i = 0; i < kWalkEvents; ++i) {
      step();
      check();
      if (::testing::Test::HasFatalFailure()) return;
    }
    settle();
  }

 private:
  std::uint64_t draw(std::uint64_t below) { return splitmix64(seed_) % below; }
  bool chance(std::uint64_t one_in) { return draw(one_in) == 0; }

  std::string any_worker() { return std::string(1, static_cast<char>('a' + draw(5))); }

  // Returns the id of an attempt that was leased to the worker, or sometimes any other id.
  std::int64_t any_attempt(const std::string& worker) {
    const std::vector<std::int64_t>& own = leased_[worker];
    if (!own.empty() && !chance(10))
      return own[own.size() - 1 - draw(std::min<std::size_t>(own.size(), 3))];
    return static_cast<std::int64_t>(1 + draw(40));
  }

  std::vector<AttemptId> some_attempts(const std::string& worker) {
    std::vector<AttemptId> out;
    for (const std::int64_t id : leased_[worker]) {
      if (out.size() < 16 && !chance(3)) out.push_back(AttemptId{id});
    }
    return out;
  }

  void step() {
    const std::string worker = any_worker();
    if (s_.dispatcher().counters().read_only && chance(3)) return hear(s_.restored());
    if (!s_.session_of(worker))
      return hear(s_.open(worker, some_attempts(worker), worker == "e" ? "q" : "p"));
    switch (draw(24)) {
      case 0:
        return hear(s_.close(worker, chance(2) ? How::clean : How::lost));
      case 1:
        return hear(s_.open(worker, some_attempts(worker), worker == "e" ? "q" : "p"));
      case 2:
        if (s_.store().studies.size() > 5) return;
        return hear(s_.submit({.trials = static_cast<std::int64_t>(1 + draw(6)),
                               .project = chance(4) ? "q" : "p",
                               .submit_key = chance(8) ? "same" : "",
                               .time_limit_ms = chance(2) ? 200'000 : 0,
                               .stall_ms = chance(2) ? 90'000 : 0}));
      case 3:
        if (chance(6)) return hear(s_.cancel(static_cast<std::int64_t>(1 + draw(5))));
        if (chance(5)) return hear(s_.pause(static_cast<std::int64_t>(1 + draw(5)), chance(2)));
        if (chance(5)) return hear(s_.remove(static_cast<std::int64_t>(1 + draw(5))));
        return hear(s_.reissue(static_cast<std::int64_t>(1 + draw(5))));
      case 4:
        return hear(s_.after(static_cast<Millis>(draw(60'000))));
      case 5:
        return s_.hold();
      case 6:
        return hear(s_.resume());
      case 7:
      case 8:
        return hear(s_.commit(1 + draw(3)));
      case 9:
        if (!chance(12)) return;
        lost_rows_ = lost_rows_ || s_.held_batches() > 0;
        return hear(s_.fail_batch());
      case 10:
        if (!chance(12)) return;
        lost_rows_ = lost_rows_ || s_.held_batches() > 0;
        return hear(s_.restart());
      case 11:
        if (chance(6)) hear(s_.revoke_device("d"));  // it never has a session again
        return;
      case 12:
        return inject();
      case 13:
        return hear(s_.release(
            worker, any_attempt(worker),
            chance(4) ? protocol::ReleaseReason::cannot_run : protocol::ReleaseReason::stopped));
      case 14:
        return hear(
            s_.report(worker, any_attempt(worker), 1, {{static_cast<std::int64_t>(draw(9)), 0.5}}));
      case 15:
        return hear(s_.beat(worker, any_attempt(worker), static_cast<std::int64_t>(draw(50)),
                            static_cast<protocol::PulseState>(draw(3))));
      case 16:
        return hear(s_.failed(worker, any_attempt(worker), static_cast<Cause>(draw(7)), chance(2)));
      case 17:
        return hear(s_.should_prune(worker, any_attempt(worker),
                                    {{static_cast<std::int64_t>(draw(9)), 0.5}}));
      case 18:
      case 19:
      case 20:
        return hear(s_.complete(worker, any_attempt(worker), 0.5, chance(2)));
      default:
        return hear(s_.ready(worker));
    }
  }

  void inject() {
    switch (draw(5)) {
      case 0:
        lost_rows_ = true;
        return s_.inject<storage::StoreResult>(storage::Applied::conflict);
      case 1:
        return s_.inject<storage::FailTrial>(storage::Applied::conflict);
      case 2:
        return s_.inject<storage::EndStudy>(storage::Applied::conflict);
      default:
        return s_.inject<storage::StartAttempt>(storage::Applied::conflict);
    }
  }

  // Notes the leases that the dispatcher sent.
  void hear(const Said& said) {
    for (const std::string& line : said) {
      const std::size_t at = line.find("lease #");
      if (at != std::string::npos)
        leased_[line.substr(0, line.find(' '))].push_back(std::stoll(line.substr(at + 7)));
    }
  }

  void check() {
    ASSERT_EQ(s_.troubles(), Said{});
    for (const auto& [id, study] : s_.store().studies) {
      std::int64_t finished = 0;
      for (const auto& [number, trial] : study.trials) {
        ASSERT_LT(number, study.created.total);
        ASSERT_LE(trial.acceptances, 1) << "trial " << number << " was accepted twice";
        finished += trial.state != storage::TrialState::running &&
                    trial.state != storage::TrialState::cancelled;
      }
      if (study.state == storage::StudyState::finished) {
        ASSERT_EQ(finished, study.created.total) << "study " << to_int(id);
      }
    }
    check_paused();
    if (lost_rows_ || s_.held_batches() > 0 || s_.dispatcher().counters().read_only) return;
    std::map<std::string, int> open;
    for (const auto& [id, row] : s_.store().attempts) {
      // A restart may lose the revocation of an attempt whose trial is over. The attempt then stays
      // live, which harms nobody.
      const auto& study = s_.store().studies.at(row.trial.study);
      const bool over =
          study.trials.at(to_int(row.trial.number)).state != storage::TrialState::running ||
          study.state != storage::StudyState::running;
      if (!over) open[row.device] += row.state == storage::AttemptState::live;
    }
    for (const auto& [device, count] : open) ASSERT_LE(count, max_leases_) << device;
  }

  // R53: if a study is paused before and after an event, the event starts no attempt of the study,
  // unless storage still works on events from before the pause.
  void check_paused() {
    std::map<StudyId, std::size_t> paused;
    if (s_.held_batches() == 0) {
      for (const auto& [id, study] : s_.store().studies) {
        if (study.paused) paused[id] = 0;
      }
    }
    if (!paused.empty()) {
      for (const auto& [id, row] : s_.store().attempts) {
        if (const auto found = paused.find(row.trial.study); found != paused.end()) ++found->second;
      }
    }
    for (const auto& [id, attempts] : paused) {
      if (const auto before = paused_.find(id); before != paused_.end()) {
        ASSERT_EQ(attempts, before->second) << "study " << to_int(id) << " is paused";
      }
    }
    paused_ = std::move(paused);
  }

  // Lets every study end undisturbed. Nothing may be left in the dispatcher then.
  void settle() {
    hear(s_.resume());
    if (s_.dispatcher().counters().read_only) hear(s_.restored());
    std::vector<std::int64_t> resting;
    for (const auto& [id, study] : s_.store().studies) {
      if (study.paused) resting.push_back(to_int(id));
    }
    for (const std::int64_t study : resting) hear(s_.pause(study, false));
    paused_.clear();
    for (int round = 0; round < 100 && running(); ++round) {
      for (const std::string worker : {"a", "b", "c", "d", "e"}) {
        hear(s_.open(worker, {}, worker == "e" ? "q" : "p"));
        leased_[worker].clear();
        if (!s_.session_of(worker)) continue;  // the device is revoked
        hear(s_.ready(worker));
        while (!leased_[worker].empty()) {
          const std::int64_t attempt = leased_[worker].back();
          leased_[worker].clear();
          hear(s_.complete(worker, attempt, 0.5, true));
        }
      }
      hear(s_.after(60'000));
      check();
      if (::testing::Test::HasFatalFailure()) return;
    }
    ASSERT_FALSE(running()) << "a trial was lost";
    for (const std::string worker : {"a", "b", "c", "d", "e"}) {
      if (s_.session_of(worker)) s_.close(worker, How::clean);
    }
    s_.after(100'000);
    const Counters counters = s_.dispatcher().counters();
    EXPECT_EQ(counters.leased, 0);
    EXPECT_EQ(counters.queued, 0);
    EXPECT_EQ(counters.workers, 0);
    EXPECT_FALSE(s_.dispatcher().next_deadline().has_value());
  }

  bool running() const {
    for (const auto& [id, study] : s_.store().studies) {
      if (study.state == storage::StudyState::running) return true;
    }
    return false;
  }

  std::uint64_t seed_;
  int max_leases_;
  bool lost_rows_ = false;  // the end of an attempt was not stored, so storage has it as live
  std::optional<storage::ScratchDatabase> database_;
  std::unique_ptr<storage::Storage> storage_;  // null: the model alone
  Scenario s_;
  std::map<std::string, std::vector<std::int64_t>> leased_;
  std::map<StudyId, std::size_t> paused_;  // attempts of each paused study after the last event
};

class Random : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Blocks, Random, ::testing::Range(0, 10));

TEST_P(Random, R11_R19_NoTrialIsLostOrCountedTwiceWhateverHappens) {
  for (int i = 0; i < kSequences / 10; ++i) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * (kSequences / 10) + i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    Chaos(seed).run();
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

}  // namespace
}  // namespace hyperflock::dispatch
