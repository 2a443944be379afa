// The rows that every lease and every result touch: attempts, trials, points and versions of
// devices. The rules of transition.h use them only through this interface, because a back end may
// keep them in memory and write them in sets: SQLite reads and writes each row at once, PostgreSQL
// once for a batch. Each function sees what the functions before it have changed. Writer thread
// only; each function throws DbError.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/records.h"
#include "storage/transition.h"

namespace hyperflock::storage::sql {

// Whether a trial's owner computes constraints, and whether it has sent them (R57). The values are
// stored in the database.
enum class Constrained { no, waits, judged };

// An attempt, as EndAttempt and AppendPoints need it.
struct LeasedAttempt {
  TrialKey trial;
  AttemptState state = AttemptState::live;
  std::optional<std::string> device{};  // nullopt: its device was erased
};

// An attempt and its trial, as a result needs them.
struct ResultRows {
  TrialKey trial;
  std::string device;
  std::optional<protocol::Verdict> verdict{};  // of the attempt's first result
  AttemptState state = AttemptState::live;
  bool has_failure = false;
  bool resumed = false;
  TrialState trial_state = TrialState::running;
  Constrained constrained = Constrained::no;
  std::int64_t device_version = 0;
  bool version_finished = false;  // whether the version has sent a result before
  bool rejected = false;          // the attempt (R71)
};

struct LeasedTrial {
  TrialState state = TrialState::running;
  std::int64_t newest_attempt = 0;  // 0: none yet
};

struct NewAttempt {
  const StartAttempt& start;
  std::optional<std::int64_t> previous{};
  std::int64_t device_version = 0;
  const protocol::Checkpoint* from = nullptr;  // nullptr: it starts at the beginning
  std::int64_t artifacts = 0;                  // those of the study when `from` was saved
  std::int64_t code = 1;
};

// What is unusual about what an accepted result counts for its device (contribution.h).
struct Given {
  std::optional<std::int64_t> ms{};  // if its lease had ended before it came
  bool moved = false;                // whether it was better than all of its study before it
};

// What a device was when it started an attempt.
struct DeviceVersion {
  std::string_view device;
  std::string_view device_class{};
  std::string_view engine{};
  std::string_view adapter{};
};

class LeaseRows {
 public:
  virtual ~LeaseRows() = default;

  // Prepares for a batch, inside its transaction.
  virtual void begin(std::span<const Transition> batch, std::int64_t now) = 0;
  // Writes what is not written yet. Call it before the commit.
  virtual void write() = 0;
  // Forgets what it keeps in memory, because the transaction was rolled back.
  virtual void forget() = 0;

  virtual std::optional<LeasedAttempt> attempt(AttemptId id) = 0;
  // Returns nullopt also for an attempt of an erased device.
  virtual std::optional<ResultRows> for_result(AttemptId id) = 0;
  virtual std::optional<LeasedTrial> trial(TrialKey key) = 0;
  // Returns false only if the trial has no checkpoints.
  virtual bool may_have_checkpoints(TrialKey key) = 0;

  // Adds an attempt. Returns false if there is one with this id.
  virtual bool add_attempt(const NewAttempt& made) = 0;
  // Adds the trial of its first attempt.
  virtual void add_trial(const StartAttempt& start) = 0;
  // Notes a further attempt of a trial.
  virtual void lease_again(TrialKey trial, AttemptId attempt) = 0;
  // Accepts the attempt's result, unless another one of the trial was accepted. Returns whether it
  // did. Nothing else accepts a result, so each trial counts once.
  virtual bool accept(TrialKey trial, TrialState state, std::int64_t seq, AttemptId attempt) = 0;
  // Stores a result with its attempt. Its failure replaces that of the attempt if
  // `replaces_failure` is set.
  virtual void store_result(const protocol::TrialResult& result, AttemptState state,
                            protocol::Verdict verdict, bool replaces_failure) = 0;
  // REQUIRES: store_result() of this attempt in the same batch.
  virtual void note_given(AttemptId attempt, const Given& given) = 0;
  virtual void end_attempt(const EndAttempt& end) = 0;
  // Returns how many of the points are new. A point of a known step replaces nothing.
  virtual int add_points(AttemptId attempt, const std::vector<protocol::Point>& points) = 0;

  virtual std::optional<std::int64_t> find_version(const DeviceVersion& version) = 0;
  virtual std::int64_t count_versions(std::string_view device) = 0;
  virtual std::int64_t add_version(const DeviceVersion& version) = 0;
  // Notes that the version of a device has sent a result.
  virtual void finish_version(std::int64_t version) = 0;
};

}  // namespace hyperflock::storage::sql
