// The dispatcher's state between events, and the functions that its files share. Private to
// dispatch/; one owner, as dispatcher.h says.
//
// Transitions are proposed in the order of the events, and storage applies them in that order.
// Memory is changed when a transition is proposed, as if it had been applied. Messages that depend
// on the transition are sent only after its outcome is known. If a batch fails, all sessions are
// closed and memory is emptied. Restored then fills it again from storage.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "dispatch/alike.h"
#include "dispatch/asked.h"
#include "dispatch/breaker.h"
#include "dispatch/dispatcher.h"
#include "dispatch/estimate.h"
#include "dispatch/needs.h"
#include "dispatch/runtime_stats.h"
#include "dispatch/shares.h"
#include "dispatch/study_order.h"
#include "storage/failure_budget.h"

namespace hyperflock::dispatch {

// The most proposals of one session without an outcome. A further message is `rate_limited`.
inline constexpr int kMaxPending = 64;
// The most studies that a session remembers as refused. Beyond it, the oldest is forgotten.
inline constexpr std::size_t kMaxRefusedStudies = 64;
// The most idle workers that one round skips because it has no trial for them. A worker that comes
// after them in the queue is served by start_own() when it sends its next `ready`.
inline constexpr int kMaxPassedOver = 64;
// If storage has refused this many proposed attempts for one lease with `conflict`, the worker is
// sent `wait`.
inline constexpr int kMaxLeaseTries = 3;

struct Session {
  std::string device;
  std::string project;
  protocol::Capabilities capabilities;
  std::uint64_t idle_order = 0;     // place in the project's queue of idle workers; 0: not idle
  Instant idle_since{};             // since when it is in that queue
  int pending = 0;                  // proposals without an outcome
  std::vector<StudyId> cannot_run;  // oldest first
  // The number of the last round of leases in which this session counted as demand (R45).
  std::uint64_t awaits = 0;
  std::optional<TrialKey> last{};  // the trial of its last result

  // Notes that this session gets no more trials of the study.
  void refuse(StudyId study);
};

// A device is in memory while it has a session or an open attempt.
struct Device {
  std::optional<SessionId> session;
  std::vector<AttemptId> open;  // proposed and live attempts
};

// An attempt that was proposed and has not ended. It leaves memory when its result is proposed.
struct Attempt {
  TrialKey trial;
  protocol::AttemptKind kind = protocol::AttemptKind::primary;
  std::string device;
  std::string device_class;
  std::optional<protocol::Checkpoint> from;  // what it began with (R37)
  bool committed = false;
  // Set if the attempt was ended before its proposal was committed. After the commit it gets this
  // state.
  std::optional<storage::AttemptState> end_state;
  Instant seen;  // last message of its device that names it (R20)
  // The time of the attempt's lease or restoration. The limit for loading counts from this time.
  Instant loading_since;
  std::optional<Instant> began;  // when its objective was first seen running (R23)
  Instant progressed;            // when `progress` last grew, or the objective began
  std::int64_t progress = 0;
  Millis patience_ms = kMostPatienceMs;  // its limit without progress, computed at its last message
  protocol::PulseState pulse = protocol::PulseState::loading;
  std::optional<Instant> timer;  // its entry in State::timers, at or before its deadline
  Instant paid_until{};          // for how long its researcher was charged (R70)
  bool lent = false;             // its device belongs to another project
  // Whether it has reported points (R74). nullopt: not known, because the server started meanwhile.
  std::optional<bool> reported{false};
  // Only in an ask-and-tell study: the newest points, how many of them its owner was sent, and the
  // questions whose answers this attempt waits for.
  std::vector<protocol::Point> points{};
  std::size_t told = 0;
  std::vector<std::int64_t> questions{};
};

// A trial that has been leased and is not finished.
struct Trial {
  storage::FailureBudget budget{};
  std::vector<AttemptId> open;                     // proposed and live attempts
  std::uint64_t queue_order = 0;                   // place in the study's queue; 0: not queued
  std::optional<Instant> due;                      // end of its back-off
  bool failing = false;                            // FailTrial is proposed
  int storing = 0;                                 // results without an outcome
  bool speculated = false;                         // it had its speculative attempt (R36)
  std::optional<protocol::Checkpoint> checkpoint;  // the newest (R37)
  std::optional<AskedPart> asked{};                // of an ask-and-tell study
  std::vector<std::string> rejected{};             // devices that get it no more (R71)
  // A device whose result was a suspect: it gets the trial no more while another device may run it
  // (R73, R74). Not one of `rejected`; empty: none.
  std::string odd_device{};

  bool excludes(const std::string& device) const {
    return device == odd_device ||
           std::find(rejected.begin(), rejected.end(), device) != rejected.end();
  }
};

// The devices of a study whose webhook wants to know when there are none any more (R62).
struct DeviceWatch {
  std::int64_t devices = 0;    // sessions that may run its trials
  bool had_devices = false;    // since the study began
  bool deviceless = false;     // noted in storage, and no device has come since
  std::optional<Instant> due;  // its entry in State::absences
};

struct Study {
  StudyId id{};
  std::string owner;
  std::string project;
  protocol::StudySpec spec;
  std::int64_t total = 0;
  std::int64_t next_number = 0;  // the grid's cursor (R30)
  std::int64_t running = 0;      // open attempts
  std::int64_t priority = 0;     // among the studies of its owner (R61)
  std::size_t account = 0;       // of its owner, in Project::ranked
  std::size_t needs = 0;         // its number in State::needs
  Instant since{};               // its last lease, or when it began to run
  bool ending = false;           // EndStudy is proposed: nothing more is leased
  bool paused = false;           // nothing more is leased for now (R53)
  bool stopped = false;          // by an administrator: nothing is leased, and nothing runs (R67)
  bool awaits_approval = false;  // nothing more is leased until an administrator agrees (R68)
  int unapproved = 0;            // proposals after which it awaits approval
  bool succeeded = false;        // a trial is complete or pruned
  AlikeFailures failures{};      // of a study that has not succeeded (R56)
  Breaker breaker{};             // devices that fail its trials one after another (R72)
  Repeats repeats{};             // devices that give the same value for all trials (R75)
  storage::ReportedPoints points{};  // whether its trials report points (R74)
  std::unordered_map<std::int64_t, Trial>
      trials;  // if empty and the cursor is at its end, the study has finished (R19)
  std::map<std::uint64_t, TrialNumber> queue;  // trials to issue again, before new ones (R31)
  std::optional<Standing> rank;                // its place in Project::ranked; nullopt: not ranked
  RuntimeStats stats{};                        // of all its attempts
  std::map<std::string, RuntimeStats> class_stats{};  // by class of device
  std::map<std::string, WorkOfClass> work{};          // open attempts by class, without `run_ms`
  std::optional<Asked> asked{};                       // of an ask-and-tell study
  std::optional<DeviceWatch> watch{};                 // set if its webhook wants it
  std::set<std::string> earlier_blobs{};  // of earlier versions of its code, not in its spec
  Millis time_limit_ms = 0;               // the limit that applies now (R68); 0: none
  // How many trials of `queue` a device does not get, because they exclude it (R71, R73).
  std::map<std::string, std::size_t> excluded{};

  // Moves the cursor to the next trial that is not in memory.
  void skip_known() {
    while (trials.contains(next_number)) ++next_number;
  }
  // Returns whether the study is paused, stopped or waits for approval, so that no trial of it is
  // leased for now.
  bool is_held() const { return paused || stopped || awaits_approval || unapproved > 0; }
  // Returns whether a trial waits to be leased.
  bool has_work() const {
    if (ending || is_held()) return false;
    // Without an owner, no trial of an ask-and-tell study is leased (R43).
    if (asked) return asked->owner && (!queue.empty() || !asked->fresh.empty());
    return !queue.empty() || next_number < total;
  }
  // Returns whether a trial waits that this device may get.
  bool has_work_for(const std::string& device) const {
    if (excluded.empty() || !has_work()) return has_work();
    if (asked ? !asked->fresh.empty() : next_number < total) return true;
    const auto found = excluded.find(device);
    return found == excluded.end() || found->second < queue.size();
  }
  // Returns whether the study's owner would ask for another trial (R45).
  bool has_room() const {
    return asked && asked->owner && !ending && !is_held() &&
           asked->waiting < asked->room + asked->uncommitted_asks;
  }
};

// The studies with work and the idle workers of one project.
struct Project {
  StudyOrder ranked;                           // studies with work or room (R31, R61, R70)
  std::int64_t lent_served = 0;                // virtual time of the devices lent to it
  std::map<std::uint64_t, SessionId> idle;     // in the order in which they asked
  std::set<StudyId> owned;                     // ask-and-tell studies whose owner is attached
  std::set<StudyId> watched;                   // studies with a DeviceWatch
  std::map<std::string, BarredDevice> barred;  // from some of its studies (R72)
  bool bars = false;                           // whether a device was barred since the start
  std::set<StudyId> finishing;                 // studies that run and have no trial to lease
  std::set<TrialKey> odd_trials{};             // trials with an `odd_device` (R73)
  bool lacks_device = false;                   // a device has left since they were looked at
  std::uint64_t round = 0;                     // number of the newest round of leases
  std::int64_t running = 0;                    // open attempts
};

// ---- proposals whose outcome is not known yet

struct PendingStudy {
  RequestId request{};
  Study study;
  bool watches_devices = false;  // its webhook wants to know when it has none
};
struct PendingStart {
  AttemptId attempt{};
  SessionId session{};
  int tries = 1;
  std::optional<protocol::ResultAck> ack;  // sent with the lease
};
struct PendingResult {
  SessionId session{};
  std::string device;
  AttemptId attempt{};
  std::int64_t seq = 0;
  bool next = false;
  std::optional<TrialKey> trial;  // set if the attempt was live here; storage knows the others
  std::string device_class;       // set with `trial`, like the next two
  Millis run_ms = 0;
  bool resumed = false;
  // Whether a complete result has reported points (R74). nullopt: not known, or not complete.
  std::optional<bool> reported{};
  std::vector<double> values{};  // of a complete result in a study that is not ask-and-tell
  std::optional<protocol::Failure> failure;
  std::optional<TransitionId> start;  // the lease that was proposed with it
  // The result that an owner is sent (R49); nullopt in a grid.
  std::optional<protocol::TrialResult> result{};
  bool led = false;                              // whether the attempt led its trial (R48)
  std::optional<std::int64_t> from_step{};       // of the checkpoint that it began with
  std::vector<protocol::Point> points_before{};  // of an attempt that did not lead
};
struct PendingAck {
  SessionId session{};
  AttemptId attempt{};
  std::int64_t seq = 0;
};
struct PendingCall {
  SessionId session{};
  protocol::Call call;
};
// Points of an attempt of an ask-and-tell study.
struct PendingPoints {
  SessionId session{};
  AttemptId attempt{};
  std::int64_t seq = 0;
  std::vector<protocol::Point> points;
};
// The report to the owner about the attempt with which a trial failed.
struct Ending {
  std::optional<AttemptId> attempt{};
  std::string device{};
  std::string attrs{};
  std::vector<protocol::Point> points{};
};
struct PendingFail {
  TrialKey trial;
  protocol::Failure failure;
  bool pauses = false;
  Ending ending;
};
struct PendingClaim {
  SessionId session{};
  storage::StudyRow row;
};
struct PendingAsk {
  SessionId session{};
  StudyId study{};
  std::vector<storage::AskedRow> rows;
};
struct PendingConstraints {
  StudyId study{};
};
struct PendingSuggestion {
  StudyId study{};
  std::int64_t question = 0;
};
struct PendingEnd {
  StudyId study{};
  std::optional<RequestId> request;
};
struct PendingPause {
  RequestId request{};
  StudyId study{};
  bool paused = true;
};
struct PendingPriority {
  RequestId request{};
  StudyId study{};
  std::int64_t priority = 0;
};
struct PendingJudgement {
  RequestId request{};
  StudyId study{};
  bool approved = true;
};
struct PendingExtension {
  RequestId request{};
  Study study;  // used if the study is not in memory
  bool awaits_approval = false;
};
struct PendingReject {
  std::optional<RequestId> request{};
  Study study{};                             // used if the study is not in memory
  storage::RejectResults next{};             // the next piece, except where it begins
  std::optional<storage::NoteAudit> note{};  // until a piece has rejected something
  RejectedCounts counts{};                   // of the pieces so far
};
struct PendingReissue {
  RequestId request{};
  Study study;            // used if the study is not in memory
  bool has_code = false;  // other code comes with it (R64)
  bool keeps_checkpoints = true;
  bool awaits_approval = false;
};
using Pending = std::variant<PendingStudy, PendingStart, PendingResult, PendingAck, PendingCall,
                             PendingPoints, PendingFail, PendingEnd, PendingPause, PendingPriority,
                             PendingJudgement, PendingExtension, PendingReissue, PendingReject,
                             PendingClaim, PendingAsk, PendingSuggestion, PendingConstraints>;

struct State {
  State(Settings given, std::function<std::uint64_t()> source)
      : settings(std::move(given)), random(std::move(source)) {}

  Settings settings;
  std::function<std::uint64_t()> random;
  Instant now;
  Effects effects;                       // of the current event
  std::set<StudyId> changed;             // studies that StudyChanged names after the event
  std::set<StudyId> work_changed;        // studies that WorkChanged names after the event
  std::set<std::string> dirty_projects;  // projects with new work since the event began
  bool read_only = true;                 // until Restored
  bool draining = false;
  bool disk_has_room = true;  // whether rows may grow

  std::map<SessionId, Session> sessions;
  std::unordered_map<std::string, Device> devices;
  std::unordered_map<AttemptId, Attempt> attempts;
  std::map<StudyId, Study> studies;
  std::map<std::string, Project> projects;
  Needs needs;  // of all studies
  storage::Rules rules;
  bool lending = false;            // a project lends its idle devices
  std::int64_t lent_time = 0;      // the virtual time of lent devices
  bool lent_by_guarantee = false;  // the last lent device went to a project below its guarantee
  std::unordered_map<std::string, std::int64_t> running_of;  // open attempts by researcher
  std::set<std::pair<Instant, AttemptId>> timers;            // one for each live attempt
  std::set<std::pair<Instant, TrialKey>> back_offs;
  std::map<SessionId, Claim> claims;  // in order of arrival
  std::set<StudyId> owners_to_flush;  // studies whose owners may need a batch after the event
  std::set<std::pair<Instant, StudyId>> silences;  // when calls will have waited too long
  std::set<std::pair<Instant, StudyId>> absences;  // when studies will have had no device too long
  std::unordered_map<TransitionId, Pending> pending;
  std::int64_t queued = 0;  // trials in queues and back-offs
  bool has_barred = false;  // whether a device was barred since the start (R72)
  // Devices revoked since the start. A session whose credential was checked just before the
  // revocation is refused.
  std::unordered_set<std::string> revoked;
  // The devices that are being erased, each with the session, if any, that waits for a lease.
  std::unordered_map<std::string, std::optional<SessionId>> erasing;

  std::uint64_t next_transition = 1;
  std::uint64_t next_order = 1;
  std::int64_t next_study = 1;
  std::int64_t next_attempt = 1;
  std::int64_t next_question = 1;

  // The next functions are in dispatcher.cc.
  TransitionId propose(storage::Transition transition);
  TransitionId propose(storage::Transition transition, Pending what);
  // Proposes the audit entry of a change to this study, in the same batch as the change.
  void propose_note(const std::optional<storage::NoteAudit>& note, StudyId study);
  // Proposes a transition for a session's message. It is pending until its outcome is known.
  TransitionId propose_for(SessionId session, storage::Transition transition, Pending what);
  void send(SessionId session, protocol::ServerMessage message);
  // Returns the data from which the remaining time of a running study is estimated (R63).
  std::optional<StudyWork> work_of(StudyId id);
  // Sends the error with this code. `text` replaces the usual sentence for the code.
  void send_error(SessionId session, std::string_view code, std::optional<AttemptId> attempt,
                  std::optional<std::int64_t> call = {}, std::string_view text = {});
  void revoke(const Attempt& attempt, AttemptId id, protocol::RevokeCode code);
  Millis jitter(Millis base);  // between half of `base` and `base`
  Study* find_study(StudyId id);
  Trial* find_trial(TrialKey key);
  // Returns the attempt if it is open in memory, is committed and belongs to the device.
  Attempt* find_live(AttemptId id, const std::string& device);

  // The next functions are in sessions.cc.
  void on(const SessionOpened& event);
  void on(const SessionClosed& event);
  void on(const DeviceErasing& event);
  void on(const DeviceRevoked& event);
  void on(const DrainStarted& event);
  void on(const RoomChanged& event);
  // Returns whether nothing may be leased now.
  bool leases_nothing() const { return draining || read_only || !disk_has_room; }
  void forget_session(SessionId id);
  // Ends an open attempt that its device has released. Its trial is issued again at once.
  void let_go(AttemptId id, storage::AttemptState state,
              std::optional<protocol::Failure> failure = {});

  // The next functions are in rules.cc.
  void on(const RulesChanged& event);
  void on(const StudyJudged& event);
  void on_outcome(PendingJudgement& what, const storage::Outcome& outcome);
  // Sets the study's fields that follow from the rules of administrators.
  void apply_rules(Study& study);
  // Revokes all attempts of the study. Its trials are issued again when it may run (R67).
  void stop_attempts(const Study& study);
  // Adds `change` to the numbers of running attempts of the study's owner and of its project.
  void count_running(const Study& study, std::int64_t change);
  // Returns whether a ceiling lets no more devices compute the study now (R68).
  bool is_at_ceiling(const std::string& owner, const std::string& project) const;

  // The next functions are in absences.cc.
  void on(const WebhookSet& event);
  // Counts the study's devices from now on. `deviceless` says whether storage has noted that there
  // are none.
  void watch_devices(Study& study, bool deviceless);
  void unwatch_devices(Study& study);
  // Counts a session that opens (1) or closes (-1) for the studies that it may run.
  void count_devices(const Session& session, int change);
  // If the study has devices again, proposes that storage notes this. Starts or ends the wait after
  // which storage notes that the study has no device.
  void judge_devices(Study& study);
  void note_absences();

  // The next functions are in messages.cc.
  void on(const MessageReceived& event);
  void on_message(SessionId id, Session& session, const protocol::Ready& message);
  void on_message(SessionId id, Session& session, const protocol::Heartbeat& message);
  void on_message(SessionId id, Session& session, const protocol::Report& message);
  void on_message(SessionId id, Session& session, const protocol::Call& message);
  void on_message(SessionId id, Session& session, const protocol::TrialResult& message);
  void on_message(SessionId id, Session& session, const protocol::Output& message);
  void on_message(SessionId id, Session& session, const protocol::Release& message);
  // Sends an error and returns true if the attempt belongs to another device.
  bool refuse_foreign(SessionId id, const Session& session, AttemptId attempt,
                      std::optional<std::int64_t> call = {});

  // The next functions are in owners.cc.
  void on(const StudyClaimed& event);
  void on(const OwnerReplied& event);
  void on(const OwnerClosed& event);
  void on_outcome(PendingClaim& what, const storage::Outcome& outcome);
  void on_outcome(PendingAsk& what, const storage::Outcome& outcome);
  void on_outcome(PendingConstraints& what, const storage::Outcome& outcome);
  void tell_owner(SessionId owner, protocol::ServerMessage message);
  void owner_error(SessionId owner, std::string_view code, StudyId study,
                   std::optional<TrialNumber> trial = {});
  void over_quota(SessionId owner, const storage::Excess& excess, StudyId study);
  bool is_owned(StudyId study) const;  // whether it has an owner, or a claim that is proposed
  void propose_claim(SessionId id, Claim& claim);
  // Proposes the oldest claim on standby, if the study has no owner.
  void promote(StudyId study);
  void attach(Study& study, SessionId owner, Claim& claim);
  void detach(Study& study);
  // Refuses every claim of a study that has ended, with this code.
  void end_claims(StudyId study, std::string_view code);
  // Sends the next batch if one is due (R46).
  void flush_owner(StudyId id);
  // Sends all waiting items, even if the owner has not acknowledged the previous batch (R49).
  void send_all_items(StudyId id);
  void send_batch(Study& study, std::int64_t demand);
  void add_item(Study& study, protocol::OwnerCallItem item);

  // The next functions are in curves.cc.
  // Keeps the points that the attempt reported, and queues them for the owner if the attempt is
  // its trial's lead.
  void keep_points(AttemptId id, const std::vector<protocol::Point>& points);
  void queue_points(Study& study, AttemptId id, Attempt& attempt);
  // Makes the trial's oldest open attempt its lead (R48).
  void follow_lead(TrialKey key);
  // Queues everything about the running trials that a new owner must know.
  void queue_running_trials(Study& study);
  void queue_result(const PendingResult& what, const storage::Outcome& outcome);
  void queue_failure(const PendingFail& what, std::int64_t seq);

  // The next functions are in questions.cc.
  void carry(SessionId session, const protocol::Call& call, std::optional<TrialKey> late);
  void carry_suggest(SessionId session, const protocol::Call& call, Study& study, TrialKey key);
  void carry_prune(SessionId session, const protocol::Call& call, Study& study, TrialKey key);
  void ask_owner(Study& study, Question question);
  void ask_again(Study& study, std::int64_t id, std::vector<protocol::Point> points = {});
  static std::vector<protocol::Point> take_newest_points(Study& study, AttemptId attempt);
  void answer(Study& study, const protocol::OwnerAnswer& given);
  void on_outcome(PendingSuggestion& what, const storage::Outcome& outcome);
  // Removes the question, and sends an error with this code to the devices that wait for an answer.
  void refuse_question(Study& study, std::int64_t id, std::string_view code,
                       std::string_view message = {});
  Question take_question(Study& study, std::int64_t id);
  // Forgets the waiting calls of an attempt that has ended.
  void drop_waiters(Study& study, AttemptId id, const Attempt& attempt);
  void refuse_trial(Study& study, TrialKey key);
  void arm_silence(Study& study);
  void break_silences();

  // The next functions are in leasing.cc.
  // Queues the session as idle and leases what work there is. Sends `wait` if it gets no lease.
  void ask(SessionId id, int tries = 1);
  // Does the same as ask() but sends no `wait`. Returns the proposed lease of this session, if any.
  std::optional<TransitionId> seek(SessionId id, int tries = 1);
  // Leases work to idle workers in their order. Returns the proposed lease of `wanted`, if any.
  std::optional<TransitionId> pump(Project& project, std::optional<SessionId> wanted = {});
  // Leases work to a session that the last round did not reach, because it had skipped
  // kMaxPassedOver workers before this one.
  std::optional<TransitionId> start_own(SessionId id);
  // Leases the session a trial of another study, if it has waited long enough for an owner (R45).
  std::optional<TransitionId> start_other(SessionId id);
  void join_queue(Session& session, SessionId id);
  void leave_queue(Session& session, SessionId id);
  bool has_room(const Session& session);  // whether its device may have another attempt (R27)
  // Returns whether the session is idle and counts as demand for the owner of its next study (R45).
  bool awaits_owner(const Session& session);
  // Returns whether the session's last trial belongs to this study and the owner has not been sent
  // the end of that trial yet.
  bool owner_awaits_result(const Session& session, const Study& study);
  // A study for a worker, or null, and how it was chosen.
  struct Chosen {
    Study* study = nullptr;
    Choice how{};
    bool lent = false;  // by the worker's project
    bool lent_by_guarantee = false;
  };
  // Returns the project's next study for this worker (R31, R61, R70). `work_or_room` includes
  // studies without work whose owner has room to ask for more. Studies that have waited too long
  // are served out of turn when the worker `asks`, and not while it waits: then nothing but an
  // event changes the choice.
  enum class Among { work_or_room, work };
  enum class Turn { asks, waits };
  Chosen choose(const std::string& project, const Session& session, Turn turn,
                Among among = Among::work_or_room);
  // Starts the study's next trial on the worker, which leaves the queue of idle workers.
  TransitionId start(const Chosen& chosen, SessionId id, Session& session);
  TransitionId start_attempt(const Chosen& chosen, TrialKey key, protocol::AttemptKind kind,
                             SessionId id, Session& session);
  protocol::Lease lease_of(AttemptId id, const Attempt& attempt);
  protocol::WaitReason wait_reason(const Session& session);
  void rank(Study& study);

  // The next functions are in shares.cc (R70).
  // Charges the study's owner for an attempt that starts now. A lent device also counts for the
  // project.
  void charge(const Chosen& chosen, Attempt& attempt);
  // Charges for an attempt that was running before a restart.
  void charge_restored(Study& study, Attempt& attempt);
  // Charges for an attempt that still runs when its time is used up.
  void charge_more(Attempt& attempt);
  // Gives back what an attempt that ends now has not used, or charges what it used since its last
  // message.
  void settle(Study& study, const Attempt& attempt);
  // Adds to what the owner of the study has been served. Idle workers may now count as demand for
  // other owners.
  void add_served(Study& study, bool lent, Millis device_ms);
  std::int64_t lent_weight(const std::string& project) const;
  // Notes in all projects whether the researcher has fewer devices than guaranteed.
  void note_guarantee(const std::string& owner);
  bool is_below_guarantee(const std::string& owner) const;
  void apply_shares();  // after a change of the rules
  // Returns the next study of another project for an idle worker whose own project has none and
  // lends it.
  Chosen choose_lent(const Session& session, Turn turn);
  std::optional<TransitionId> start_lent(SessionId id);
  // Leases trials of other projects to idle workers whose projects lend them.
  void lend();
  // Returns whether a worker waits that may get work of the project.
  bool has_idle(const Project& project) const { return !project.idle.empty() || lending; }

  // The next functions are in speculative_attempts.cc.
  // Leases a speculative attempt to an idle worker without other work, if this saves time (R36).
  std::optional<TransitionId> start_speculative(SessionId id);
  std::optional<TrialKey> choose_speculative(const Session& session) const;
  bool may_duplicate(const Trial& trial, const Session& session) const;
  Millis remaining(const Attempt& attempt, Millis expected) const;

  // The next functions are in attempts.cc.
  // Adds an attempt that is not committed yet. Its time limits count from now. Call rank()
  // afterwards. REQUIRES: the trial is in memory.
  Attempt& add_attempt(AttemptId id, Study& study, TrialKey key, const std::string& device,
                       const std::string& device_class);
  // Counts the attempt among those that run on its class of devices (`sign` 1), or no longer (-1)
  // (R63). The attempt's time of lease must be the same in both calls.
  void count_work(Study& study, const Attempt& attempt, int sign);
  // Removes the attempt from memory. Call requeue() for its trial, which may have no attempt left.
  void drop_attempt(AttemptId id);
  // Ends a live attempt with this failure, which counts by its cause (R18).
  void fail_attempt(AttemptId id, storage::AttemptState state, protocol::Failure failure);
  // Counts a failure. Fails the trial if its budget is spent, else issues it again.
  void count_failure(TrialKey key, const std::string& device, const protocol::Failure& failure,
                     Ending ending = {});
  // Proposes that the trial has failed. The same transition may pause the study (R56).
  void fail_trial(TrialKey key, const protocol::Failure& failure, Ending ending = {});
  // Issues the trial again after `delay`, unless it has an open attempt, is already queued or is
  // failing.
  void requeue(TrialKey key, Millis delay);
  void enqueue(Study& study, TrialNumber number, Trial& trial);
  // Removes the trial from the study's queue. REQUIRES: it is in the queue.
  void dequeue(Study& study, Trial& trial);
  void take_from_queue(Study& study, Trial& trial, TrialKey key);
  // Removes a trial whose outcome is in storage.
  void finish_trial(TrialKey key);
  void forget_trial(Study& study, TrialKey key, protocol::RevokeCode code);

  // The next functions are in clock.cc.
  void on(const Tick& event);
  // Renews the lease of an attempt after a message of its device that names it (R20).
  void touch(AttemptId id, Attempt& attempt);
  // Renews the lease after a message that only a running objective can cause.
  void touch_running(AttemptId id, Attempt& attempt);
  Instant deadline(const Attempt& attempt);
  void arm(AttemptId id, Attempt& attempt);
  void disarm(AttemptId id, Attempt& attempt);
  // Returns how long an attempt that ended at `end` loaded and ran, according to its heartbeats.
  static protocol::RunMetrics times_of(const Attempt& attempt, Instant end);
  void overdue(AttemptId id, Attempt& attempt);
  // Returns the measured durations of the attempt's study on its class of devices.
  RuntimeStats& stats_of(const Attempt& attempt);

  // The next functions are in outcomes.cc.
  void on(const BatchCommitted& event);
  void on(const BatchFailed& event);
  // Empties memory, so it is as before the first Restored. Closes the sessions and refuses open
  // requests.
  void reset();
  void on_outcome(PendingStudy& what, const storage::Outcome& outcome);
  void on_outcome(PendingStart& what, const storage::Outcome& outcome);
  void on_outcome(PendingResult& what, const storage::Outcome& outcome);
  void on_outcome(PendingAck& what, const storage::Outcome& outcome);
  void on_outcome(PendingCall& what, const storage::Outcome& outcome);
  void on_outcome(PendingPoints& what, const storage::Outcome& outcome);
  void on_outcome(PendingFail& what, const storage::Outcome& outcome);
  void on_outcome(PendingEnd& what, const storage::Outcome& outcome);
  void on_outcome(PendingPause& what, const storage::Outcome& outcome);
  void on_outcome(PendingPriority& what, const storage::Outcome& outcome);
  void on_outcome(PendingExtension& what, const storage::Outcome& outcome);
  void on_outcome(PendingReissue& what, const storage::Outcome& outcome);
  void apply_result(const PendingResult& what, const storage::Outcome& outcome);
  // Call it when a trial of this study has ended: the worker that ran the trial counts as demand
  // again (R45).
  void recount_demand(StudyId id);

  // The next functions are in rejections.cc (R71).
  void on(const StudyRejectRequested& event);
  void on_outcome(PendingReject& what, const storage::Outcome& outcome);
  // Proposes the next piece of a rejection, which begins with this trial.
  void propose_rejection(PendingReject what, TrialNumber from);
  // Revokes the running attempts that are selected by their device or trial.
  void revoke_selected(StudyId id, const storage::Selection& which);
  // Revokes a running attempt that is rejected.
  void revoke_rejected(AttemptId id);
  void apply_rejection(PendingReject& what, const storage::Outcome& outcome);
  void apply_rejection(Study& study, const storage::RejectedTrial& rejected);
  // Sends the owner of an ask-and-tell study the trials that lost their results.
  void queue_rejections(const PendingReject& what, const storage::Rejected& rejected);
  // Lets the device get no lease of the trial any more.
  void exclude(Study& study, Trial& trial, const std::string& device);
  // Counts in `excluded` that the trial is in the queue (`sign` 1), or is not any more (-1).
  static void count_excluded(Study& study, const Trial& trial, int sign);
  // Counts the attempts of a trial that was not in memory. Returns the trial's failure if they have
  // spent a budget.
  static std::optional<protocol::Failure> count_attempts(
      Trial& trial, const std::vector<storage::AttemptRow>& attempts);

  // The next functions are in trust/breakers.cc (R72).
  // Returns whether the device has failed so many trials of the study in a row, or has given the
  // same value for so many (R75), that it is barred while other devices are there. A bar that is
  // over counts when the device asks: until then, nothing but an event changes what a waiting
  // device may get.
  bool is_barred(const Study& study, const std::string& device, Turn turn) const;
  bool has_long_row(const Study& study, const std::string& device) const;
  // Returns whether another device is connected that may run the study and is not barred.
  bool has_other_device(const Study& study, const std::string& device) const;
  // Call it when a device of the project leaves, or cannot run a study any more: it may have been
  // the only other one.
  void note_missing_device(const std::string& project);
  // Counts a failure that the device has reported, or a limit of time that it has exceeded. Call it
  // when the attempt ends, before the next lease.
  void count_in_row(Study& study, TrialNumber trial, const std::string& device,
                    protocol::Cause cause);
  // If the device is barred from the project, extends its bar.
  void bar_everywhere(Study& study, const std::string& device);
  void bar_everywhere(BarredDevice& device);
  // Notes that the device has computed a trial to its end.
  void end_rows(Study& study, const std::string& device);
  void end_row(Study& study, const std::string& device);
  // Call these when the failure, or the accepted result, of the trial is stored. They find out
  // whether the failures of a barred device are its own, and reject them if so.
  void judge_failure(TrialKey key, const std::string& device);
  void judge_success(Study& study, TrialNumber trial, const std::string& device);
  // Issues trials again that the device has failed.
  void probe_row(Study& study, const std::string& device, FailureRow& row);

  // The next functions are in trust/repeats.cc (R75).
  // Counts the values of a complete result. Call it when the attempt ends, before the next lease.
  void count_values(Study& study, const std::string& device, const std::vector<double>& values);
  // Call it when such a result is accepted, before its trial is forgotten. Issues trials again that
  // barred devices have computed, and compares what two devices have given for one trial.
  void judge_values(Study& study, TrialNumber trial, const std::string& device,
                    const std::vector<double>& values);
  // Doubts these values no more.
  void believe_values(Study& study, const std::vector<double>& values);
  // Call it when a trial has ended without a value that could be compared.
  static void end_probe(Study& study, TrialNumber trial);
  void probe_values(Study& study, const std::string& device);

  // The next functions are in trust/odd_values.cc (R73).
  // Lets the device get no lease of the trial while another device may run the study. Empty: lets
  // all devices get it again, except for the rejected ones.
  void set_odd_device(Study& study, TrialKey key, Trial& trial, const std::string& device);
  // Ends that for the trials of the project that no other device may run any more.
  void lift_odd_devices(Project& project);

  // The next functions are in trust/points.cc (R74).
  // Makes a result a failure if its attempt has reported no point, although all others of the study
  // have. `reported`: whether it has.
  void check_points(const Attempt& attempt, std::optional<bool> reported,
                    protocol::TrialResult& result);
  // Call it when a result is accepted, before its trial is forgotten.
  void learn_points(Study& study, const PendingResult& what);

  // The next functions are in studies.cc.
  void on(const StudySubmitted& event);
  void on(const StudyCancelRequested& event);
  void on(const StudyPauseRequested& event);
  void set_paused(Study& study, bool paused);
  // Returns whether a pause of the study has no outcome yet. Until then a resume must not lease.
  bool pause_pending(StudyId id) const;
  void on(const StudyPriorityRequested& event);
  void on(const StudyReissueRequested& event);
  void on(const StudyExtendRequested& event);
  // Returns a study with the row's fields, but without trials, as if all their numbers had been
  // leased.
  static Study from_row(const storage::StudyRow& row);
  void on(const CheckpointStored& event);
  void on(const ArtifactStored& event);
  void on(const Restored& event);
  void restore_study(const storage::RunningStudy& stored);
  // `code`: the newest version of the study's code.
  void restore_trial(Study& study, std::int64_t code, const storage::RunningTrial& stored);
  void end_if_finished(Study& study);
  // Forgets the checkpoints of a study that has got other code (R64).
  void drop_checkpoints(Study& study);
  // Returns whether a reissue, a rejection or an extension of the study has no outcome yet. Until
  // then the study must not end.
  bool reissue_pending(StudyId id) const;
  // Removes a study that has ended in storage, and revokes its attempts.
  void drop_study(StudyId id);
  void open_study(Study study);
};

// Returns the failure of an attempt that an administrator has stopped. It counts against no budget.
protocol::Failure operator_stopped();
Error unavailable();    // storage cannot write
Error unknown_study();  // no study has this number

// Returns a sentence that explains the code to people.
std::string_view revoke_text(protocol::RevokeCode code);

}  // namespace hyperflock::dispatch
