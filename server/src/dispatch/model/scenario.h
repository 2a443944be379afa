// A dispatcher with a model of storage and named workers, for tests. Each message becomes a line of
// text, so a test reads like the rule that it checks, and a failure prints what was sent:
//
//   Scenario s;  s.worker("a").study(1);
//   EXPECT_EQ(s.ready("a"), Said{"a < lease #1 trial 0"});
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "dispatch/dispatcher.h"

namespace hyperflock::dispatch {

// How long a lease lasts with the default settings.
inline const Millis kLeaseMs = Settings{}.lease_ms;

// The model store refuses a series of this name, as storage refuses a series above a limit.
inline constexpr const char* kSeriesAboveLimit = "above the limit";

// Implements the contract of storage/transition.h with plain maps. Tests run the dispatcher on it
// and check invariants of its state.
class ModelStore {
 public:
  struct TrialState {
    storage::TrialState state = storage::TrialState::running;
    std::optional<AttemptId> accepted;
    std::optional<protocol::Failure> failure;
    int acceptances = 0;  // more than one breaks R11
    // Failures of attempts up to this id no longer count.
    AttemptId forgiven{0};
    std::optional<protocol::Checkpoint> checkpoint;            // the newest one
    std::optional<protocol::Checkpoint> earlier_checkpoint{};  // the one before, while there is one
    // `params`, `log` and `attrs` are for ask-and-tell studies.
    std::string params{};
    std::vector<storage::Suggestion> log{};
    std::string attrs{};
  };
  struct StudyState {
    storage::CreateStudy created;
    storage::StudyState state = storage::StudyState::running;
    std::map<std::int64_t, TrialState> trials;
    std::int64_t generation = 0;
    bool paused = false;
    std::int64_t priority = 0;
    std::int64_t code = 1;                     // the version of its code (R64)
    std::int64_t resumable_code = 1;           // the first version whose checkpoints are handed out
    std::optional<std::int64_t> stopped_by{};  // the trial with which it paused itself
    // The failed trials that count for R56, in the order in which they failed.
    std::vector<std::int64_t> failed{};
    bool deviceless = false;  // noted, and no device has come since (R62)
    storage::Approval approval = storage::Approval::given;
    std::set<std::string> earlier_blobs{};  // of earlier versions of its code
    bool succeeded() const;
  };

  storage::Outcome apply(const storage::Transition& transition);
  storage::Snapshot load() const;

  std::map<StudyId, StudyState> studies;
  std::map<AttemptId, storage::AttemptRow> attempts;
  std::map<AttemptId, std::map<std::int64_t, double>> points;
  std::map<AttemptId, std::set<std::int64_t>> logged;  // `seq` of reports with series
  std::map<AttemptId, protocol::Verdict> verdicts;
  // The highest ids of studies and attempts at the last deletion of a study.
  std::int64_t last_study = 0;
  std::int64_t last_attempt = 0;
  storage::Rules rules;
  std::map<std::int64_t, std::string> people{{1, "ada"}, {2, "eve"}};  // by id

 private:
  static storage::Outcome judge(storage::AttemptRow& row, const StudyState& study,
                                TrialState& trial, const protocol::TrialResult& result);
  storage::Outcome apply_one(const storage::StoreCheckpoint& t);
  storage::Outcome apply_one(const storage::CreateStudy& t);
  storage::Outcome apply_one(const storage::StartAttempt& t);
  storage::Outcome apply_one(const storage::StoreResult& t);
  storage::Outcome apply_one(const storage::EndAttempt& t);
  storage::Outcome apply_one(const storage::AppendPoints& t);
  storage::Outcome apply_one(const storage::FailTrial& t);
  storage::Outcome apply_one(const storage::EndStudy& t);
  storage::Outcome apply_one(const storage::DeleteStudy& t);
  storage::Outcome apply_one(const storage::PauseStudy& t);
  storage::Outcome apply_one(const storage::SetPriority& t);
  storage::Outcome apply_one(const storage::JudgeStudy& t);
  storage::Outcome apply_one(const storage::UpdatePrincipal& t);
  storage::Outcome apply_one(const storage::FreezeProject& t);
  storage::Outcome apply_one(const storage::BarBlob& t);
  storage::Outcome apply_one(const storage::SetCeiling& t);
  storage::Outcome apply_one(const storage::SetShare& t);
  storage::Outcome apply_one(const storage::ExtendStudy& t);
  storage::Outcome apply_one(const storage::ReissueTrials& t);
  storage::Outcome apply_one(const storage::RejectResults& t);  // in model_rejections.cc
  // Rejects attempts of one trial. Returns whether anything changes.
  bool reject(const storage::RejectResults& t, std::int64_t number, storage::Rejected& result);
  storage::RunningTrial running_trial(TrialKey key, const TrialState& trial) const;
  storage::ReportedPoints reported_points(const StudyState& study) const;
  storage::Outcome apply_one(const storage::ClaimStudy& t);
  storage::Outcome apply_one(const storage::AskTrials& t);
  storage::Outcome apply_one(const storage::StoreSuggestion& t);
  storage::Outcome apply_one(const storage::NoteDevices& t);
  template <typename Other>
  storage::Outcome apply_one(const Other&) {
    return {
        .applied = storage::Applied::conflict, .trial = {}, .study = {}, .verdict = {}, .seq = 0};
  }
};

using Said = std::vector<std::string>;

struct StudyOptions {
  std::int64_t trials = 1;
  std::string project = "p";
  std::string submit_key{};  // empty: a generated key
  Millis time_limit_ms = 0;
  Millis stall_ms = 0;
  std::string backend{};
  int directions = 0;  // of an ask-and-tell study; 0 for a grid
  std::int64_t max_failures = 0;
  bool ranged = false;  // its values are from 0 to 1 (R73)
  std::string owner = "ada";
  std::int64_t priority = 0;
  std::string webhook{};  // its address; it wants all events
  bool awaits_approval = false;
};

// The kinds of things that an administrator can stop and later allow again (R67).
enum class Stopped { researcher, project, code };

// Returns the hash of the bundle with the code of this name. New studies have the code f.
std::string bundle_of(const std::string& code);

std::uint64_t splitmix64(std::uint64_t& state);

class Scenario {
 public:
  // Says whether the dispatcher gets random jitter, or the least that R18 and R26 allow.
  enum class Jitter { drawn, least };
  explicit Scenario(Settings settings = {}, Jitter jitter = Jitter::drawn);
  Scenario(Scenario&&) = default;
  Scenario& operator=(Scenario&&) = default;
  // Copies the state; the copy then continues independently. REQUIRES: shadow() was not called.
  Scenario(const Scenario& other);

  // ---- events; each returns the messages that it causes
  // Workers b and d, and those whose names begin with "gpu", have WebGPU. Others have none.
  Said open(const std::string& worker, std::vector<AttemptId> held = {},
            const std::string& project = "p");
  Said close(const std::string& worker, SessionClosed::How how);
  Said submit(const StudyOptions& options);
  Said cancel(std::int64_t study);
  Said pause(std::int64_t study, bool paused = true);
  Said prioritize(std::int64_t study, std::int64_t priority);
  // `code`, if given, is the name of the study's new code. `keeps` says whether the trials continue
  // from checkpoints of the earlier code.
  enum class Keeps { checkpoints, nothing };
  Said reissue(std::int64_t study, const std::string& code = {}, Keeps keeps = Keeps::nothing,
               bool awaits_approval = false);
  // Rejects the attempts of a study that are of this device and of this trial.
  Said reject(std::int64_t study, const std::optional<std::string>& device,
              std::optional<std::int64_t> trial = {});
  // Gives the study a space of this many values.
  Said extend(std::int64_t study, std::int64_t trials, bool awaits_approval = false);
  // Stores a change of an administrator and tells the dispatcher about it, as the hub does. The
  // store knows the researchers ada and eve and the projects p and q.
  Said stop(Stopped what, const std::string& name, bool stopped = true);
  Said limit(storage::CeilingScope scope, const std::string& name, const storage::Ceiling& ceiling);
  Said share(storage::CeilingScope scope, const std::string& name, const storage::Share& share);
  Said judge(std::int64_t study, bool approved);
  // Deletes the study in storage. The dispatcher gets no message, as in a real server. If shadow()
  // was called, the storage that it got also removes a few rows of deleted studies.
  Said remove(std::int64_t study);
  Said ready(const std::string& worker);
  Said beat(const std::string& worker, std::int64_t attempt, std::int64_t progress,
            protocol::PulseState state = protocol::PulseState::running);
  Said report(const std::string& worker, std::int64_t attempt, std::int64_t seq,
              std::vector<protocol::Point> points);
  // Sends a report with one row of this series and the points.
  Said log(const std::string& worker, std::int64_t attempt, std::int64_t seq,
           const std::string& series, std::vector<protocol::Point> points = {});
  Said should_prune(const std::string& worker, std::int64_t attempt,
                    std::vector<protocol::Point> points);
  Said complete(const std::string& worker, std::int64_t attempt, double value = 0.5,
                bool next = false);
  Said failed(const std::string& worker, std::int64_t attempt, protocol::Cause cause,
              bool next = false);
  Said suggest(const std::string& worker, std::int64_t attempt, const std::string& name,
               const std::string& distribution = "d");
  // Owners of ask-and-tell studies have names, as workers do. A reply that names no batch confirms
  // the newest one.
  Said claim(const std::string& owner, std::int64_t study, bool standby = false);
  Said leave(const std::string& owner);
  Said says(const std::string& owner, protocol::OwnerReply reply);
  Said asks(const std::string& owner, const std::vector<std::int64_t>& numbers,
            std::int64_t room = 0);
  Said answers(const std::string& owner, std::int64_t id, const std::string& value,
               std::int64_t room = 0);
  Said release(const std::string& worker, std::int64_t attempt,
               protocol::ReleaseReason reason = protocol::ReleaseReason::stopped);
  Said tell(const std::string& worker, protocol::ClientMessage message);
  // Stores a checkpoint of the device's attempt. `blob` identifies the checkpoint.
  Said checkpoint(const std::string& worker, std::int64_t attempt, std::int64_t blob);
  Said revoke_device(const std::string& worker);
  Said erase_device(const std::string& worker, DeviceErasing::Step step);
  Said drain();
  // Says whether the server's disk has room for more rows.
  Said room(bool has_room);
  // Moves the time forward in steps of at most one heartbeat period, with a tick at each deadline.
  Said after(Millis ms);
  // Starts a new dispatcher without sessions from the stored state, as after SIGKILL.
  Said restart();
  Said event(const Event& event);

  // ---- preparation: the same events without a returned value
  Scenario& worker(const std::string& name) {
    open(name);
    return *this;
  }
  Scenario& study(std::int64_t trials) {
    submit({.trials = trials});
    return *this;
  }
  Scenario& study(const StudyOptions& options) {
    submit(options);
    return *this;
  }

  // ---- control of storage: after hold(), nothing is committed until commit() or resume()
  void hold() { held_ = true; }
  // Commits the oldest `count` batches (all by default) and continues to hold.
  Said commit(std::size_t count = SIZE_MAX);
  // Lets the write of the oldest batch fail. Later batches are dropped too.
  Said fail_batch();
  // Loads the state again after a failure.
  Said restored();
  Said resume();  // commits what is held and stops holding
  // Sets the next outcome of this type of transition.
  template <typename Transition>
  void inject(storage::Applied applied) {
    injected_[storage::Transition(Transition{}).index()] = applied;
  }

  // Applies each transition from now on to `storage` too. Outcomes that differ from the model's are
  // noted in troubles(), and restarts load from `storage`. Call this before any event. `storage`
  // must outlive this object.
  void shadow(storage::Storage* storage);

  // ---- state
  // Broken promises: leases and acknowledgements that were sent and are not stored, and outcomes
  // that differ in the storage given to shadow().
  const Said& troubles() const { return troubles_; }
  std::vector<std::string> proposed() const { return proposed_; }  // by the last event
  std::size_t held_batches() const { return batches_.size(); }
  const ModelStore& store() const { return store_; }
  const Dispatcher& dispatcher() const { return *dispatcher_; }
  Instant now() const { return now_; }
  std::int64_t accepted() const;                           // complete and pruned trials
  std::int64_t last_delay() const { return last_delay_; }  // of the last wait
  protocol::Lease last_lease() const { return last_lease_; }
  protocol::OwnerCall last_call() const { return last_call_; }
  // Returns how long a study will still take (R63) if this many of its trials have no outcome.
  Estimate estimate(std::int64_t study, std::int64_t open_trials) const {
    const auto found = works_.find(StudyId{study});
    return dispatch::estimate(found == works_.end() ? StudyWork{} : found->second, open_trials,
                              now_);
  }
  std::optional<SessionId> session_of(const std::string& worker) const;
  std::set<std::string> sessions() const;  // of devices
  // Returns whether the owner was sent a batch that it has not confirmed.
  bool owes(const std::string& owner) const {
    const auto found = owners_.find(owner);
    return found != owners_.end() && found->second.sent > found->second.taken;
  }

 private:
  struct Batch {
    std::vector<TransitionId> ids;
    std::vector<storage::Transition> transitions;
  };
  Said handle(const Event& event);
  void note(const Effect& effect, Said& said);
  std::string name_of_session(SessionId id) const;
  storage::StudyRow row_of(std::int64_t study) const;  // as a reader of storage returns it
  std::string text_of(const protocol::ServerMessage& message);
  Event committed(const Batch& batch);
  storage::Outcome apply(const storage::Transition& transition);
  Said set_rule(const storage::Transition& transition);
  void check_lease(const protocol::Lease& lease);

  std::unique_ptr<Dispatcher> new_dispatcher() const;

  Settings settings_;
  Jitter jitter_;
  std::shared_ptr<std::uint64_t> random_state_ =
      std::make_shared<std::uint64_t>(1);  // on the heap, because a Scenario may be moved
  std::unique_ptr<Dispatcher> dispatcher_;
  ModelStore store_;
  storage::Storage* shadow_ = nullptr;
  Said troubles_;
  Instant now_{1'000'000};
  std::map<std::string, SessionId> sessions_;
  std::uint64_t next_session_ = 1;
  std::uint64_t next_request_ = 1;
  std::int64_t next_key_ = 1;
  bool held_ = false;
  std::vector<Batch> batches_;
  std::map<std::size_t, storage::Applied> injected_;
  std::vector<std::string> proposed_;
  std::int64_t last_delay_ = 0;
  protocol::Lease last_lease_;
  protocol::OwnerCall last_call_;
  std::map<StudyId, StudyWork> works_;  // of running studies
  struct Owner {
    StudyId study{};
    std::int64_t sent = 0;  // the newest batch
    std::int64_t taken = 0;
  };
  std::map<std::string, Owner> owners_;
};

}  // namespace hyperflock::dispatch
