// Reads and writes each row of lease_rows.h at once.
#pragma once

#include "storage/sql/lease_rows.h"
#include "storage/sqlite/db/db.h"

namespace hyperflock::storage::sqlite {

class LeaseRows final : public sql::LeaseRows {
 public:
  explicit LeaseRows(Connection& db) : db_(db) {}

  void begin(std::span<const Transition>, std::int64_t now) override { now_ = now; }
  void write() override {}
  void forget() override {}

  std::optional<sql::LeasedAttempt> attempt(AttemptId id) override;
  std::optional<sql::ResultRows> for_result(AttemptId id) override;
  std::optional<sql::LeasedTrial> trial(TrialKey key) override;
  bool may_have_checkpoints(TrialKey) override { return true; }

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
  Connection& db_;
  std::int64_t now_ = 0;  // wall time of the batch
};

}  // namespace hyperflock::storage::sqlite
