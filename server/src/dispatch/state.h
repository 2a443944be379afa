// What the dispatcher knows between events, and the steps that its files share. Private to
// dispatch/; one owner, as dispatcher.h says.
//
// How it keeps its promises. Transitions are proposed in the order in which things happened, and
// storage judges them in that order. So memory is changed at once when a transition is proposed, as
// if it held; nothing that depends on it leaves before its outcome is in. A batch that fails takes
// everything with it: all sessions are closed, memory is emptied, and Restored fills it again from
// storage.
#pragma once

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

#include "dispatch/asked.h"
#include "dispatch/dispatcher.h"
#include "dispatch/pace.h"

namespace hyperflock::dispatch {

inline constexpr std::size_t kCauses = 7;
// Attempts that a trial may lose to each cause (R18), in the order of protocol::Cause; 0: no limit.
inline constexpr std::array<int, kCauses> kBudget{20, 1, 2, 3, 1, 1, 0};
// A trial that was lost with so many different devices is poison (R18).
inline constexpr std::size_t kPoisonDevices = 3;

// Proposals of one session that have no outcome yet; a further message is `rate_limited`.
inline constexpr int kMaxPending = 64;
// Studies that a session said it cannot run; the oldest is forgotten beyond.
inline constexpr std::size_t kMaxRefusedStudies = 64;
// Idle workers that one round passes over because nothing there is for them: who stands behind them
// is served when it asks itself, at once or after its wait.
inline constexpr int kMaxPassedOver = 64;
// Attempt ids tried for one lease before the worker is told to wait.
inline constexpr int kMaxLeaseTries = 3;

struct Session {
  std::string device;
  std::string project;
  protocol::Capabilities capabilities;
  std::uint64_t idle_order = 0;     // place in the project's queue of idle workers; 0: not idle
  Instant idle_since{};             // of one in that queue
  int pending = 0;                  // proposals without an outcome
  std::vector<StudyId> cannot_run;  // oldest first
  std::uint64_t awaits = 0;         // the round in which it became an owner's demand (R45)
  std::optional<TrialKey> last{};   // of its last result

  // Gives it nothing more of the study.
  void refuse(StudyId study);
};

// Exists while it has a session or an open attempt.
struct Device {
  std::optional<SessionId> session;
  std::vector<AttemptId> open;  // proposed and live ones
};

// An attempt from its proposal to its end; it has left memory when its result is proposed.
struct Attempt {
  TrialKey trial;
  protocol::AttemptKind kind = protocol::AttemptKind::primary;
  std::string device;
  std::string device_class;
  std::optional<protocol::Checkpoint> from;  // what it began with (R37)
  bool committed = false;
  // Set while the proposal is under way and the attempt is no longer wanted: its state as soon as
  // it is committed.
  std::optional<storage::AttemptState> doom;
  Instant seen;                  // last message of its device that names it (R20)
  Instant loading_since;         // when it was leased, or restored
  std::optional<Instant> began;  // when its objective was first known to run (R23)
  Instant progressed;            // when `progress` last moved, or running began
  std::int64_t progress = 0;
  Millis patience_ms = kMostPatienceMs;  // with no progress, as known when it was last heard of
  protocol::PulseState pulse = protocol::PulseState::loading;
  std::optional<Instant> timer;  // its entry in State::timers, at or before its deadline
  // These of an asked study only: the newest points, how many of them its owner was told, and the
  // questions that it waits for.
  std::vector<protocol::Point> points{};
  std::size_t told = 0;
  std::vector<std::int64_t> questions{};
};

// A trial that has been leased and is not finished.
struct Trial {
  std::array<int, kCauses> failures{};
  std::vector<std::string> lost_with;              // different devices; at most kPoisonDevices
  std::vector<AttemptId> open;                     // proposed and live attempts
  std::uint64_t queue_order = 0;                   // place in the study's queue; 0: not queued
  std::optional<Instant> due;                      // end of its back-off
  bool failing = false;                            // FailTrial is proposed
  int storing = 0;                                 // results that are proposed
  bool doubled = false;                            // it had its duplicate (R36)
  std::optional<protocol::Checkpoint> checkpoint;  // the newest (R37)
  std::optional<AskedPart> asked{};                // of an asked study
};

struct Study {
  StudyId id{};
  std::string owner;
  std::string project;
  protocol::StudySpec spec;
  std::int64_t total = 0;
  std::int64_t next_number = 0;  // the grid's cursor (R30)
  std::int64_t running = 0;      // open attempts
  bool ending = false;           // EndStudy is proposed: nothing more is leased
  bool paused = false;           // nothing more is leased for now (R53)
  std::unordered_map<std::int64_t, Trial>
      trials;  // none left and the cursor at its end: finished (R19)
  std::map<std::uint64_t, TrialNumber> queue;  // to be issued again, before new ones (R31)
  std::optional<std::int64_t> rank;     // `running` as Project::ranked has it; nothing: not there
  Pace pace{};                          // of all its runs
  std::map<std::string, Pace> paces{};  // by class of device
  std::optional<Asked> asked{};         // of an asked study

  // Moves the cursor to the next trial that is not in memory.
  void skip_known() {
    while (trials.contains(next_number)) ++next_number;
  }
  // A trial waits to be leased.
  bool has_work() const {
    if (ending || paused) return false;
    if (asked) return asked->owner && (!queue.empty() || !asked->fresh.empty());  // R43
    return !queue.empty() || next_number < total;
  }
  // Its owner would ask for another one (R45).
  bool has_room() const {
    return asked && asked->owner && !ending && !paused &&
           asked->waiting < asked->room + asked->asking;
  }
};

// Where work and workers of one project meet.
struct Project {
  std::set<std::pair<std::int64_t, StudyId>>
      ranked;  // studies with work or room: fewest running, then oldest (R31)
  std::map<std::uint64_t, SessionId> idle;  // in the order in which they asked
  std::set<StudyId> owned;                  // asked studies whose owner is attached
  std::uint64_t round = 0;                  // of giving work to those who are idle
};

// ---- what waits for an outcome

struct PendingStudy {
  RequestId request{};
  Study study;
};
struct PendingStart {
  AttemptId attempt{};
  SessionId session{};
  int tries = 1;
  std::optional<protocol::ResultAck> ack;  // goes out with the lease
};
struct PendingResult {
  SessionId session{};
  std::string device;
  AttemptId attempt{};
  std::int64_t seq = 0;
  bool next = false;
  std::optional<TrialKey> trial;  // of an attempt that was live here; else storage knows
  std::string device_class;       // these of such an attempt, too
  Millis run_ms = 0;
  bool resumed = false;
  std::optional<protocol::Failure> failure;
  std::optional<TransitionId> start;  // the lease chosen with it
  // What an owner is told (R49); nothing where the study is a grid.
  std::optional<protocol::TrialResult> result{};
  bool led = false;                              // the attempt was its trial's lead
  std::optional<std::int64_t> from_step{};       // of the checkpoint that it began with
  std::vector<protocol::Point> points_before{};  // of one that was not the lead
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
// Points of an attempt of an asked study.
struct PendingPoints {
  SessionId session{};
  AttemptId attempt{};
  std::int64_t seq = 0;
  std::vector<protocol::Point> points;
};
// The attempt that spent a trial's budget, as its owner is told.
struct Ending {
  std::optional<AttemptId> attempt{};
  std::string device{};
  std::string attrs{};
  std::vector<protocol::Point> points{};
};
struct PendingFail {
  TrialKey trial;
  protocol::Failure failure;
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
struct PendingReplay {
  RequestId request{};
  Study study;  // as it is where it is not in memory
};
using Pending = std::variant<PendingStudy, PendingStart, PendingResult, PendingAck, PendingCall,
                             PendingPoints, PendingFail, PendingEnd, PendingPause, PendingReplay,
                             PendingClaim, PendingAsk, PendingSuggestion>;

struct State {
  State(Settings given, std::function<std::uint64_t()> source)
      : settings(std::move(given)), random(std::move(source)) {}

  Settings settings;
  std::function<std::uint64_t()> random;
  Instant now;
  Effects effects;                // of the event in hand
  std::set<StudyId> changed;      // studies to be named by StudyChanged when the event is done
  std::set<std::string> stirred;  // projects where work appeared by the event
  bool read_only = true;          // until Restored
  bool draining = false;

  std::map<SessionId, Session> sessions;
  std::unordered_map<std::string, Device> devices;
  std::unordered_map<AttemptId, Attempt> attempts;
  std::map<StudyId, Study> studies;
  std::map<std::string, Project> projects;
  std::set<std::pair<Instant, AttemptId>> timers;  // every live attempt has one
  std::set<std::pair<Instant, TrialKey>> back_offs;
  std::map<SessionId, Claim> claims;  // in the order in which they came
  std::set<StudyId> owed;             // owners that may have to be told something after the event
  std::set<std::pair<Instant, StudyId>> silences;  // calls that have waited for an owner too long
  std::unordered_map<TransitionId, Pending> pending;
  std::int64_t queued = 0;  // trials in queues and back-offs
  // Revoked while this server runs: a session whose credential was checked just before is refused.
  std::unordered_set<std::string> revoked;
  // Devices whose erasure is under way, each with its session that waits for a lease.
  std::unordered_map<std::string, std::optional<SessionId>> erasing;

  std::uint64_t next_transition = 1;
  std::uint64_t next_order = 1;
  std::int64_t next_study = 1;
  std::int64_t next_attempt = 1;
  std::int64_t next_question = 1;

  // dispatcher.cc: small tools
  TransitionId propose(storage::Transition transition);
  TransitionId propose(storage::Transition transition, Pending what);
  // Proposes the audit entry of a change to this study, next to the change.
  void propose_note(const std::optional<storage::NoteAudit>& note, StudyId study);
  // Proposes for a session's message; counted until the outcome is in.
  TransitionId propose_for(SessionId session, storage::Transition transition, Pending what);
  void send(SessionId session, protocol::ServerMessage message);
  // `text` in place of the code's own sentence.
  void send_error(SessionId session, std::string_view code, std::optional<AttemptId> attempt,
                  std::optional<std::int64_t> call = {}, std::string_view text = {});
  void revoke(const Attempt& attempt, AttemptId id, protocol::RevokeCode code);
  Millis jitter(Millis base);  // between a half and the whole of it
  Study* find_study(StudyId id);
  Trial* find_trial(TrialKey key);
  // The attempt, if it is open here, committed and the device's.
  Attempt* find_live(AttemptId id, const std::string& device);

  // sessions.cc
  void on(const SessionOpened& event);
  void on(const SessionClosed& event);
  void on(const DeviceErasing& event);
  void on(const DeviceRevoked& event);
  void on(const DrainStarted& event);
  void forget_session(SessionId id);
  // Ends an open attempt because its device lets it go; its trial is issued again at once.
  void let_go(AttemptId id, storage::AttemptState state);

  // messages.cc
  void on(const MessageReceived& event);
  void on_message(SessionId id, Session& session, const protocol::Ready& message);
  void on_message(SessionId id, Session& session, const protocol::Heartbeat& message);
  void on_message(SessionId id, Session& session, const protocol::Report& message);
  void on_message(SessionId id, Session& session, const protocol::Call& message);
  void on_message(SessionId id, Session& session, const protocol::TrialResult& message);
  void on_message(SessionId id, Session& session, const protocol::Output& message);
  void on_message(SessionId id, Session& session, const protocol::Release& message);
  // True (and an error is sent) for an attempt that is another device's.
  bool refuse_foreign(SessionId id, const Session& session, AttemptId attempt,
                      std::optional<std::int64_t> call = {});

  // owners.cc
  void on(const StudyClaimed& event);
  void on(const OwnerReplied& event);
  void on(const OwnerClosed& event);
  void on_outcome(PendingClaim& what, const storage::Outcome& outcome);
  void on_outcome(PendingAsk& what, const storage::Outcome& outcome);
  void tell_owner(SessionId owner, protocol::ServerMessage message);
  void owner_error(SessionId owner, std::string_view code, StudyId study,
                   std::optional<TrialNumber> trial = {});
  void over_quota(SessionId owner, const storage::Excess& excess, StudyId study);
  bool is_owned(StudyId study) const;  // or is about to be
  void propose_claim(SessionId id, Claim& claim);
  // The first claim that stands by, where nobody owns the study.
  void promote(StudyId study);
  void attach(Study& study, SessionId owner, Claim& claim);
  void detach(Study& study);
  // Ends every claim of a study that is over.
  void end_claims(StudyId study, std::string_view code);
  // Sends the next batch, where one is due (R46).
  void flush_owner(StudyId id);
  // All that waits to be told, also to an owner that has not taken in the batch before (R49).
  void tell_rest(StudyId id);
  void send_batch(Study& study, std::int64_t demand);
  void add_item(Study& study, protocol::OwnerCallItem item);

  // curves.cc
  // Keeps what the attempt reported, and tells it where it leads.
  void keep_points(AttemptId id, const std::vector<protocol::Point>& points);
  void tell_points(Study& study, AttemptId id, Attempt& attempt);
  // The oldest open attempt of the trial is its lead from now on (R48).
  void follow_lead(TrialKey key);
  // All that an owner must know of the trials that run.
  void tell_all(Study& study);
  void tell_finished(const PendingResult& what, const storage::Outcome& outcome);
  void tell_failed(const PendingFail& what, std::int64_t seq);

  // questions.cc
  void carry(SessionId session, const protocol::Call& call, std::optional<TrialKey> late);
  void carry_suggest(SessionId session, const protocol::Call& call, Study& study, TrialKey key);
  void carry_prune(SessionId session, const protocol::Call& call, Study& study, TrialKey key);
  void ask_owner(Study& study, Question question);
  void ask_again(Study& study, std::int64_t id, std::vector<protocol::Point> points = {});
  static std::vector<protocol::Point> take_newest_points(Study& study, AttemptId attempt);
  void answer(Study& study, const protocol::OwnerAnswer& given);
  void on_outcome(PendingSuggestion& what, const storage::Outcome& outcome);
  // Takes the question away; its waiters hear the code.
  void refuse_question(Study& study, std::int64_t id, std::string_view code,
                       std::string_view message = {});
  Question take_question(Study& study, std::int64_t id);
  // The attempt is over: it waits for nothing more.
  void drop_waiters(Study& study, AttemptId id, const Attempt& attempt);
  void refuse_trial(Study& study, TrialKey key);
  void arm_silence(Study& study);
  void break_silences();

  // leasing.cc
  // Queues the session for work and hands out what there is; `wait` follows where nothing was
  // found.
  void ask(SessionId id, int tries = 1);
  // The same without a `wait`. The proposal, if there is one for this session.
  std::optional<TransitionId> seek(SessionId id, int tries = 1);
  // Gives work to idle workers, first come first served. The proposal for `wanted`, if it got one.
  std::optional<TransitionId> pump(Project& project, std::optional<SessionId> wanted = {});
  // Serves the session itself, where more workers for whom there is nothing stand before it than a
  // round passes over.
  std::optional<TransitionId> start_own(const Project& project, SessionId id);
  // Serves the session from another study, where it has waited long enough for an owner (R45).
  std::optional<TransitionId> start_other(const Project& project, SessionId id);
  void join_queue(Session& session, SessionId id);
  void leave_queue(Session& session, SessionId id);
  bool has_room(const Session& session);  // R27
  // It is idle, and the owner of the study that is next for it is told so.
  bool awaits_owner(const Session& session);
  // Whether its last trial was this study's and the owner has not heard how that ended.
  bool is_untold(const Session& session, const Study& study);
  // The study that is next for this worker (R31), of those with work or of those, too, whose owner
  // has room to ask; null where none matches.
  enum class Among { work_or_room, work };
  Study* choose(const Project& project, const Session& session, Among among = Among::work_or_room);
  TransitionId start(Study& study, SessionId id, Session& session);
  TransitionId start_attempt(Study& study, TrialKey key, protocol::AttemptKind kind, SessionId id,
                             Session& session);
  protocol::Lease lease_of(AttemptId id, const Attempt& attempt);
  protocol::WaitReason wait_reason(const Session& session);
  void rank(Study& study);

  // tail.cc
  // Gives an idle worker for whom there is nothing else a duplicate, where one is worth it (R36).
  std::optional<TransitionId> start_tail(SessionId id);
  std::optional<TrialKey> choose_tail(const Session& session) const;
  bool may_double(const Trial& trial, const Session& session) const;
  Millis remaining(const Attempt& attempt, Millis expected) const;

  // attempts.cc
  // Takes an attempt into memory, its clocks starting now; not yet committed. rank() the study.
  // REQUIRES: the study knows the trial.
  Attempt& add_attempt(AttemptId id, Study& study, TrialKey key, const std::string& device,
                       const std::string& device_class);
  // Takes the attempt out of memory. Its trial may be left without any: settle() it.
  void drop_attempt(AttemptId id);
  // Ends a live attempt by a cause (R18).
  void fail_attempt(AttemptId id, storage::AttemptState state, protocol::Failure failure);
  // Counts a failure; fails the trial when its budget is spent, else has it issued again.
  void count_failure(TrialKey key, const std::string& device, const protocol::Failure& failure,
                     Ending ending = {});
  // Issues the trial again after `delay`, unless an attempt is open, it waits already or it is
  // failing.
  void settle(TrialKey key, Millis delay);
  void enqueue(Study& study, TrialNumber number, Trial& trial);
  void take_from_queue(Study& study, Trial& trial, TrialKey key);
  // The trial has its outcome in storage: no trace is left here.
  void finish_trial(TrialKey key);
  void forget_trial(Study& study, TrialKey key, protocol::RevokeCode code);

  // clock.cc
  void on(const Tick& event);
  // The attempt was named by its device: its lease is renewed (R20).
  void touch(AttemptId id, Attempt& attempt);
  // The same, by a message that only a running objective causes.
  void touch_running(AttemptId id, Attempt& attempt);
  Instant deadline(const Attempt& attempt);
  void arm(AttemptId id, Attempt& attempt);
  void disarm(AttemptId id, Attempt& attempt);
  void overdue(AttemptId id, Attempt& attempt);
  // What the attempt's study knows about its class of devices.
  Pace& pace_of(const Attempt& attempt);

  // outcomes.cc
  void on(const BatchCommitted& event);
  void on(const BatchFailed& event);
  // Memory as it was before the first Restored; sessions are closed, requests answered.
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
  void on_outcome(PendingReplay& what, const storage::Outcome& outcome);
  void settle_result(const PendingResult& what, const storage::Outcome& outcome);
  // Who had a trial of the study that has ended is demand from now on (R45).
  void recount_demand(StudyId id);

  // studies.cc
  void on(const StudySubmitted& event);
  void on(const StudyCancelRequested& event);
  void on(const StudyPauseRequested& event);
  void set_paused(Study& study, bool paused);
  // A pause of the study has no outcome yet: a resume before it leases nothing.
  bool pause_pending(StudyId id) const;
  void on(const StudyReplayRequested& event);
  void on(const CheckpointStored& event);
  void on(const ArtifactStored& event);
  void on(const Restored& event);
  void restore_study(const storage::RunningStudy& stored);
  void restore_trial(Study& study, const storage::RunningTrial& stored);
  void end_if_finished(Study& study);
  // ReplayTrials of the study has no outcome yet: it must not end by itself.
  bool replay_pending(StudyId id) const;
  // The study is over in storage: its attempts are revoked and it leaves memory.
  void drop_study(StudyId id);
  void open_study(Study study);
};

// Counts a failed attempt against what its trial may lose (R18). What the trial fails with, where
// that was the last one.
std::optional<protocol::Failure> spend(Trial& trial, const std::string& device,
                                       const protocol::Failure& failure);

// One sentence for people, by code.
std::string_view revoke_text(protocol::RevokeCode code);

}  // namespace hyperflock::dispatch
