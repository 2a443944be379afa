// The reference model of the dispatcher, for tests. It states the rules of protocol.md as loops
// over plain lists, without timers, indexes or asynchronous storage. Readable code matters here,
// and speed does not. Every change is committed at once, and jitter always has its least value
// (Scenario::Jitter::least).
//
// Each event returns the messages that it causes, as lines in the format of Scenario, in any order.
// StudyChanged is left out. The model shares only the budgets of R18 with the dispatcher's code.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dispatch/model/scenario.h"

namespace hyperflock::dispatch {

// Returns the name of an attempt in the model's texts, such as #7.
inline std::string number(std::int64_t attempt) { return '#' + std::to_string(attempt); }

class Reference {
 public:
  using Id = std::int64_t;

  // A checkpoint: the attempt that saved it, and a number that identifies the checkpoint.
  using Saved = std::pair<Id, Id>;
  struct Attempt {
    Id id = 0;
    Id study = 0;
    Id trial = 0;
    bool again = false;  // whether it is a duplicate
    std::optional<Saved> from;
    Id code = 1;  // the version of the study's code
    std::string device;
    storage::AttemptState state = storage::AttemptState::live;
    std::optional<protocol::Verdict> verdict;  // the verdict on its first result
    // Whether it is rejected, and the failure of its trial's budget that it caused.
    bool rejected = false;
    std::optional<protocol::Cause> counted{};
    std::string failure_code{};
    Instant seen;
    Instant leased;
    std::optional<Instant> began;
    Instant progressed;
    Id progress = 0;
    Millis patience = 0;
    protocol::PulseState pulse = protocol::PulseState::loading;
    Instant paid_until{};  // for how long its owner was charged (R70)
    bool lent = false;
    std::set<Id> steps{};  // stored steps
    // Whether it has sent points (R74); nullopt: not known.
    std::optional<bool> reported{false};
    std::vector<Id> curve{};  // steps that are sent to the owner if this attempt leads
  };
  struct Trial {
    storage::TrialState state = storage::TrialState::running;
    std::array<int, 7> failures{};
    std::set<std::string> lost_with;
    int odd_values = 0;        // attempts with a value outside of the range (R73)
    std::string odd_device{};  // the newest one's device, while others are there
    std::optional<Id> accepted;
    std::string failure_code;
    std::optional<Instant> due;  // the end of its back-off
    bool speculated = false;
    std::optional<Saved> saved;           // the newest checkpoint
    std::optional<Saved> saved_before{};  // the one before
    std::set<std::string> rejected{};     // devices that get it no more (R71)
    bool excludes(const std::string& device) const {
      return rejected.contains(device) || odd_device == device;
    }
    // For ask-and-tell studies: `log` has the suggested values by name, in the order of the
    // suggestions; `lead` is the attempt whose points count; `ran` says whether the trial has run,
    // and `superseded` whether it ran as another attempt before `lead`.
    std::vector<std::array<std::string, 3>> log{};
    std::optional<Id> lead{};
    bool ran = false;
    bool superseded = false;
  };
  struct Waiter {
    std::string worker;
    Id attempt = 0;
    Id session = 0;  // the session that called
  };
  struct Question {
    Id trial = 0;
    Id attempt = 0;
    std::string name;  // the suggested name; empty: should_prune
    std::string distribution;
    Instant since;
    std::vector<Waiter> waiters;
  };
  struct Speed {
    Id runs = 0;
    Millis run = 0;
    Id moves = 0;
    Millis gap = 0;
  };
  // The trials of a study that a device has failed in a row (R72).
  struct Row {
    Id length = 0;
    Id bars = 0;
    Instant until{};
    bool own = false;
    bool judged = true;  // false: no other device has had a result since it was barred
    Id probes = 0;
    std::vector<Id> trials{};
  };
  // The results of a study in a row for which a device has given the same value (R75).
  struct Same {
    double value = 0;
    Id length = 0;
    Id bars = 0;
    Instant until{};
    bool own = false;
    bool judged = true;  // false: its trials are to run again when another device is there
    Id probes = 0;
    Id differing = 0;
    Id alike = 0;
    std::vector<Id> trials{};
  };
  struct Study {
    StudyOptions options;
    storage::StudyState state = storage::StudyState::running;
    bool paused = false;
    Id priority = 0;  // among the studies of its owner (R61)
    Instant since{};  // its last lease, or when it began to run
    // The version and the name of the study's code, and the first version whose checkpoints are
    // handed out.
    Id code = 1;
    std::string code_name = "f";
    std::set<std::string> earlier_codes{};  // names of codes that it ran before
    bool awaits_approval = false;
    Id resumable = 1;
    bool succeeded = false;
    std::map<std::string, std::vector<std::string>> alike;  // devices of failures by kind (R56)
    // Devices that fail (R72).
    std::map<std::string, Row> rows{};
    Id results = 0;
    Id failures = 0;
    std::map<Id, std::string> probes{};  // the device that failed the trial
    storage::ReportedPoints points{};    // (R74)
    std::set<std::string> succeeded_on{};
    // Devices that repeat their values (R75).
    std::map<std::string, Same> same{};
    Id values = 0;
    Id repeated = 0;
    std::map<Id, std::string> value_probes{};  // the device that gave the trial its value
    std::set<double> usual{};
    std::optional<Id> stopped_by;  // the trial with which it paused itself
    Id next = 0;                   // the grid's cursor
    std::map<Id, Trial> trials;
    std::vector<Id> queue;                // trials to be issued again
    std::map<std::string, Speed> speeds;  // by device class; "" for all classes
    // For ask-and-tell studies.
    std::vector<Id> fresh{};
    std::string owner{};  // empty: no owner
    Instant away{};
    Id generation = 0;
    Id room = 0;
    Id uncommitted_asks = 0;  // trials that the owner has asked for and that are not committed yet
    Id waiting = 0;
    bool finish = false;
    std::map<Id, Question> questions{};
    bool asked() const { return options.directions > 0; }
  };
  struct Claim {
    std::string owner;
    Id study = 0;
    bool standby = false;
  };

  explicit Reference(Settings settings) : settings_(std::move(settings)) {}

  // ---- events, as in Scenario
  Said open(const std::string& worker, const std::vector<AttemptId>& held,
            const std::string& project);
  Said close(const std::string& worker, SessionClosed::How how);
  Said submit(const StudyOptions& options);
  Said cancel(Id study);
  Said pause(Id study, bool paused);
  Said prioritize(Id study, Id priority);
  Said extend(Id study, Id trials, bool awaits_approval = false);
  Said reissue(Id study, const std::string& code = {},
               Scenario::Keeps keeps = Scenario::Keeps::nothing, bool awaits_approval = false);
  Said reject(Id study, const std::optional<std::string>& device, std::optional<Id> trial);
  Said stop(Stopped what, const std::string& name, bool stopped);
  Said limit(storage::CeilingScope scope, const std::string& name, const storage::Ceiling& ceiling);
  Said share(storage::CeilingScope scope, const std::string& name, const storage::Share& share);
  Said judge(Id study, bool approved);
  Said remove(Id study);
  Said ready(const std::string& worker);
  Said beat(const std::string& worker, Id attempt, Id progress, protocol::PulseState state);
  Said report(const std::string& worker, Id attempt, Id seq, Id step);
  Said should_prune(const std::string& worker, Id attempt, Id step);
  Said suggest(const std::string& worker, Id attempt, const std::string& name,
               const std::string& distribution);
  Said claim(const std::string& owner, Id study, bool standby);
  Said leave(const std::string& owner);
  Said says(const std::string& owner, const protocol::OwnerReply& reply);
  Said complete(const std::string& worker, Id attempt, bool next, double value = 0.5);
  Said failed(const std::string& worker, Id attempt, protocol::Cause cause, bool next);
  Said release(const std::string& worker, Id attempt, protocol::ReleaseReason reason);
  Said checkpoint(const std::string& worker, Id attempt, Id blob);
  Said revoke_device(const std::string& worker);
  Said drain();
  Said room(bool has_room);
  Said after(Millis ms);
  Said restart();
  // Loads the state again, because the event's batch was not written. The ids that the batch used
  // for attempts (`starts`) and studies (`submits`) are not used again.
  Said storage_failed(Id starts, Id submits);

  // Lets new ids begin above these values, as in a store that is not empty.
  void begin_after(Id studies, Id attempts);

  // ---- state
  bool connected(const std::string& worker) const { return sessions_.contains(worker); }
  bool owner_connected(const std::string& owner) const { return owners_.contains(owner); }
  // Returns the study that the owner owns; a waiting claim does not count.
  const Study* owned_by(const std::string& owner) const;
  const std::map<Id, Study>& studies() const { return studies_; }
  const std::map<Id, Attempt>& attempts() const { return attempts_; }
  // Returns the first study of this model. A store may contain earlier ones.
  Id first_study() const { return first_study_; }
  Id first_attempt() const { return first_attempt_; }
  // How many devices were found to invent a value that they have given for more trials than those
  // that have shown it (R75).
  Id convictions() const { return convictions_; }
  const std::set<Id>& changed() const { return changed_; }  // studies whose rows the event changed

 private:
  struct Session {
    std::string project;
    std::vector<Id> refused;  // studies that it cannot run
    Id number = 0;
    std::optional<Id> last{};  // the study of its last result
  };
  // A researcher's share of a project's devices.
  struct Account {
    std::string project;
    std::string owner;
    Id served = 0;  // virtual time
    Instant since{};
    bool by_age = false;
  };
  struct Pool {
    Id virtual_time = 0;
    bool by_age = false;
  };
  struct Chosen {
    Id study = 0;
    bool owner_by_age = false;
    bool study_by_age = false;
    bool was_next = false;  // by the weights
    bool lent = false;
    bool lent_by_guarantee = false;
  };
  struct Started {
    Id attempt = 0;
    std::string worker;
  };

  Said done() { return std::exchange(said_, {}); }
  void begin();
  void finish_event();  // gives new work to the workers that wait
  std::vector<Started> pump_all();

  void say(const std::string& worker, const std::string& what);
  void say_error(const std::string& worker, const std::string& code);
  // Returns the attempt if it belongs to this device, even if the attempt has ended; else null.
  Attempt* own(const std::string& worker, Id attempt);
  Trial& trial_of(const Attempt& attempt) {
    return studies_.at(attempt.study).trials.at(attempt.trial);
  }
  std::vector<Id>& open_of(const std::string& device) { return open_[device]; }
  void touch(Attempt& attempt) {
    attempt.seen = now_;
    if (now_ >= attempt.paid_until) charge_more(attempt);
    attempt.patience = patience(attempt);
  }
  static std::string class_of(const std::string& worker) {
    return worker == "c" || worker == "d" ? "phone" : "desktop";
  }
  static bool has_webgpu(const std::string& worker) { return worker == "b" || worker == "d"; }
  // Returns whether the device has what the study requires (R40) and has not refused to run it.
  bool may_run(const std::string& worker, Id study) const;
  Speed& speed(const Attempt& attempt) {
    return studies_.at(attempt.study).speeds[class_of(attempt.device)];
  }
  Millis patience(const Attempt& attempt);
  static void learn_run(Speed& speed, Millis run);
  static Millis usual(const Study& study, const std::string& device);
  std::optional<std::pair<Id, Id>> slow_trial(const std::string& worker) const;
  Started start(const Chosen& chosen, Id trial, const std::string& worker, bool again);
  void touch_running(Attempt& attempt);

  // ---- reference_owners.cc
  void tell(const Study& study, const std::string& what);
  void take_over(const Claim& claim);
  void detach(Study& study);
  void promote(Id study);
  void end_claims(Id study, const std::string& code);
  bool keep_point(Attempt& attempt, Id step);
  bool leads(const Attempt& attempt) const;
  void follow_lead(Id study, Id trial);
  void tell_curve(const Study& study, const Attempt& attempt, const std::string& how);
  void tell_outcome(const Attempt& attempt, bool led);
  void ask_owner(Study& study, Question question);
  void tell_question(const Study& study, Id id);
  void refuse_questions(Study& study, Id trial);
  void tell_waiters(const Question& question, const std::string& what);
  void drop_waiter(const Attempt& attempt);
  std::optional<Instant> silence(const Study& study, const Question& question) const;
  bool wants(const Study& study) const {
    return study.asked() && !study.owner.empty() && study.state == storage::StudyState::running &&
           !is_held(study) && study.room + study.uncommitted_asks > 0;
  }
  std::string log_text(const Trial& trial) const;

  // ---- reference_rules.cc
  bool is_stopped(const Study& study) const;
  bool is_held(const Study& study) const {
    return study.paused || study.awaits_approval || is_stopped(study);
  }
  bool ran_stopped_code(const Study& study) const;
  bool is_at_ceiling(const Study& study) const;
  Millis time_limit(const Study& study) const;

  bool has_work(const Study& study) const;
  // Returns whether a trial waits that this worker may get.
  bool has_work_for(const std::string& worker, const Study& study) const;
  Id running_of(Id study) const;
  // ---- reference_breakers.cc (R72)
  enum class Turn { asks, waits };
  // A device that is barred from several studies of a project.
  struct Barred {
    std::set<Id> studies{};
    Id bars = 0;
    Instant until{};
  };
  // A rejection that the server has decided on and not stored yet.
  struct Probe {
    Id study = 0;
    Id trial = 0;
    std::set<Id> meant;
  };
  bool has_long_row(Id study, const std::string& device) const;
  bool is_barred(Id study, const std::string& device, Turn turn) const;
  bool has_other_device(Id study, const std::string& device) const;
  void lift_odd_devices(const std::string& project);  // (R73)
  // The devices whose results of the trial counted as failures because they had no points (R74).
  std::set<std::string> doubted(const Attempt& attempt) const;
  bool is_doubtful(const Attempt& attempt) const;
  storage::ReportedPoints stored_points(const Study& study) const;
  void learn_points(Study& study, const Attempt& attempt) const;
  static void forget_rows(Study& study);
  void count_in_row(const Attempt& attempt, protocol::Cause cause);
  void end_rows(const Attempt& attempt);
  void judge_failure(const Attempt& attempt);
  void judge_success(const Attempt& attempt);
  void probe_row(Id study, const std::string& device);
  void reject_probes();
  void probe(Id study, Id trial, const std::string& device);  // lets others run the trial

  // ---- reference_repeats.cc (R75)
  void count_value(const Attempt& attempt, double value);
  void judge_value(const Attempt& attempt, double value);
  void end_probe(Study& study, Id trial);
  void probe_values(Id study, const std::string& device);

  // ---- reference_shares.cc (R70)
  using Ids = std::vector<Id>;
  void begin_to_run(Id study);
  Account& account_of(const Study& study);
  Id weight_of(storage::CeilingScope scope, const std::string& name) const;
  Id guaranteed_to(storage::CeilingScope scope, const std::string& name) const;
  bool lends(const std::string& lender, const std::string& project) const;
  Id devices_of(const std::string& owner) const;
  Id devices_in(const std::string& project) const;
  void add_served(const Attempt& attempt, Millis device_ms);
  void charge(Attempt& attempt, const Chosen& chosen);
  void charge_restored(Attempt& attempt);
  void charge_more(Attempt& attempt);
  void settle(const Attempt& attempt);
  Ids candidates(const std::string& worker, const std::string& project, Turn turn,
                 bool with_room) const;
  std::optional<Chosen> choose_of(const std::string& worker, const Account& account, Ids all,
                                  bool asks) const;
  std::optional<Chosen> choose(const std::string& worker, const std::string& project, Turn turn,
                               bool with_room = true);
  std::optional<Chosen> choose_lent(const std::string& worker, Turn turn);
  std::vector<Started> lend();
  std::set<std::string> all_projects() const;

  Started start_next(const Chosen& chosen, const std::string& worker);
  bool has_room(const std::string& worker);
  bool leases_nothing() const { return draining_ || !disk_has_room_; }
  std::vector<Started> pump(const std::string& project, const std::string& asks = {});
  std::vector<Started> seek(const std::string& worker);
  void ask(const std::string& worker);
  // Sends the leases whose trials are still unfinished. `ack` acknowledges a message of `worker`
  // and is sent with that worker's lease.
  void deliver(const std::vector<Started>& started, const std::string& worker = {},
               std::string ack = {});

  // `value`: of a result that is complete, or outside of the study's range.
  void result(const std::string& worker, Id attempt, std::optional<protocol::Cause> cause,
              bool next, std::optional<double> value = {});
  void end(Attempt& attempt, storage::AttemptState state);  // closes the attempt
  void let_go(Attempt& attempt, storage::AttemptState state);
  // Revokes the live attempts of a study that an administrator has stopped (R67).
  void stop_attempts(Id study);
  void requeue(Id study, Id trial, Millis delay);
  // Counts a failure. Returns true if the trial gets no other attempt; then call finish_trial().
  bool count_failure(const Attempt& attempt, protocol::Cause cause, const std::string& code);
  void fail_trial(Id study, Id trial, protocol::Cause cause, const std::string& code,
                  const std::string& device = {});
  void finish_trial(Id study, Id trial);
  // ---- reference_rejections.cc (R71)
  struct RejectedTrial {
    Id trial = 0;
    std::vector<Id> attempts;
    bool runs_again = false;
    bool fails = false;                          // it lost its result in an ask-and-tell study
    std::optional<protocol::Cause> failed_by{};  // other attempts have spent a budget
    std::string failure_code{};
  };
  // Marks the attempts of a trial that are rejected. Returns nullopt if nothing changes.
  // `excludes`: the devices of the attempts get the trial no more.
  std::optional<RejectedTrial> reject_trial(Id study, Id trial, const std::set<Id>& meant,
                                            bool excludes);
  void run_again(Id study, const RejectedTrial& rejected);
  void tell_rejection(Id study, const RejectedTrial& rejected);
  void end_if_finished(Id study);
  void withdraw(Id study, std::optional<Id> trial, const std::string& code);
  // Returns when the attempt expires, and the name of the limit that ends it.
  std::pair<Instant, std::string> deadline(const Attempt& attempt) const;
  void overdue(Attempt& attempt, const std::string& rule);
  void reload();

  Settings settings_;
  Instant now_{1'000'000};
  bool draining_ = false;
  bool disk_has_room_ = true;  // whether rows may grow
  std::map<std::string, Session> sessions_;
  std::map<std::string, std::vector<Id>> open_;  // live attempts by device, in the order of leases
  std::vector<std::string> idle_;                // in the order of their requests
  std::map<std::string, Instant> idle_since_;
  std::set<std::string> revoked_;
  std::map<Id, Study> studies_;
  std::map<Stopped, std::set<std::string>> stopped_;  // names
  std::map<std::pair<storage::CeilingScope, std::string>, storage::Ceiling> ceilings_;
  std::map<std::pair<storage::CeilingScope, std::string>, storage::Share> shares_;
  std::vector<Account> accounts_;  // in the order in which their first studies began to run
  std::map<std::string, Pool> pools_;
  std::map<std::string, Id> lent_served_;  // by project
  Id lent_time_ = 0;
  bool lent_by_guarantee_ = false;
  std::map<std::pair<std::string, std::string>, Barred> barred_;  // by project and device
  std::vector<Probe> probing_;
  std::map<Id, Attempt> attempts_;
  std::set<Id> undelivered_;        // attempts whose lease is sent at the end of the batch
  std::set<Id> late_;               // attempts that expire at the same moment
  std::set<std::string> owners_;    // connected owners
  std::vector<Claim> claims_;       // in the order of their arrival
  std::set<std::string> awaiting_;  // idle workers that count as demand for owners
  Id next_question_ = 1;
  Id next_session_ = 1;
  Id first_study_ = 1;
  Id first_attempt_ = 1;
  Id convictions_ = 0;
  Id least_study_ = 1;  // no new study gets a smaller id
  Id least_attempt_ = 1;
  Id next_study_ = 1;
  Id next_attempt_ = 1;
  Id next_key_ = 1;
  Said said_;
  std::set<Id> changed_;
};

}  // namespace hyperflock::dispatch
