// What REST asks of the one owner of the dispatcher (net/hub.h implements it). Any thread may call;
// each callback runs on the owner's strand and must not block there.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "dispatch/dispatcher.h"
#include "protocol/study_spec.h"
#include "storage/transition.h"

namespace hyperflock::http {

struct Submission {
  std::string owner;
  std::string project;
  protocol::StudySpec spec;
  storage::Quota quota;
  storage::NoteAudit note;
};

struct Submitted {
  StudyId study{};
  enum class How { created, repeated } how = How::created;
};

struct Health {
  bool read_only = false;
  bool draining = false;
};

class Service {
 public:
  virtual ~Service() = default;

  // Where a change has a note, both are one transaction: the note names the change's study and is
  // written when the change is applied.

  // Error besides storage's: `quota_exceeded`.
  virtual void submit_study(Submission submission, std::function<void(Result<Submitted>)> done) = 0;
  virtual void cancel_study(StudyId study, storage::NoteAudit note,
                            std::function<void(Result<StudyId>)> done) = 0;
  // Leases nothing of the study, or goes on with it; one that has ended is left as it is.
  virtual void pause_study(StudyId study, bool paused, storage::NoteAudit note,
                           std::function<void(Result<StudyId>)> done) = 0;
  // Issues the failed trials of a study again; `study` as just read from storage. Error besides
  // storage's: `quota_exceeded`, where a study that had ended would run again.
  virtual void replay_study(storage::StudyRow study, storage::Quota quota, storage::NoteAudit note,
                            std::function<void(Result<StudyId>)> done) = 0;
  // Deletes a study that is over, with its note. `superseded`: it is not over; `conflict`: there is
  // none of this number.
  virtual void delete_study(StudyId study, storage::NoteAudit note,
                            std::function<void(Result<storage::Outcome>)> done) = 0;
  // Commits a checkpoint and lets the trial's next attempt begin with it. `superseded`: the attempt
  // or its trial has ended; `conflict`: it is not the device's.
  virtual void store_checkpoint(std::string device, protocol::Checkpoint checkpoint,
                                std::function<void(Result<storage::Outcome>)> done) = 0;
  // Commits an artifact and renews its attempt's lease. Outcomes as of a checkpoint; `superseded`,
  // too, with what storage::StoreArtifact says.
  virtual void store_artifact(storage::StoreArtifact artifact,
                              std::function<void(Result<storage::Outcome>)> done) = 0;
  // Ends a device's right to work. `conflict`: there is none of this name.
  virtual void revoke_device(std::string device, storage::NoteAudit note,
                             std::function<void(Result<storage::Outcome>)> done) = 0;
  // The page of this session went away: its attempts are released at once (R22). A session that is
  // not this device's, or is over, is left alone.
  virtual void leave(std::string device, SessionId session) = 0;
  // Revokes the device, and then lets storage forget it. `conflict` as above.
  virtual void erase_device(std::string device, storage::NoteAudit note,
                            std::function<void(Result<storage::Outcome>)> done) = 0;
  // Commits transitions that the dispatcher does not care about, in one transaction; `done` hears
  // the outcome of the first.
  virtual void commit(std::vector<storage::Transition> group,
                      std::function<void(Result<storage::Outcome>)> done) = 0;
  // Closes the WebSockets that these tokens opened (4004). `ended`: they will open nothing more.
  enum class Sessions { ended, paused };
  virtual void end_sessions(std::vector<std::int64_t> tokens, Sessions why) = 0;
  virtual void workers(std::function<void(std::vector<dispatch::WorkerView>)> done) = 0;
  virtual void counters(std::function<void(dispatch::Counters)> done) = 0;
  // Whether the owner of this asked study is connected.
  virtual bool is_owned(StudyId study) const = 0;
  virtual Health health() const = 0;
};

}  // namespace hyperflock::http
