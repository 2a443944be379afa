// What REST asks of the one owner of the dispatcher (net/hub.h implements it). Any thread may call;
// each callback runs on the owner's strand and must not block there.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "dispatch/dispatcher.h"
#include "protocol/study_spec.h"
#include "storage/transition.h"

namespace hyperflock::http {

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

  virtual void submit_study(std::string owner, std::string project, protocol::StudySpec spec,
                            std::function<void(Result<Submitted>)> done) = 0;
  virtual void cancel_study(StudyId study, std::function<void(Result<StudyId>)> done) = 0;
  // Issues the failed trials of a study again; `study` as just read from storage.
  virtual void replay_study(storage::StudyRow study, std::function<void(Result<StudyId>)> done) = 0;
  // Commits a checkpoint and lets the trial's next attempt begin with it. `superseded`: the attempt
  // or its trial has ended; `conflict`: it is not the device's.
  virtual void store_checkpoint(std::string device, protocol::Checkpoint checkpoint,
                                std::function<void(Result<storage::Outcome>)> done) = 0;
  // Ends a device's right to work. `conflict`: there is none of this name.
  virtual void revoke_device(std::string device,
                             std::function<void(Result<storage::Outcome>)> done) = 0;
  // Commits one transition that the dispatcher does not care about (a device, an enrolment code).
  virtual void commit(storage::Transition transition,
                      std::function<void(Result<storage::Outcome>)> done) = 0;
  virtual void workers(std::function<void(std::vector<dispatch::WorkerView>)> done) = 0;
  virtual void counters(std::function<void(dispatch::Counters)> done) = 0;
  virtual Health health() const = 0;
};

}  // namespace hyperflock::http
