// The shell around the dispatcher. It owns the one Dispatcher and feeds it events on one strand,
// hands what it proposes to the group commit, and carries its effects out: nothing that promises
// something leaves before its commit.
//
// Every public member may be called from any thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dispatch/dispatcher.h"
#include "hub/output_book.h"
#include "hub/reader_pool.h"
#include "hub/service.h"
#include "hub/peer.h"
#include "storage/storage.h"
#include "telemetry/metrics.h"

namespace hyperflock::net {

struct HubSettings {
  dispatch::Settings dispatch;
  std::size_t batch_limit = 256;     // transitions in one transaction
  std::size_t backlog_limit = 4096;  // transitions that may wait before workers are held back
  Millis first_reload_ms = 100;      // back-off after a failed commit, doubling
  Millis longest_reload_ms = 5'000;
  // Blobs that nothing names any more, Outcome::dropped or disowned; called in the order of the
  // commits.
  std::function<void(const storage::Outcome&)> dropped = [](const auto&) {};
};

class Hub final : public http::Service {
 public:
  Hub(boost::asio::io_context& io, storage::Storage& storage, http::ReaderPool& readers,
      http::OutputBook& outputs, telemetry::Metrics& metrics, const HubSettings& settings);
  // REQUIRES: stop() was called and the I/O context runs nothing more.
  ~Hub() override;

  // The state as stored. Call before the first session.
  void restore(storage::Snapshot snapshot);

  // Sessions of devices. `peer` is kept until closed(); each message() is followed by one
  // Peer::credit().
  SessionId next_session();
  void open(dispatch::SessionOpened event, std::shared_ptr<Peer> peer);
  void message(SessionId session, protocol::ClientMessage message);
  void closed(SessionId session, dispatch::SessionClosed::How how);
  std::size_t sessions() const;

  // Owners of asked studies (R42). `peer` is kept until owner_closed(); each owner_reply() is
  // followed by one Peer::credit().
  void claim(dispatch::StudyClaimed event, std::shared_ptr<Peer> peer);
  void owner_reply(SessionId session, protocol::OwnerReply reply);
  void owner_closed(SessionId session);
  bool is_owned(StudyId study) const override;

  // Wakes the watcher once now and after each durable change of the study, until it is gone.
  void watch(StudyId study, std::weak_ptr<Watcher> watcher);
  // The same when a trial of the study has printed something.
  void watch_output(StudyId study, std::weak_ptr<Watcher> watcher);

  // A researcher's connection, open by this token; it is closed when the token ends.
  void attend(std::int64_t token, std::weak_ptr<Peer> peer);

  void submit_study(http::Submission submission,
                    std::function<void(Result<http::Submitted>)> done) override;
  void cancel_study(StudyId study, storage::NoteAudit note,
                    std::function<void(Result<StudyId>)> done) override;
  void pause_study(StudyId study, bool paused, storage::NoteAudit note,
                   std::function<void(Result<StudyId>)> done) override;
  void replay_study(storage::StudyRow study, storage::Quota quota, storage::NoteAudit note,
                    std::function<void(Result<StudyId>)> done) override;
  void delete_study(StudyId study, storage::NoteAudit note,
                    std::function<void(Result<storage::Outcome>)> done) override;
  void store_checkpoint(std::string device, protocol::Checkpoint checkpoint,
                        std::function<void(Result<storage::Outcome>)> done) override;
  void store_artifact(storage::StoreArtifact artifact,
                      std::function<void(Result<storage::Outcome>)> done) override;
  void revoke_device(std::string device, storage::NoteAudit note,
                     std::function<void(Result<storage::Outcome>)> done) override;
  void leave(std::string device, SessionId session) override;
  void erase_device(std::string device, storage::NoteAudit note,
                    std::function<void(Result<storage::Outcome>)> done) override;
  void commit(std::vector<storage::Transition> group,
              std::function<void(Result<storage::Outcome>)> done) override;
  void end_sessions(std::vector<std::int64_t> tokens, Sessions why) override;
  void workers(std::function<void(std::vector<dispatch::WorkerView>)> done) override;
  void counters(std::function<void(dispatch::Counters)> done) override;
  http::Health health() const override;

  // Leases nothing more; `quiet` runs when nothing waits for a commit.
  void drain(std::function<void()> quiet);

  // Commits what waits and ends the writer thread. Its outcomes are no longer delivered.
  void stop();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace hyperflock::net
