#include "hub/hub.h"

#include <algorithm>
#include <atomic>
#include <boost/asio/post.hpp>
#include <chrono>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/steady_clock.h"
#include "hub/answer_times.h"
#include "hub/backoff.h"
#include "hub/device_collection.h"
#include "hub/executor.h"
#include "hub/group_commit.h"
#include "hub/inbox.h"
#include "hub/overloaded.h"
#include "hub/piecework.h"
#include "hub/token_sessions.h"
#include "hub/watchers.h"
#include "protocol/codec.h"
#include "storage/reserve.h"
#include "telemetry/log.h"

namespace hyperflock::hub {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;
using storage::Applied;

class StrandHub final : public Hub {
 public:
  StrandHub(asio::io_context& io, storage::Storage& storage, ReaderPool& readers,
            OutputBook& outputs, telemetry::Metrics& metrics, const HubSettings& settings)
      : settings_(settings),
        storage_(storage),
        readers_(readers),
        outputs_(outputs),
        metrics_(metrics),
        strand_(asio::make_strand(io)),
        tick_(strand_),
        reload_(strand_),
        piecework_(
            strand_,
            [this](storage::Transition piece, Committed done) {
              commit_then({std::move(piece)}, std::move(done), [this](const auto& outcome) {
                if (outcome.study) watchers_.wake(*outcome.study);  // its best trials may differ
              });
            },
            [this](Task next) { push(std::move(next)); }),
        backoff_(settings.first_reload_ms, settings.longest_reload_ms),
        dispatcher_(settings.dispatch, std::mt19937_64(std::random_device{}())),
        budget_(settings.device),
        read_only_(settings.disk.starts_full),
        full_(settings.disk.starts_full),
        writer_(
            storage, metrics, settings.batch_limit,
            [this](CommitDone done) { push(std::move(done)); }, settings.disk, settings.tracer) {}

  ~StrandHub() override { stop(); }

  void restore(storage::Snapshot snapshot) override {
    if (snapshot.unswept) push(Task([this] { piecework_.begin(); }));
    if (full_) return push(Task([this] { schedule_reload(); }));
    push(dispatch::Event(dispatch::Restored{std::move(snapshot)}));
  }

  void set_room(bool has_room) override { push(dispatch::Event(dispatch::RoomChanged{has_room})); }

  void drain(std::function<void()> quiet) override {
    push(Task([this, quiet = std::move(quiet)]() mutable {
      draining_ = true;
      quiet_ = std::move(quiet);
      piecework_.stop();
      handle(dispatch::DrainStarted{});
    }));
  }

  void stop() override { writer_.stop(); }

  SessionId next_session() override { return SessionId{++last_session_}; }

  void open(dispatch::SessionOpened event, std::shared_ptr<Peer> peer) override {
    push(Opening{std::move(event), std::move(peer)});
  }

  void message(SessionId session, protocol::ClientMessage message) override {
    push(dispatch::Event(dispatch::MessageReceived{session, std::move(message)}));
  }

  void closed(SessionId session, dispatch::SessionClosed::How how) override {
    push(dispatch::Event(dispatch::SessionClosed{session, how}));
  }

  std::size_t sessions() const override { return open_sessions_; }

  void leave(std::string device, SessionId session) override {
    push(Task([this, device = std::move(device), session] {
      const auto found = peers_.find(session);
      if (found == peers_.end() || found->second.device != device) return;
      handle(dispatch::SessionClosed{session, dispatch::SessionClosed::How::clean});
      found->second.peer->close(kCloseClean, "left");
    }));
  }

  void claim(dispatch::StudyClaimed event, std::shared_ptr<Peer> peer) override {
    push(Claiming{std::move(event), std::move(peer)});
  }

  void owner_reply(SessionId session, protocol::OwnerReply reply) override {
    push(dispatch::Event(dispatch::OwnerReplied{session, std::move(reply)}));
  }

  void owner_closed(SessionId session) override {
    push(dispatch::Event(dispatch::OwnerClosed{session}));
  }

  bool is_owned(StudyId study) const override {
    const std::lock_guard lock(owned_mutex_);
    return owned_.contains(study);
  }

  dispatch::Estimate estimate(StudyId study, std::int64_t open_trials) const override {
    dispatch::StudyWork work;
    {
      const std::lock_guard lock(work_mutex_);
      if (const auto found = work_.find(study); found != work_.end()) work = found->second;
    }
    return dispatch::estimate(work, open_trials, steady_now());
  }

  void watch(StudyId study, std::weak_ptr<Watcher> watcher) override {
    push(Task([this, study, watcher = std::move(watcher)] { watchers_.add(study, watcher); }));
  }

  void watch_output(StudyId study, std::weak_ptr<Watcher> watcher) override {
    push(Task(
        [this, study, watcher = std::move(watcher)] { output_watchers_.add(study, watcher); }));
  }

  void attend(std::int64_t token, std::weak_ptr<Peer> peer) override {
    push(Task([this, token, peer = std::move(peer)] { token_sessions_.add(token, peer); }));
  }

  void end_sessions(std::vector<std::int64_t> tokens, Sessions why) override {
    push(Task([this, tokens = std::move(tokens), why] {
      for (const std::int64_t token : tokens) {
        if (why == Sessions::ended) {
          token_sessions_.end(token);
        } else {
          token_sessions_.drop(token);
        }
      }
    }));
  }

  void submit_study(Submission submission, Callback<Submitted> done) override {
    push(Task([this, given = std::move(submission), done = std::move(done)]() mutable {
      if (full_) return done(no_room());
      const RequestId request = next_request();
      submits_.emplace(request, std::move(done));
      handle(dispatch::StudySubmitted{request, std::move(given.owner), std::move(given.project),
                                      std::move(given.spec), given.quota, std::move(given.note),
                                      std::move(given.webhook), std::move(given.webhook_secret),
                                      given.awaits_approval});
    }));
  }

  void cancel_study(StudyId study, storage::NoteAudit note, Callback<StudyId> done) override {
    change_study(
        dispatch::StudyCancelRequested{{}, study, note}, std::move(done),
        Direct{study, {storage::EndStudy{study, storage::StudyState::cancelled}, note}, {}});
  }

  void pause_study(StudyId study, bool paused, storage::NoteAudit note,
                   Callback<StudyId> done) override {
    change_study(dispatch::StudyPauseRequested{{}, study, paused, note}, std::move(done),
                 Direct{study, {storage::PauseStudy{study, paused}, note}, {}});
  }

  void prioritize_study(StudyId study, std::int64_t priority, storage::NoteAudit note,
                        Callback<StudyId> done) override {
    change_study(dispatch::StudyPriorityRequested{{}, study, priority, std::move(note)},
                 std::move(done));
  }

  void reissue_study(Reissue given, Callback<StudyId> done) override {
    change_study(dispatch::StudyReissueRequested{{},
                                                 std::move(given.study),
                                                 given.quota,
                                                 std::move(given.note),
                                                 std::move(given.code),
                                                 std::move(given.runtime_index),
                                                 given.awaits_approval},
                 std::move(done));
  }

  void reject_results(Rejection given, Callback<dispatch::RejectedCounts> done) override {
    change_study(dispatch::StudyRejectRequested{{},
                                                std::move(given.study),
                                                std::move(given.which),
                                                given.quota,
                                                std::move(given.by),
                                                std::move(given.reason),
                                                std::move(given.note)},
                 [this, done = std::move(done)](const Result<StudyId>& study) {
                   study ? done(rejected_) : done(study.error());
                 });
  }

  void extend_study(Extension given, Callback<StudyId> done) override {
    change_study(dispatch::StudyExtendRequested{{},
                                                std::move(given.study),
                                                std::move(given.more),
                                                given.quota,
                                                std::move(given.note),
                                                given.awaits_approval},
                 std::move(done));
  }

  void judge_study(storage::JudgeStudy judgement, storage::NoteAudit note,
                   Callback<StudyId> done) override {
    const StudyId study = judgement.study;
    const Error not_waiting{"not_waiting",
                            "The study does not wait for approval, or not any more."};
    change_study(dispatch::StudyJudged{{}, study, judgement.approved, judgement.reason, note},
                 std::move(done),
                 Direct{study, {std::move(judgement), std::move(note)}, not_waiting});
  }

  void change_rules(std::vector<storage::Transition> group,
                    std::function<storage::Rules(const storage::Outcome&)> rules,
                    Committed done) override {
    commit(std::move(group), [this, rules = std::move(rules),
                              done = std::move(done)](const Result<storage::Outcome>& outcome) {
      if (outcome && outcome->applied == Applied::applied)
        handle(dispatch::RulesChanged{rules(*outcome)});
      done(outcome);
    });
  }

  void set_webhook(storage::SetWebhook set, storage::NoteAudit note, Committed done) override {
    const dispatch::WebhookSet event{set.study, dispatch::wants_devices(set.webhook)};
    commit_then({std::move(set), std::move(note)}, std::move(done),
                [this, event](const storage::Outcome& outcome) {
                  if (outcome.applied != Applied::applied) return;
                  handle(event);
                  watchers_.wake(event.study);
                });
  }

  void note_delivery(storage::NoteDelivery note, Committed done) override {
    const StudyId study = note.changed.study;
    commit_then({std::move(note)}, std::move(done), [this, study](const storage::Outcome& outcome) {
      if (outcome.applied == Applied::applied) watchers_.wake(study);
    });
  }

  void delete_study(StudyId study, storage::NoteAudit note, Committed done) override {
    commit_then({storage::DeleteStudy{study}, std::move(note)}, std::move(done),
                [this, study](const storage::Outcome& outcome) {
                  if (outcome.applied != Applied::applied) return;
                  outputs_.forget(study);
                  watchers_.wake(study);  // watchers notice that the study was deleted
                  piecework_.begin();
                });
  }

  void store_checkpoint(storage::StoreCheckpoint store, Committed done) override {
    const protocol::Checkpoint checkpoint = store.checkpoint;
    commit_then({std::move(store)}, std::move(done),
                [this, checkpoint](const storage::Outcome& outcome) {
                  if (outcome.applied == Applied::applied)
                    handle(dispatch::CheckpointStored{*outcome.trial, checkpoint});
                });
  }

  void store_artifact(storage::StoreArtifact artifact, Committed done) override {
    const AttemptId attempt = artifact.artifact.attempt;
    commit_then({std::move(artifact)}, std::move(done),
                [this, attempt](const storage::Outcome& outcome) {
                  // A repeated upload of an artifact renews the lease too.
                  if (outcome.applied == Applied::applied || outcome.applied == Applied::repeated)
                    handle(dispatch::ArtifactStored{attempt});
                });
  }

  void revoke_device(std::string device, storage::NoteAudit note, Committed done) override {
    commit_then({storage::RevokeDevice{device}, std::move(note)}, std::move(done),
                [this, device](const storage::Outcome& outcome) {
                  if (outcome.applied == Applied::applied) handle(dispatch::DeviceRevoked{device});
                });
  }

  // Revocation, erasure and audit entry are one transaction. Meanwhile the device gets no lease.
  void erase_device(std::string device, storage::NoteAudit note, Committed done) override {
    push(Task([this, device = std::move(device), note = std::move(note),
               done = std::move(done)]() mutable {
      using Step = dispatch::DeviceErasing::Step;
      handle(dispatch::DeviceErasing{device});
      stage({storage::RevokeDevice{device}, storage::EraseDevice{device}, std::move(note)},
            [this, device, done = std::move(done)](const Result<storage::Outcome>& outcome) {
              done(outcome);
              if (outcome && outcome->applied != Applied::conflict) {
                handle(dispatch::DeviceRevoked{device});
              } else {
                handle(dispatch::DeviceErasing{device, Step::failed});
              }
            });
    }));
  }

  // As in erase_device(), a device gets no lease meanwhile.
  void collect_devices(std::vector<std::string> devices, std::int64_t before, Told told) override {
    push(Task([this, devices = std::move(devices), before, told = std::move(told)] {
      if (read_only_ || devices.empty()) return;
      std::set<std::string> connected;
      for (const auto& [id, peer] : peers_) connected.insert(peer.device);
      for (const std::string& device : devices)
        if (!connected.contains(device)) handle(dispatch::DeviceErasing{device});
      stage(collection_of(devices, connected, before, told,
                          [this, devices](const auto& gone) { on_collected(devices, gone); }));
    }));
  }

  void commit(std::vector<storage::Transition> group, Committed done) override {
    push(Task([this, group = std::move(group), done = std::move(done)]() mutable {
      stage(std::move(group), std::move(done));
    }));
  }

  void workers(dispatch::WorkerQuery query,
               std::function<void(dispatch::WorkerPage)> done) override {
    push(Task([this, query = std::move(query), done = std::move(done)] {
      done(dispatcher_.workers(query));
    }));
  }
  void placement(dispatch::PlacementQuery query,
                 std::function<void(dispatch::Placement)> done) override {
    push(Task([this, query = std::move(query), done = std::move(done)] {
      done(dispatcher_.placement(query));
    }));
  }

  void counters(std::function<void(dispatch::Counters)> done) override {
    push(Task([this, done = std::move(done)] { done(dispatcher_.counters()); }));
  }

  Health health() const override {
    return {read_only_ || unproven_, draining_, full_, writer_.hangs(settings_.hung_writer_ms)};
  }

 private:
  struct Opening {
    dispatch::SessionOpened event;
    std::shared_ptr<Peer> peer;
  };
  struct Connected {
    std::shared_ptr<Peer> peer;
    std::string device;  // empty: the owner of a study
    AnswerTimes times{};
  };
  struct Claiming {
    dispatch::StudyClaimed event;
    std::shared_ptr<Peer> peer;
  };
  using Task = std::function<void()>;
  using Input = std::variant<dispatch::Event, Opening, Claiming, CommitDone, Task>;

  // The next three functions may run on any thread.

  void push(Input input) {
    if (inbox_.add(std::move(input))) asio::post(strand_, [this] { work(); });
  }

  // A change of a study and its audit entry, for a full disk: they are committed without the
  // dispatcher.
  struct Direct {
    StudyId study{};
    std::vector<storage::Transition> change{};
    std::optional<Error> refused{};  // the error if nothing changes; nullopt: that is no error
  };

  // Passes a change of a study to the dispatcher. `done` receives its answer. On a full disk,
  // commits `on_full_disk` instead.
  template <typename Event>
  void change_study(Event event, Callback<StudyId> done, std::optional<Direct> on_full_disk = {}) {
    push(Task([this, event = std::move(event), done = std::move(done),
               direct = std::move(on_full_disk)]() mutable {
      if (full_ && !direct) return done(no_room());
      if (full_) return change_directly(*std::move(direct), std::move(done));
      event.request = next_request();
      changes_.emplace(event.request, std::move(done));
      handle(std::move(event));
    }));
  }

  // Commits the group and passes the first outcome to `done`. If there was no error, passes it to
  // `then` afterwards.
  template <typename Then>
  void commit_then(std::vector<storage::Transition> group, Committed done, Then then) {
    commit(std::move(group),
           [done = std::move(done), then = std::move(then)](const Result<storage::Outcome>& first) {
             done(first);
             if (first) then(*first);
           });
  }

  // Everything below runs on the strand.

  RequestId next_request() { return RequestId{++last_request_}; }

  // Adds transitions of a site to the next commit. `done` receives the outcome of the first one.
  void stage(std::vector<storage::Transition> transitions, Committed done) {
    if (full_ && !storage::may_use_reserve(transitions)) return done(no_room());
    if (read_only_ && !full_) return done(unavailable());
    CommitGroup group;
    for (storage::Transition& transition : transitions) {
      Committed report = group.empty() ? std::move(done) : [](const Result<storage::Outcome>&) {};
      group.push_back(CommitItem{std::move(transition), {}, std::move(report)});
    }
    stage(std::move(group));
  }

  void change_directly(Direct direct, Callback<StudyId> done) {
    const StudyId study = direct.study;
    std::get<storage::NoteAudit>(direct.change.back()).entry.object = std::to_string(to_int(study));
    stage(std::move(direct.change),
          [this, study, refused = std::move(direct.refused),
           done = std::move(done)](const Result<storage::Outcome>& outcome) {
            if (!outcome) return done(outcome.error());
            if (outcome->applied == Applied::conflict)
              return done(Error{"unknown_study", "No study has this number."});
            if (outcome->applied != Applied::applied && refused) return done(*refused);
            watchers_.wake(study);
            done(study);
          });
  }

  // A device that was collected may have connected meanwhile. It joins again.
  void on_collected(const std::vector<std::string>& devices, const std::set<std::string>& gone) {
    for (const auto& [session, peer] : peers_) {
      if (!gone.contains(peer.device)) continue;
      handle(dispatch::SessionClosed{session, dispatch::SessionClosed::How::clean});
      peer.peer->close(kCloseTryLater, "Connect again.");
    }
    for (const std::string& device : devices)
      handle(dispatch::DeviceErasing{device, dispatch::DeviceErasing::Step::failed});
  }

  // Handles all events that have arrived, and commits their proposals together.
  void work() {
    inbox_.take_all([this](Input& input) {
      std::visit(Overloaded{
                     [this](dispatch::Event& event) { on_event(event); },
                     [this](Opening& opening) { on_open(std::move(opening)); },
                     [this](Claiming& claiming) { on_claim(std::move(claiming)); },
                     [this](CommitDone& done) { on_commit_done(std::move(done)); },
                     [](Task& task) { task(); },
                 },
                 input);
    });
    flush();
    arm_tick();
    if (quiet_ && uncommitted_ == 0) std::exchange(quiet_, nullptr)();
  }

  void on_event(dispatch::Event& event) {
    if (const auto* closed = std::get_if<dispatch::SessionClosed>(&event)) {
      peers_.erase(closed->session);
      open_sessions_ = peers_.size() - owners_;
    } else if (const auto* gone = std::get_if<dispatch::OwnerClosed>(&event)) {
      owners_ -= peers_.erase(gone->session);
    }
    auto* message = std::get_if<dispatch::MessageReceived>(&event);
    if (message == nullptr || keep_to_budget(*message)) handle(event);
    if (message != nullptr) give_credit(message->session);
    if (const auto* reply = std::get_if<dispatch::OwnerReplied>(&event))
      give_credit(reply->session);
  }

  // Takes out of a message what is beyond the device's budget. Returns false if nothing is left.
  bool keep_to_budget(dispatch::MessageReceived& event) {
    const auto found = peers_.find(event.session);
    if (found == peers_.end()) return true;
    found->second.times.came(event.message);
    const DeviceBudget::Kept kept = budget_.keep(found->second.device, event.message, steady_now());
    if (kept.answer) found->second.peer->send(protocol::serialize(*kept.answer));
    return kept.passes;
  }

  void on_open(Opening opening) {
    peers_.insert_or_assign(opening.event.session,
                            Connected{std::move(opening.peer), opening.event.device});
    open_sessions_ = peers_.size() - owners_;
    handle(opening.event);
  }

  void on_claim(Claiming claiming) {
    peers_.insert_or_assign(claiming.event.session, Connected{std::move(claiming.peer), {}});
    ++owners_;
    handle(claiming.event);
  }

  // Lets the worker send its next message, but not while too much waits for the writer.
  void give_credit(SessionId session) {
    const auto found = peers_.find(session);
    if (found == peers_.end()) return;
    if (uncommitted_ <= settings_.backlog_limit) return found->second.peer->credit();
    owed_.push_back(found->second.peer);
  }

  void pay_owed_credits() {
    if (uncommitted_ > settings_.backlog_limit / 2) return;
    for (const auto& peer : std::exchange(owed_, {})) peer->credit();
  }

  void handle(const dispatch::Event& event) {
    CommitGroup group;
    for (dispatch::Effect& effect : dispatcher_.handle(event, steady_now())) {
      std::visit(
          Overloaded{
              [&group](dispatch::Propose& propose) {
                group.push_back(CommitItem{std::move(propose.transition), propose.id, nullptr});
              },
              [this](dispatch::Send& send) {
                const auto found = peers_.find(send.session);
                if (found == peers_.end()) return;
                found->second.peer->send(protocol::serialize(send.message));
                found->second.times.sent(send.message, metrics_);
              },
              [this](dispatch::Close& close) {
                const auto found = peers_.find(close.session);
                if (found != peers_.end())
                  found->second.peer->close(close.code, std::move(close.reason));
              },
              [this](dispatch::Answer& answer) { on_answer(answer); },
              [this](dispatch::StudyChanged& changed) { watchers_.wake(changed.study); },
              [this](dispatch::WorkChanged& changed) {
                const std::lock_guard lock(work_mutex_);
                if (changed.work) {
                  work_.insert_or_assign(changed.study, *std::move(changed.work));
                } else {
                  work_.erase(changed.study);
                }
              },
              [this](dispatch::Printed& printed) {
                outputs_.add(printed.trial, printed.attempt, printed.device,
                             std::move(printed.lines), printed.dropped);
                output_watchers_.wake(printed.trial.study);
              },
              [this](dispatch::OwnerChanged& changed) {
                const std::lock_guard lock(owned_mutex_);
                if (changed.attached) {
                  owned_.insert(changed.study);
                } else {
                  owned_.erase(changed.study);
                }
              },
          },
          effect);
    }
    if (!group.empty()) stage(std::move(group));
  }

  void stage(CommitGroup group) {
    uncommitted_ += group.size();
    staged_.push_back(std::move(group));
  }

  void on_answer(const dispatch::Answer& answer) {
    if (const auto submit = submits_.extract(answer.request)) {
      if (answer.result) {
        const auto how = answer.repeated ? Submitted::How::repeated : Submitted::How::created;
        submit.mapped()(Submitted{*answer.result, how});
      } else {
        submit.mapped()(answer.result.error());
      }
    } else if (const auto change = changes_.extract(answer.request)) {
      rejected_ = answer.rejected.value_or(dispatch::RejectedCounts{});
      change.mapped()(answer.result);
    }
  }

  void flush() {
    if (staged_.empty()) return;
    if (!read_only_) {
      writer_.push(staged_);
      return;
    }
    // While the dispatcher waits for Restored, what it proposes is not written.
    std::vector<CommitItem> lost;
    std::vector<CommitGroup> kept;
    for (CommitGroup& group : std::exchange(staged_, {})) {
      if (full_ && group.front().done) {
        kept.push_back(std::move(group));
      } else {
        std::ranges::move(group, std::back_inserter(lost));
      }
    }
    if (!kept.empty()) writer_.push(kept);
    if (!lost.empty()) fail(lost, unavailable());
  }

  void on_commit_done(CommitDone done) {
    if (!done.outcomes) {
      std::ranges::move(writer_.resume(), std::back_inserter(done.items));
      for (CommitGroup& group : std::exchange(staged_, {}))
        std::ranges::move(group, std::back_inserter(done.items));
      const bool waits_already = full_;
      read_only_ = unproven_ = true;
      full_ = done.full;
      leaves_full_ = false;
      fail(done.items, done.outcomes.error());
      if (!waits_already) schedule_reload();
      return;
    }
    backoff_.reset();
    unproven_ = false;
    // The work waits for a successful commit, because its own failure would close every session.
    if (std::exchange(unswept_, false)) piecework_.begin();
    dispatch::BatchCommitted committed;
    committed.outcomes.reserve(done.items.size());
    bool queued = false;
    const Instant time = steady_now();
    for (std::size_t i = 0; i < done.items.size(); ++i) {
      CommitItem& item = done.items[i];
      const storage::Outcome& outcome = (*done.outcomes)[i];
      --uncommitted_;
      queued |= outcome.queued;
      if (outcome.searches) piecework_.begin();
      budget_.note(item.transition, outcome, time);
      if (!outcome.dropped.empty() || !outcome.disowned.empty()) settings_.dropped(outcome);
      if (item.done) {
        const telemetry::RequestScope scope(item.request);
        item.done(outcome);
        continue;
      }
      committed.outcomes.emplace_back(item.id, outcome);
    }
    if (!committed.outcomes.empty()) handle(committed);
    if (queued) settings_.queued();
    pay_owed_credits();
    if (done.full && !full_) {
      read_only_ = full_ = true;
      fail({}, unavailable());
      schedule_reload();
    }
  }

  void fail(const std::vector<CommitItem>& items, const Error& error) {
    uncommitted_ -= items.size();
    dispatch::BatchFailed failed{{}, error};
    for (const CommitItem& item : items) {
      if (!item.done) failed.transitions.push_back(item.id);
    }
    // The dispatcher hears of the failure first. So an event that a `done` below causes cannot
    // depend on proposals that were lost.
    handle(failed);
    for (const CommitItem& item : items) {
      const telemetry::RequestScope scope(item.request);
      if (item.done) item.done(unavailable());
    }
    // All waiting requests have lost their proposals, so they get an error.
    for (auto& [request, done] : std::exchange(submits_, {})) done(unavailable());
    for (auto& [request, done] : std::exchange(changes_, {})) done(unavailable());
    pay_owed_credits();
  }

  // Reads the state again until it succeeds. The delay grows until a commit succeeds.
  void schedule_reload() {
    reload_.expires_after(milliseconds(backoff_.next()));
    reload_.async_wait([this](const boost::system::error_code& error) {
      if (!error) reload();
    });
  }

  void reload() {
    if (full_) return regain();
    if (uncommitted_ > 0) return schedule_reload();  // the snapshot would miss what is under way
    const bool posted = readers_.post([this] {
      auto loaded = std::make_shared<Result<storage::Snapshot>>(storage_.load());
      push(Task([this, loaded] { on_reloaded(std::move(*loaded)); }));
    });
    if (!posted) schedule_reload();
  }

  // Asks whether the disk has room again. If so, nothing more is committed before the reload.
  void regain() {
    const bool posted = readers_.post([this] {
      const bool regained = settings_.regain();
      push(Task([this, regained] {
        if (!regained) return schedule_reload();
        full_ = false;
        leaves_full_ = true;
        reload();
      }));
    });
    if (!posted) schedule_reload();
  }

  void on_reloaded(Result<storage::Snapshot> loaded) {
    if (!loaded) {
      telemetry::log(telemetry::LogLevel::error, "reload_failed",
                     {{"code", loaded.error().code}, {"reason", loaded.error().message}});
      schedule_reload();
      return;
    }
    if (std::exchange(leaves_full_, false)) writer_.leave_full();
    read_only_ = false;
    telemetry::log(telemetry::LogLevel::warning, "storage_recovered");
    unswept_ = loaded->unswept;
    handle(dispatch::Restored{std::move(loaded).value()});
    // Only a commit shows that the database can be written again.
    stage({storage::KeepTime{}}, [](const Result<storage::Outcome>&) {});
  }

  // There is only one timer. A later deadline does not move it: the early tick then sets it again.
  void arm_tick() {
    const std::optional<Instant> due = dispatcher_.next_deadline();
    if (!due || (armed_ && *armed_ <= *due)) return;
    armed_ = due;
    tick_.expires_at(std::chrono::steady_clock::time_point(milliseconds(due->ms + 1)));
    tick_.async_wait([this](const boost::system::error_code& error) {
      if (error) return;
      armed_.reset();
      const std::optional<Instant> next = dispatcher_.next_deadline();
      if (next && *next <= steady_now()) handle(dispatch::Tick{});
      flush();
      arm_tick();
    });
  }

  const HubSettings settings_;
  storage::Storage& storage_;
  ReaderPool& readers_;
  OutputBook& outputs_;
  telemetry::Metrics& metrics_;

  mutable std::mutex owned_mutex_;
  std::set<StudyId> owned_;  // ask-and-tell studies whose owner is attached; under owned_mutex_

  mutable std::mutex work_mutex_;
  std::map<StudyId, dispatch::StudyWork> work_;  // of running studies; under work_mutex_

  Inbox<Input> inbox_;  // bounded by the credits of peers and by the requests that HTTP admits

  Strand strand_;
  Timer tick_;
  Timer reload_;
  Piecework piecework_;
  std::optional<Instant> armed_;
  Backoff backoff_;
  dispatch::Dispatcher dispatcher_;
  DeviceBudget budget_;

  std::vector<CommitGroup> staged_;
  std::size_t uncommitted_ = 0;                     // transitions without an outcome
  std::unordered_map<SessionId, Connected> peers_;  // devices and owners
  std::size_t owners_ = 0;                          // of them
  // Peers whose credit is held back while the writer is too slow.
  std::vector<std::shared_ptr<Peer>> owed_;
  Watchers watchers_;
  TokenSessions token_sessions_;
  Watchers output_watchers_;
  std::map<RequestId, Callback<Submitted>> submits_;
  std::map<RequestId, Callback<StudyId>> changes_;  // cancels and reissues
  dispatch::RejectedCounts rejected_;               // of the answer that is delivered now
  std::uint64_t last_request_ = 0;
  std::function<void()> quiet_;
  bool leaves_full_ = false;  // the disk has room again, and the writer must be told
  bool unswept_ = false;      // piecework waits for a commit that works again

  std::atomic<std::uint64_t> last_session_{0};
  std::atomic<std::size_t> open_sessions_{0};
  std::atomic<bool> read_only_;
  // A commit failed, and none has succeeded since. It stays while read_only_ changes with each try.
  std::atomic<bool> unproven_{false};
  std::atomic<bool> full_;
  std::atomic<bool> draining_{false};

  GroupCommit writer_;  // last: its thread calls push()
};

}  // namespace

std::unique_ptr<Hub> make_hub(asio::io_context& io, storage::Storage& storage, ReaderPool& readers,
                              OutputBook& outputs, telemetry::Metrics& metrics,
                              const HubSettings& settings) {
  return std::make_unique<StrandHub>(io, storage, readers, outputs, metrics, settings);
}

}  // namespace hyperflock::hub
