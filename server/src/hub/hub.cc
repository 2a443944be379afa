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

#include "hub/deletion_sweep.h"
#include "hub/executor.h"
#include "hub/group_commit.h"
#include "hub/token_sessions.h"
#include "hub/watchers.h"
#include "protocol/codec.h"
#include "telemetry/log.h"

namespace hyperflock::net {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;

constexpr int kCloseClean = 1000;

template <typename... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};

Instant now() {
  return Instant{
      std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count()};
}

std::function<std::uint64_t()> random_source() {
  return [engine = std::mt19937_64(std::random_device{}())]() mutable { return engine(); };
}

Error unavailable() {
  return Error{"storage_unavailable",
               "The server cannot write to its database now; try again in a few seconds."};
}

}  // namespace

class Hub::Impl : public std::enable_shared_from_this<Hub::Impl> {
 public:
  struct Opening {
    dispatch::SessionOpened event;
    std::shared_ptr<Peer> peer;
  };
  struct Connected {
    std::shared_ptr<Peer> peer;
    std::string device;  // empty: a study's owner
  };
  struct Claiming {
    dispatch::StudyClaimed event;
    std::shared_ptr<Peer> peer;
  };
  using Task = std::function<void()>;
  using Input = std::variant<dispatch::Event, Opening, Claiming, CommitDone, Task>;

  Impl(asio::io_context& io, storage::Storage& storage, http::ReaderPool& readers,
       http::OutputBook& outputs, telemetry::Metrics& metrics, const HubSettings& settings)
      : settings_(settings),
        storage_(storage),
        readers_(readers),
        outputs_(outputs),
        strand_(asio::make_strand(io)),
        tick_(strand_),
        reload_(strand_),
        sweep_(
            strand_,
            [this](storage::Transition piece, const Committed& told) {
              commit({std::move(piece)}, told);
            },
            [this](Task next) { push(std::move(next)); }),
        random_(random_source()),
        dispatcher_(settings.dispatch, random_source()),
        commit_(storage, metrics, settings.batch_limit,
                [this](CommitDone done) { push(std::move(done)); }) {}

  void push(Input input) {
    bool schedule = false;
    {
      const std::lock_guard lock(inbox_mutex_);
      inbox_.push_back(std::move(input));
      schedule = !std::exchange(scheduled_, true);
    }
    if (schedule) asio::post(strand_, [self = shared_from_this()] { self->work(); });
  }

  void submit(dispatch::StudySubmitted event, std::function<void(Result<http::Submitted>)> done) {
    event.request = next_request();
    submits_.emplace(event.request, std::move(done));
    handle(event);
  }

  void cancel(StudyId study, storage::NoteAudit note, std::function<void(Result<StudyId>)> done) {
    const RequestId request = next_request();
    changes_.emplace(request, std::move(done));
    handle(dispatch::StudyCancelRequested{request, study, std::move(note)});
  }

  void pause(StudyId study, bool paused, storage::NoteAudit note,
             std::function<void(Result<StudyId>)> done) {
    const RequestId request = next_request();
    changes_.emplace(request, std::move(done));
    handle(dispatch::StudyPauseRequested{request, study, paused, std::move(note)});
  }

  void replay(storage::StudyRow study, const storage::Quota& quota, storage::NoteAudit note,
              std::function<void(Result<StudyId>)> done) {
    const RequestId request = next_request();
    changes_.emplace(request, std::move(done));
    handle(dispatch::StudyReplayRequested{request, std::move(study), quota, std::move(note)});
  }

  using Committed = std::function<void(Result<storage::Outcome>)>;

  void revoke(const std::string& device, const storage::NoteAudit& note, Committed done) {
    commit({storage::RevokeDevice{device}, note},
           [this, device, done = std::move(done)](Result<storage::Outcome> outcome) {
             const bool revoked = outcome && outcome->applied == storage::Applied::applied;
             done(std::move(outcome));
             if (revoked) handle(dispatch::DeviceRevoked{device});
           });
  }

  void delete_study(StudyId study, const storage::NoteAudit& note, Committed done) {
    commit({storage::DeleteStudy{study}, note},
           [this, study, done = std::move(done)](Result<storage::Outcome> outcome) {
             const bool deleted = outcome && outcome->applied == storage::Applied::applied;
             done(std::move(outcome));
             if (!deleted) return;
             outputs_.forget(study);
             watchers_.wake(study);  // they hear that there is no such study
             sweep_.begin();
           });
  }

  // What studies that were deleted before a start left.
  void sweep() { sweep_.begin(); }

  void leave(const std::string& device, SessionId session) {
    const auto found = peers_.find(session);
    if (found == peers_.end() || found->second.device != device) return;
    handle(dispatch::SessionClosed{session, dispatch::SessionClosed::How::clean});
    found->second.peer->close(kCloseClean, "left");
  }

  // Revocation, erasure and note are one transaction. Its device gets no lease in between.
  void erase(const std::string& device, const storage::NoteAudit& note, Committed done) {
    handle(dispatch::DeviceErasing{device});
    commit({storage::RevokeDevice{device}, storage::EraseDevice{device}, note},
           [this, device, done = std::move(done)](Result<storage::Outcome> outcome) {
             const bool erased = outcome && outcome->applied != storage::Applied::conflict;
             done(std::move(outcome));
             if (erased) {
               handle(dispatch::DeviceRevoked{device});
             } else {
               handle(dispatch::DeviceErasing{device, dispatch::DeviceErasing::Step::failed});
             }
           });
  }

  void commit(std::vector<storage::Transition> transitions, const Committed& done) {
    if (read_only) {
      done(unavailable());
      return;
    }
    CommitGroup group;
    for (storage::Transition& transition : transitions) {
      Committed tell = group.empty() ? done : [](const Result<storage::Outcome>&) {};
      group.push_back(CommitItem{std::move(transition), {}, std::move(tell)});
    }
    stage(std::move(group));
  }

  void attend(std::int64_t token, const std::weak_ptr<Peer>& peer) {
    token_sessions_.add(token, peer);
  }

  void end_sessions(const std::vector<std::int64_t>& tokens, http::Service::Sessions why) {
    for (const std::int64_t token : tokens) {
      if (why == http::Service::Sessions::ended) {
        token_sessions_.end(token);
      } else {
        token_sessions_.drop(token);
      }
    }
  }

  void store_checkpoint(const std::string& device, const protocol::Checkpoint& checkpoint,
                        std::function<void(Result<storage::Outcome>)> done) {
    commit({storage::StoreCheckpoint{device, checkpoint}},
           [this, checkpoint, done = std::move(done)](Result<storage::Outcome> outcome) {
             const bool stored = outcome && outcome->applied == storage::Applied::applied;
             const TrialKey trial = stored ? *outcome->trial : TrialKey{};
             done(std::move(outcome));
             if (stored) handle(dispatch::CheckpointStored{trial, checkpoint});
           });
  }

  void store_artifact(const storage::StoreArtifact& artifact, Committed done) {
    commit({artifact}, [this, attempt = artifact.artifact.attempt,
                        done = std::move(done)](Result<storage::Outcome> outcome) {
      // One that came again is a sign of life, too.
      const bool stored = outcome && (outcome->applied == storage::Applied::applied ||
                                      outcome->applied == storage::Applied::repeated);
      done(std::move(outcome));
      if (stored) handle(dispatch::ArtifactStored{attempt});
    });
  }

  void watch(StudyId study, const std::weak_ptr<Watcher>& watcher) {
    watchers_.add(study, watcher);
  }
  void watch_output(StudyId study, const std::weak_ptr<Watcher>& watcher) {
    output_watchers_.add(study, watcher);
  }

  void drain(std::function<void()> quiet) {
    draining = true;
    quiet_ = std::move(quiet);
    sweep_.stop();
    handle(dispatch::DrainStarted{});
  }

  bool is_owned(StudyId study) const {
    const std::lock_guard lock(owned_mutex_);
    return owned_.contains(study);
  }

  const dispatch::Dispatcher& dispatcher() const { return dispatcher_; }
  GroupCommit& writer() { return commit_; }

  std::atomic<std::uint64_t> last_session{0};
  std::atomic<std::size_t> open_sessions{0};
  std::atomic<bool> read_only{false};
  std::atomic<bool> draining{false};

 private:
  // Everything below runs on the strand.

  RequestId next_request() { return RequestId{++last_request_}; }

  // Deals with all that came in, then commits what it led to in one go.
  void work() {
    {
      const std::lock_guard lock(inbox_mutex_);
      std::swap(inbox_, working_);
      scheduled_ = false;
    }
    for (Input& input : working_) {
      std::visit(Overloaded{
                     [this](const dispatch::Event& event) { on_event(event); },
                     [this](Opening& opening) { on_open(std::move(opening)); },
                     [this](Claiming& claiming) { on_claim(std::move(claiming)); },
                     [this](CommitDone& done) { on_commit_done(std::move(done)); },
                     [](Task& task) { task(); },
                 },
                 input);
    }
    working_.clear();
    flush();
    arm_tick();
    if (quiet_ && unsettled_ == 0) std::exchange(quiet_, nullptr)();
  }

  void on_event(const dispatch::Event& event) {
    if (const auto* closed = std::get_if<dispatch::SessionClosed>(&event)) {
      peers_.erase(closed->session);
      open_sessions = peers_.size() - owners_;
    } else if (const auto* gone = std::get_if<dispatch::OwnerClosed>(&event)) {
      owners_ -= peers_.erase(gone->session);
    }
    handle(event);
    if (const auto* message = std::get_if<dispatch::MessageReceived>(&event))
      give_credit(message->session);
    if (const auto* reply = std::get_if<dispatch::OwnerReplied>(&event))
      give_credit(reply->session);
  }

  void on_open(Opening opening) {
    peers_.insert_or_assign(opening.event.session,
                            Connected{std::move(opening.peer), opening.event.device});
    open_sessions = peers_.size() - owners_;
    handle(opening.event);
  }

  void on_claim(Claiming claiming) {
    peers_.insert_or_assign(claiming.event.session, Connected{std::move(claiming.peer), {}});
    ++owners_;
    handle(claiming.event);
  }

  // Workers bring more only while the writer keeps up.
  void give_credit(SessionId session) {
    const auto found = peers_.find(session);
    if (found == peers_.end()) return;
    if (unsettled_ > settings_.backlog_limit) {
      owed_.push_back(found->second.peer);
    } else {
      found->second.peer->credit();
    }
  }

  void pay_owed_credits() {
    if (unsettled_ > settings_.backlog_limit / 2) return;
    for (const auto& peer : std::exchange(owed_, {})) peer->credit();
  }

  void handle(const dispatch::Event& event) {
    CommitGroup group;
    for (dispatch::Effect& effect : dispatcher_.handle(event, now())) {
      std::visit(
          Overloaded{
              [&group](dispatch::Propose& propose) {
                group.push_back(CommitItem{std::move(propose.transition), propose.id, nullptr});
              },
              [this](dispatch::Send& send) {
                const auto found = peers_.find(send.session);
                if (found != peers_.end())
                  found->second.peer->send(protocol::serialize(send.message));
              },
              [this](dispatch::Close& close) {
                const auto found = peers_.find(close.session);
                if (found != peers_.end())
                  found->second.peer->close(close.code, std::move(close.reason));
              },
              [this](dispatch::Answer& answer) { on_answer(answer); },
              [this](dispatch::StudyChanged& changed) { watchers_.wake(changed.study); },
              [this](dispatch::Printed& printed) {
                outputs_.add(printed.trial, printed.attempt, std::move(printed.lines),
                             printed.dropped);
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
    unsettled_ += group.size();
    staged_.push_back(std::move(group));
  }

  void on_answer(const dispatch::Answer& answer) {
    if (const auto submit = submits_.extract(answer.request)) {
      if (answer.result) {
        const auto how =
            answer.repeated ? http::Submitted::How::repeated : http::Submitted::How::created;
        submit.mapped()(http::Submitted{*answer.result, how});
      } else {
        submit.mapped()(answer.result.error());
      }
    } else if (const auto change = changes_.extract(answer.request)) {
      change.mapped()(answer.result);
    }
  }

  void flush() {
    if (staged_.empty()) return;
    if (!read_only) {
      commit_.push(staged_);
      return;
    }
    // The dispatcher waits for Restored; what it still proposes comes straight back.
    std::vector<CommitItem> items;
    for (CommitGroup& group : std::exchange(staged_, {}))
      std::ranges::move(group, std::back_inserter(items));
    fail(items, unavailable());
  }

  void on_commit_done(CommitDone done) {
    if (!done.outcomes) {
      std::ranges::move(commit_.resume(), std::back_inserter(done.items));
      for (CommitGroup& group : std::exchange(staged_, {}))
        std::ranges::move(group, std::back_inserter(done.items));
      read_only = true;
      fail(done.items, done.outcomes.error());
      schedule_reload();
      return;
    }
    failures_in_a_row_ = 0;
    // Not before: a piece that fails again would close every session once more.
    if (std::exchange(unswept_, false)) sweep_.begin();
    dispatch::BatchCommitted committed;
    committed.outcomes.reserve(done.items.size());
    for (std::size_t i = 0; i < done.items.size(); ++i) {
      CommitItem& item = done.items[i];
      const storage::Outcome& outcome = (*done.outcomes)[i];
      --unsettled_;
      if (!outcome.dropped.empty() || !outcome.disowned.empty()) settings_.dropped(outcome);
      if (item.done) {
        item.done(outcome);
        continue;
      }
      committed.outcomes.emplace_back(item.id, outcome);
    }
    if (!committed.outcomes.empty()) handle(committed);
    pay_owed_credits();
  }

  void fail(const std::vector<CommitItem>& items, const Error& error) {
    unsettled_ -= items.size();
    dispatch::BatchFailed failed{{}, error};
    for (const CommitItem& item : items) {
      if (!item.done) failed.transitions.push_back(item.id);
    }
    // First of all: what a `done` causes must not build on proposals that are lost.
    handle(failed);
    for (const CommitItem& item : items) {
      if (item.done) item.done(unavailable());
    }
    // Whoever still waits for an answer proposed something that is lost.
    for (auto& [request, done] : std::exchange(submits_, {})) done(unavailable());
    for (auto& [request, done] : std::exchange(changes_, {})) done(unavailable());
    pay_owed_credits();
  }

  // Reads the state again until that works. The back-off goes on growing until a commit succeeds,
  // so that a disk that can be read but not written is not hammered.
  void schedule_reload() {
    const int doublings = std::min(failures_in_a_row_++, 16);
    const Millis mean =
        std::min(settings_.longest_reload_ms, settings_.first_reload_ms << doublings);
    const auto jitter = static_cast<Millis>(random_() % static_cast<std::uint64_t>(mean / 2 + 1));
    reload_.expires_after(milliseconds(mean - mean / 4 + jitter));
    reload_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (!error) self->reload();
    });
  }

  void reload() {
    const bool posted = readers_.post([self = shared_from_this()] {
      auto loaded = std::make_shared<Result<storage::Snapshot>>(self->storage_.load());
      self->push(Task([self, loaded] { self->on_reloaded(std::move(*loaded)); }));
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
    read_only = false;
    telemetry::log(telemetry::LogLevel::warning, "storage_recovered");
    unswept_ = loaded->unswept;
    handle(dispatch::Restored{std::move(loaded).value()});
  }

  // One timer, never moved back for a later deadline: a tick that comes early only looks again.
  void arm_tick() {
    const std::optional<Instant> due = dispatcher_.next_deadline();
    if (!due || (armed_ && *armed_ <= *due)) return;
    armed_ = due;
    tick_.expires_at(std::chrono::steady_clock::time_point(milliseconds(due->ms + 1)));
    tick_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (error) return;
      self->armed_.reset();
      const std::optional<Instant> next = self->dispatcher_.next_deadline();
      if (next && *next <= now()) self->handle(dispatch::Tick{});
      self->flush();
      self->arm_tick();
    });
  }

  const HubSettings settings_;
  storage::Storage& storage_;
  http::ReaderPool& readers_;
  http::OutputBook& outputs_;

  mutable std::mutex owned_mutex_;
  std::set<StudyId> owned_;  // asked studies whose owner is attached; under owned_mutex_

  std::mutex inbox_mutex_;
  std::vector<Input>
      inbox_;  // bounded by the credits of peers and by the requests that HTTP admits
  bool scheduled_ = false;

  Strand strand_;
  Timer tick_;
  Timer reload_;
  DeletionSweep sweep_;
  std::optional<Instant> armed_;
  std::function<std::uint64_t()> random_;
  dispatch::Dispatcher dispatcher_;

  std::vector<Input> working_;
  std::vector<CommitGroup> staged_;
  std::size_t unsettled_ = 0;                       // transitions without an outcome
  std::unordered_map<SessionId, Connected> peers_;  // devices and owners
  std::size_t owners_ = 0;                          // of them
  std::vector<std::shared_ptr<Peer>> owed_;         // credits held back while the writer is behind
  Watchers watchers_;
  TokenSessions token_sessions_;
  Watchers output_watchers_;
  std::map<RequestId, std::function<void(Result<http::Submitted>)>> submits_;
  std::map<RequestId, std::function<void(Result<StudyId>)>> changes_;  // cancels and replays
  std::uint64_t last_request_ = 0;
  std::function<void()> quiet_;
  int failures_in_a_row_ = 0;
  bool unswept_ = false;  // a deletion waits for a commit that works again

  GroupCommit commit_;  // last: its thread calls push()
};

Hub::Hub(boost::asio::io_context& io, storage::Storage& storage, http::ReaderPool& readers,
         http::OutputBook& outputs, telemetry::Metrics& metrics, const HubSettings& settings)
    : impl_(std::make_shared<Impl>(io, storage, readers, outputs, metrics, settings)) {}

Hub::~Hub() { stop(); }

void Hub::restore(storage::Snapshot snapshot) {
  const bool unswept = snapshot.unswept;
  impl_->push(dispatch::Event(dispatch::Restored{std::move(snapshot)}));
  if (unswept) impl_->push(Impl::Task([impl = impl_.get()] { impl->sweep(); }));
}

SessionId Hub::next_session() { return SessionId{++impl_->last_session}; }

void Hub::open(dispatch::SessionOpened event, std::shared_ptr<Peer> peer) {
  impl_->push(Impl::Opening{std::move(event), std::move(peer)});
}

void Hub::message(SessionId session, protocol::ClientMessage message) {
  impl_->push(dispatch::Event(dispatch::MessageReceived{session, std::move(message)}));
}

void Hub::closed(SessionId session, dispatch::SessionClosed::How how) {
  impl_->push(dispatch::Event(dispatch::SessionClosed{session, how}));
}

std::size_t Hub::sessions() const { return impl_->open_sessions; }

void Hub::claim(dispatch::StudyClaimed event, std::shared_ptr<Peer> peer) {
  impl_->push(Impl::Claiming{std::move(event), std::move(peer)});
}

void Hub::owner_reply(SessionId session, protocol::OwnerReply reply) {
  impl_->push(dispatch::Event(dispatch::OwnerReplied{session, std::move(reply)}));
}

void Hub::owner_closed(SessionId session) {
  impl_->push(dispatch::Event(dispatch::OwnerClosed{session}));
}

bool Hub::is_owned(StudyId study) const { return impl_->is_owned(study); }

void Hub::watch(StudyId study, std::weak_ptr<Watcher> watcher) {
  impl_->push(Impl::Task(
      [impl = impl_.get(), study, watcher = std::move(watcher)] { impl->watch(study, watcher); }));
}

void Hub::watch_output(StudyId study, std::weak_ptr<Watcher> watcher) {
  impl_->push(Impl::Task([impl = impl_.get(), study, watcher = std::move(watcher)] {
    impl->watch_output(study, watcher);
  }));
}

void Hub::store_checkpoint(std::string device, protocol::Checkpoint checkpoint,
                           std::function<void(Result<storage::Outcome>)> done) {
  impl_->push(Impl::Task(
      [impl = impl_.get(), device = std::move(device), checkpoint = std::move(checkpoint),
       done = std::move(done)] { impl->store_checkpoint(device, checkpoint, done); }));
}

void Hub::store_artifact(storage::StoreArtifact artifact,
                         std::function<void(Result<storage::Outcome>)> done) {
  impl_->push(Impl::Task([impl = impl_.get(), artifact = std::move(artifact),
                          done = std::move(done)] { impl->store_artifact(artifact, done); }));
}

void Hub::attend(std::int64_t token, std::weak_ptr<Peer> peer) {
  impl_->push(Impl::Task(
      [impl = impl_.get(), token, peer = std::move(peer)] { impl->attend(token, peer); }));
}

void Hub::submit_study(http::Submission submission,
                       std::function<void(Result<http::Submitted>)> done) {
  impl_->push(Impl::Task([impl = impl_.get(),
                          event = dispatch::StudySubmitted{{},
                                                           std::move(submission.owner),
                                                           std::move(submission.project),
                                                           std::move(submission.spec),
                                                           submission.quota,
                                                           std::move(submission.note)},
                          done = std::move(done)] { impl->submit(event, done); }));
}

void Hub::cancel_study(StudyId study, storage::NoteAudit note,
                       std::function<void(Result<StudyId>)> done) {
  impl_->push(Impl::Task([impl = impl_.get(), study, note = std::move(note),
                          done = std::move(done)] { impl->cancel(study, note, done); }));
}

void Hub::pause_study(StudyId study, bool paused, storage::NoteAudit note,
                      std::function<void(Result<StudyId>)> done) {
  impl_->push(Impl::Task([impl = impl_.get(), study, paused, note = std::move(note),
                          done = std::move(done)] { impl->pause(study, paused, note, done); }));
}

void Hub::replay_study(storage::StudyRow study, storage::Quota quota, storage::NoteAudit note,
                       std::function<void(Result<StudyId>)> done) {
  impl_->push(
      Impl::Task([impl = impl_.get(), study = std::move(study), quota, note = std::move(note),
                  done = std::move(done)] { impl->replay(study, quota, note, done); }));
}

void Hub::delete_study(StudyId study, storage::NoteAudit note,
                       std::function<void(Result<storage::Outcome>)> done) {
  impl_->push(Impl::Task([impl = impl_.get(), study, note = std::move(note),
                          done = std::move(done)] { impl->delete_study(study, note, done); }));
}

void Hub::revoke_device(std::string device, storage::NoteAudit note,
                        std::function<void(Result<storage::Outcome>)> done) {
  impl_->push(Impl::Task([impl = impl_.get(), device = std::move(device), note = std::move(note),
                          done = std::move(done)] { impl->revoke(device, note, done); }));
}

void Hub::erase_device(std::string device, storage::NoteAudit note,
                       std::function<void(Result<storage::Outcome>)> done) {
  impl_->push(Impl::Task([impl = impl_.get(), device = std::move(device), note = std::move(note),
                          done = std::move(done)] { impl->erase(device, note, done); }));
}

void Hub::commit(std::vector<storage::Transition> group,
                 std::function<void(Result<storage::Outcome>)> done) {
  impl_->push(Impl::Task([impl = impl_.get(), group = std::move(group), done = std::move(done)] {
    impl->commit(group, done);
  }));
}

void Hub::leave(std::string device, SessionId session) {
  impl_->push(Impl::Task(
      [impl = impl_.get(), device = std::move(device), session] { impl->leave(device, session); }));
}

void Hub::end_sessions(std::vector<std::int64_t> tokens, Sessions why) {
  impl_->push(Impl::Task(
      [impl = impl_.get(), tokens = std::move(tokens), why] { impl->end_sessions(tokens, why); }));
}

void Hub::workers(std::function<void(std::vector<dispatch::WorkerView>)> done) {
  impl_->push(Impl::Task(
      [impl = impl_.get(), done = std::move(done)] { done(impl->dispatcher().workers()); }));
}

void Hub::counters(std::function<void(dispatch::Counters)> done) {
  impl_->push(Impl::Task(
      [impl = impl_.get(), done = std::move(done)] { done(impl->dispatcher().counters()); }));
}

http::Health Hub::health() const { return {impl_->read_only, impl_->draining}; }

void Hub::drain(std::function<void()> quiet) {
  impl_->push(Impl::Task([impl = impl_.get(), quiet = std::move(quiet)] { impl->drain(quiet); }));
}

void Hub::stop() { impl_->writer().stop(); }

}  // namespace hyperflock::net
