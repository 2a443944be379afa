// Keeps the rows of lease_rows.h in memory and writes them in sets, with one statement for each
// kind of change in a batch.
//
// A batch begins with one round trip, which reads the rows that its transitions name and that are
// not in memory. Rows stay in memory after the commit, because only this server changes them (see
// shard.h): a lease that this server gave is not read again for its result. Statements of the
// shared rules that use these tables are seen by before_leases: before one that reads them, what
// waits is written; after one that changes them, nothing is kept.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "storage/postgres/client.h"
#include "storage/sql/lease_rows.h"

namespace hyperflock::storage::postgres {

class LeaseRows final : public sql::LeaseRows {
 public:
  // `db` must outlive this object. `hold` is sent first in each transaction.
  LeaseRows(Client& db, std::function<void()> hold);

  void begin(std::span<const Transition> batch, std::int64_t now) override;
  void write() override;
  void forget() override;

  std::optional<sql::LeasedAttempt> attempt(AttemptId id) override;
  std::optional<sql::ResultRows> for_result(AttemptId id) override;
  std::optional<sql::LeasedTrial> trial(TrialKey key) override;
  bool may_have_checkpoints(TrialKey key) override;

  bool add_attempt(const sql::NewAttempt& made) override;
  void add_trial(const StartAttempt& start) override;
  void lease_again(TrialKey trial, AttemptId attempt) override;
  bool accept(TrialKey trial, TrialState state, std::int64_t seq, AttemptId attempt) override;
  void store_result(const protocol::TrialResult& result, AttemptState state,
                    protocol::Verdict verdict, bool replaces_failure) override;
  void note_given(AttemptId attempt, const sql::Given& given) override;
  void end_attempt(const EndAttempt& end) override;
  int add_points(AttemptId attempt, const std::vector<protocol::Point>& points) override;

  std::optional<std::int64_t> find_version(const sql::DeviceVersion& version) override;
  std::int64_t count_versions(std::string_view device) override;
  std::int64_t add_version(const sql::DeviceVersion& version) override;
  void finish_version(std::int64_t version) override;

 private:
  struct Attempt {
    TrialKey trial;
    AttemptState state = AttemptState::live;
    std::optional<protocol::Verdict> verdict{};
    bool has_failure = false;
    bool resumed = false;
    bool rejected = false;
    std::int64_t version = 0;
    std::optional<std::string> device{};  // nullopt: erased
    std::optional<std::int64_t> last_step{};
  };
  struct Trial {
    TrialState state = TrialState::running;
    std::int64_t newest_attempt = 0;
    std::optional<std::int64_t> accepted_attempt{};
    sql::Constrained constrained = sql::Constrained::no;
    bool has_checkpoints = false;
  };
  struct KeyHash {
    std::size_t operator()(const TrialKey& key) const {
      return std::hash<std::int64_t>()(to_int(key.study) * 1'000'003 ^ to_int(key.number));
    }
  };

  // What a batch will ask for.
  struct Wanted {
    Integers attempts;
    Integers studies;  // with the next one: trials
    Integers numbers;
    Texts devices;  // with the next three: versions of devices
    Texts classes;
    Texts engines;
    Texts adapters;
  };
  void want(AttemptId id, Wanted& wanted);
  void want(TrialKey key, Wanted& wanted);
  void want(const sql::DeviceVersion& version, Wanted& wanted);
  void fetch(const Wanted& wanted);

  // Return nullptr if there is no such row.
  Attempt* find(AttemptId id);
  Trial* find(TrialKey key);
  // Writes what waits, if a change of this attempt waits: each statement changes a row only once.
  void change(AttemptId id);

  // Changes that wait, in columns.
  struct NewAttempts {
    Integers id, study, number, previous, kind, version, code;
    Integers from, format, bytes, step, logged, artifacts;
    Texts sha256;
    bool resumes = false;
  };
  struct NewTrials {
    Integers study, number, attempt, seed;
    Texts params;
  };
  struct Leases {
    Integers study, number, attempt;
  };
  struct Accepted {
    Integers study, number, state, seq, attempt;
  };
  struct Results {
    Integers id, state, verdict, seq, load_ms, run_ms;
    Texts backend, attrs, software;
    Blobs values;
  };
  struct Failures {
    Integers id, cause;
    Texts code, message, traceback;
  };
  struct Given {
    Integers id, ms, moved;
  };
  struct Ended {
    Integers id, state, cause, load_ms, run_ms;
    Texts code, message, traceback;
  };
  struct Points {
    Integers attempt, step;
    Reals value;
  };
  struct Changes {
    NewAttempts attempts;
    NewTrials trials;
    Leases leases;
    Accepted accepted;
    Results results;
    Failures failures;
    Given given;
    Ended ended;
    Points points;
    Integers finished;  // versions of devices
  };

  Client& db_;
  const std::function<void()> hold_;
  std::int64_t now_ = 0;
  std::int64_t last_attempt_ = -1;  // no attempt has a higher id; -1: not read yet
  // Rows in memory. nullopt: there is no such row.
  std::unordered_map<AttemptId, std::optional<Attempt>> attempts_;
  std::unordered_map<TrialKey, std::optional<Trial>, KeyHash> trials_;
  std::map<std::string, std::optional<std::int64_t>, std::less<>> versions_;
  std::unordered_set<std::int64_t> finished_versions_;
  Changes changes_;
  bool waits_ = false;                           // whether changes_ has some
  std::unordered_set<AttemptId> changed_;        // attempts in changes_.results or .ended
  std::unordered_set<TrialKey, KeyHash> again_;  // trials in changes_.leases
};

}  // namespace hyperflock::storage::postgres
