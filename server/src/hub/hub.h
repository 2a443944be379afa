// The code around the dispatcher that does its input and output. The hub owns the one Dispatcher
// and feeds it events on one strand. It passes proposals to the group commit and carries out
// effects. A message that promises something is sent only after its commit.
//
// On a full disk, the hub works without the dispatcher: it commits what may use the reserve
// (storage/reserve.h) and refuses everything else. Devices are turned away and keep their results.
// Once there is room again, the dispatcher gets the stored state.
//
// Every member may be called from any thread and returns at once. Each callback runs on the hub's
// strand and must not block there.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "dispatch/dispatcher.h"
#include "hub/device_budget.h"
#include "hub/group_commit.h"
#include "hub/output_book.h"
#include "hub/peer.h"
#include "hub/reader_pool.h"
#include "protocol/study_spec.h"
#include "storage/storage.h"
#include "telemetry/metrics.h"

namespace hyperflock::hub {

struct HubSettings {
  dispatch::Settings dispatch;
  DeviceLimits device{};
  std::size_t batch_limit = 256;     // transitions in one transaction
  std::size_t backlog_limit = 4096;  // transitions that may wait before workers are held back
  Millis first_reload_ms = 100;      // back-off after a failed commit, doubling
  Millis longest_reload_ms = 5'000;
  Millis hung_writer_ms = 30'000;  // a commit that takes longer is reported (Health::hangs)
  // Called, in the order of the commits, with outcomes that list blobs that no row names any more
  // (Outcome::dropped and Outcome::disowned).
  std::function<void(const storage::Outcome&)> dropped = [](const auto&) {};
  // The disk of the state folder. `regain` makes the reserve again and returns whether the disk has
  // room; it runs on a reader thread.
  FullDisk disk{};
  std::function<bool()> regain = [] { return true; };
  // Called after a commit with which a delivery to a webhook may be due (Outcome::queued).
  std::function<void()> queued = [] {};
  telemetry::Tracer* tracer = nullptr;  // null: no traces
};

template <typename T>
using Callback = std::function<void(Result<T>)>;
using Committed = Callback<storage::Outcome>;

struct Submission {
  std::string owner;
  std::string project;
  protocol::StudySpec spec;
  storage::Quota quota;
  storage::NoteAudit note;
  std::optional<protocol::Webhook> webhook{};
  std::string webhook_secret{};  // as in storage::CreateStudy
  bool awaits_approval = false;  // of an administrator (R68)
};

// A request to issue failed trials again.
struct Reissue {
  storage::StudyRow study;  // as just read from storage
  storage::Quota quota{};
  storage::NoteAudit note{};
  std::optional<protocol::NewCode> code{};  // of the trials that follow (R64)
  std::string runtime_index{};              // the runtime of this code
  bool awaits_approval = false;             // the study, from now on
};

// A request to extend the space of a study (R65).
struct Extension {
  storage::StudyRow study;  // as just read from storage
  protocol::Extension more;
  storage::Quota quota{};
  storage::NoteAudit note{};
  bool awaits_approval = false;  // the study, from now on
};

// A request to reject attempts of a study (R71).
struct Rejection {
  storage::StudyRow study;  // as just read from storage
  storage::Selection which{};
  storage::Quota quota{};
  std::string by{};
  std::string reason{};
  storage::NoteAudit note{};
};

struct Submitted {
  StudyId study{};
  enum class How { created, repeated } how = How::created;
};

struct Health {
  bool read_only = false;
  bool draining = false;
  bool full = false;   // the disk is full; read_only is true too
  bool hangs = false;  // the storage has not returned for HubSettings::hung_writer_ms
};

// Returns the error for a request that would store something where there is no room.
inline Error no_room() {
  return {"no_room", "The server's disk is nearly full: its operator has to make room."};
}

// Returns the error for a request that cannot be stored now.
inline Error unavailable() {
  return {"storage_unavailable",
          "The server cannot write to its database now; try again in a few seconds."};
}

class Hub {
 public:
  // REQUIRES before destruction: stop() was called, and no thread runs the I/O context any more.
  virtual ~Hub() = default;

  // ---- start and stop

  // Takes over the stored state. Call it before the first session.
  virtual void restore(storage::Snapshot snapshot) = 0;
  // Says whether rows may be added. If not, nothing is leased and no point is stored, but results
  // are.
  virtual void set_room(bool has_room) = 0;
  // Stops leasing. `quiet` runs once no commit is waiting.
  virtual void drain(std::function<void()> quiet) = 0;
  // Commits waiting transitions and ends the writer thread. Outcomes are no longer delivered.
  virtual void stop() = 0;

  // ---- sessions of devices
  // The hub keeps `peer` until closed(). Each message() is followed by one Peer::credit().

  virtual SessionId next_session() = 0;
  virtual void open(dispatch::SessionOpened event, std::shared_ptr<Peer> peer) = 0;
  virtual void message(SessionId session, protocol::ClientMessage message) = 0;
  virtual void closed(SessionId session, dispatch::SessionClosed::How how) = 0;
  virtual std::size_t sessions() const = 0;
  // Releases the attempts of this session at once, because its page was closed (R22). Does nothing
  // if the session is over or belongs to another device.
  virtual void leave(std::string device, SessionId session) = 0;

  // ---- owners of ask-and-tell studies (R42)
  // The hub keeps `peer` until owner_closed(). Each owner_reply() is followed by one
  // Peer::credit().

  virtual void claim(dispatch::StudyClaimed event, std::shared_ptr<Peer> peer) = 0;
  virtual void owner_reply(SessionId session, protocol::OwnerReply reply) = 0;
  virtual void owner_closed(SessionId session) = 0;
  // Returns whether the owner of this ask-and-tell study is connected.
  virtual bool is_owned(StudyId study) const = 0;

  // Returns how long a study will still take (R63) if this many of its trials have no outcome. If
  // the study does not run, the estimate is empty.
  virtual dispatch::Estimate estimate(StudyId study, std::int64_t open_trials) const = 0;

  // ---- connections of researchers

  // Wakes the watcher once now and after each durable change of the study, until the watcher is
  // gone.
  virtual void watch(StudyId study, std::weak_ptr<Watcher> watcher) = 0;
  // Wakes the watcher once now and whenever a trial of the study has printed lines.
  virtual void watch_output(StudyId study, std::weak_ptr<Watcher> watcher) = 0;
  // Registers a connection that was opened with this token. It is closed when the token ends.
  virtual void attend(std::int64_t token, std::weak_ptr<Peer> peer) = 0;
  // Closes the WebSockets that were opened with these tokens (code 4004). `ended` says that the
  // tokens are no longer valid, so later connections are closed too.
  enum class Sessions { ended, paused };
  virtual void end_sessions(std::vector<std::int64_t> tokens, Sessions why) = 0;

  // ---- studies
  // A note is written in the transaction of its change, and only if the change is applied. It names
  // the study of the change.

  // Errors: those of storage, and `quota_exceeded`.
  virtual void submit_study(Submission submission, Callback<Submitted> done) = 0;
  virtual void cancel_study(StudyId study, storage::NoteAudit note, Callback<StudyId> done) = 0;
  // Stops leasing the study's trials, or resumes it. A study that has ended does not change.
  virtual void pause_study(StudyId study, bool paused, storage::NoteAudit note,
                           Callback<StudyId> done) = 0;
  // Gives the study another priority among those of its owner (R61).
  virtual void prioritize_study(StudyId study, std::int64_t priority, storage::NoteAudit note,
                                Callback<StudyId> done) = 0;
  // Issues the failed trials of a study again. Errors: those of storage; `quota_exceeded` if an
  // ended study would run again; `no_failed_trial` if other code is given and no trial has failed.
  virtual void reissue_study(Reissue reissue, Callback<StudyId> done) = 0;
  // Rejects attempts of a study in several commits, so that other commits need not wait long.
  // `done` runs after the last one. Errors: those of storage; `quota_exceeded` if an ended study
  // would run again. If storage fails between two commits, some attempts are rejected: the same
  // call rejects the others.
  virtual void reject_results(Rejection rejection, Callback<dispatch::RejectedCounts> done) = 0;
  // Gives a study more trials; if it had ended, it runs again. Errors: those of storage;
  // `quota_exceeded`; `space_changed` if another request has changed the space meanwhile.
  virtual void extend_study(Extension extension, Callback<StudyId> done) = 0;
  // Approves or refuses a study. Errors: those of storage; `not_waiting`.
  virtual void judge_study(storage::JudgeStudy judgement, storage::NoteAudit note,
                           Callback<StudyId> done) = 0;
  // Sets the webhook of a study. `conflict`: no study has this number.
  virtual void set_webhook(storage::SetWebhook set, storage::NoteAudit note, Committed done) = 0;
  // Stores the result of a delivery to a webhook, and wakes the watchers of the webhook's study.
  virtual void note_delivery(storage::NoteDelivery note, Committed done) = 0;
  // Deletes a study that has ended. The same transaction writes `note` to the audit log. Outcomes:
  // `superseded` if the study has not ended; `conflict` if no study has this number.
  virtual void delete_study(StudyId study, storage::NoteAudit note, Committed done) = 0;

  // ---- uploads of attempts

  // Commits a checkpoint, with which the trial's next attempt begins. Outcomes: `superseded` if the
  // attempt or its trial has ended, and for the limits that storage::StoreCheckpoint names;
  // `conflict` if the attempt is not the device's.
  virtual void store_checkpoint(storage::StoreCheckpoint checkpoint, Committed done) = 0;
  // Commits an artifact and renews its attempt's lease. The outcomes are those of a checkpoint;
  // storage::StoreArtifact names more reasons for `superseded`.
  virtual void store_artifact(storage::StoreArtifact artifact, Committed done) = 0;

  // ---- devices

  // Revokes the device: it gets no work any more. The outcome is `conflict` if no device has this
  // name.
  virtual void revoke_device(std::string device, storage::NoteAudit note, Committed done) = 0;
  // Revokes the device and erases it from storage. Meanwhile the device gets no lease. The outcome
  // is `conflict` if no device has this name.
  virtual void erase_device(std::string device, storage::NoteAudit note, Committed done) = 0;

  // Removes those of these devices that storage::CollectDevice removes. Devices that are connected
  // stay, and are noted as seen. `told` gets each change with its outcome. Does nothing while the
  // server cannot write.
  using Told = std::function<void(const storage::Transition&, const storage::Outcome&)>;
  virtual void collect_devices(std::vector<std::string> devices, std::int64_t before,
                               Told told) = 0;

  // ---- rules of administrators (R67, R68)

  // Commits a change of the rules. After the commit, `rules` returns all rules. Before `done` runs,
  // attempts that the new rules forbid have been revoked, and leasing follows the new rules.
  virtual void change_rules(std::vector<storage::Transition> group,
                            std::function<storage::Rules(const storage::Outcome&)> rules,
                            Committed done) = 0;

  // ---- everything else

  // Commits in one transaction transitions that the dispatcher need not know. `done` receives the
  // outcome of the first.
  virtual void commit(std::vector<storage::Transition> group, Committed done) = 0;
  virtual void workers(dispatch::WorkerQuery query,
                       std::function<void(dispatch::WorkerPage)> done) = 0;
  virtual void placement(dispatch::PlacementQuery query,
                         std::function<void(dispatch::Placement)> done) = 0;
  virtual void counters(std::function<void(dispatch::Counters)> done) = 0;
  virtual Health health() const = 0;
};

std::unique_ptr<Hub> make_hub(boost::asio::io_context& io, storage::Storage& storage,
                              ReaderPool& readers, OutputBook& outputs, telemetry::Metrics& metrics,
                              const HubSettings& settings);

}  // namespace hyperflock::hub
