// The suite that every storage back end must pass: the fixture, and short functions that make
// transitions. The tests are in *_test.cc. A back end runs the suite with
// INSTANTIATE_TEST_SUITE_P(Name, StorageContract, ...) in a file of its own.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/storage.h"

namespace hyperflock::storage {

// A storage back end with its files.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual Storage& storage() = 0;
  // Closes and opens the storage, as a restart does.
  virtual void reopen() = 0;
};

struct BackendMaker {
  std::string name;
  // `now` must live as long as the test.
  std::unique_ptr<Backend> (*make)(const std::int64_t* now);
};
inline std::ostream& operator<<(std::ostream& out, const BackendMaker& maker) {
  return out << maker.name;
}

// ---- short ways to write transitions

inline constexpr std::int64_t kNow = 1'700'000'000'000;

inline TrialKey key(std::int64_t study, std::int64_t number) {
  return {StudyId{study}, TrialNumber{number}};
}

inline std::string sha(char digit) { return std::string(64, digit); }

inline protocol::StudySpec spec(const std::string& submit_key,
                                protocol::Direction direction = protocol::Direction::maximize) {
  protocol::StudySpec spec;
  spec.name = "digits";
  spec.submit_key = submit_key;
  spec.direction = direction;
  spec.entry = "digits_grid:objective";
  spec.bundle = {sha('a'), 1'234};
  spec.space = {{R"("channels")", {"4", "16.0"}}, {R"("name")", {R"("x\"y")", "null", "true"}}};
  spec.data = {{"digits", "npz", "digits.npz", {sha('b'), 99}}};
  spec.seed = 7;
  spec.chainer = "7.8.1";
  spec.time_limit_ms = 60'000;
  spec.stall_ms = 0;
  spec.provenance_json = "{}";
  return spec;
}

inline CreateStudy create_study(std::int64_t id, const std::string& submit_key = "key",
                                protocol::Direction direction = protocol::Direction::maximize) {
  CreateStudy create;
  create.id = StudyId{id};
  create.owner = "ada";
  create.project = "default";
  create.spec = spec(submit_key, direction);
  create.total = 6;
  return create;
}

inline StartAttempt start(std::int64_t attempt, TrialKey trial,
                          const std::string& device = "phone") {
  StartAttempt start;
  start.attempt = AttemptId{attempt};
  start.trial = trial;
  start.device = device;
  start.device_class = "phone";
  start.engine = "chromium 131";
  start.adapter = "vendor family";
  start.params = R"({"channels": 4})";
  start.seed = 4'294'967'295U;
  return start;
}

inline StoreResult complete(std::int64_t attempt, std::vector<double> values,
                            const std::string& device = "phone") {
  StoreResult store;
  store.device = device;
  store.result.attempt = AttemptId{attempt};
  store.result.seq = 3;
  store.result.values = std::move(values);
  store.result.metrics = {1'500, 2'500};
  store.result.backend = "cpu";
  store.result.software = "worker/1 numpy/2";
  return store;
}

inline StoreResult pruned(std::int64_t attempt, const std::string& device = "phone") {
  StoreResult store = complete(attempt, {}, device);
  store.result.outcome = protocol::Outcome::pruned;
  return store;
}

inline protocol::Failure a_failure(const std::string& code = "ZeroDivisionError") {
  return {protocol::Cause::user_error, code, "division by zero", "Traceback ..."};
}

inline StoreResult failed(std::int64_t attempt, const std::string& device = "phone") {
  StoreResult store = complete(attempt, {}, device);
  store.result.outcome = protocol::Outcome::failed;
  store.result.failure = a_failure();
  return store;
}

inline EndAttempt end(std::int64_t attempt, AttemptState state) {
  EndAttempt end;
  end.attempt = AttemptId{attempt};
  end.state = state;
  return end;
}

inline AppendPoints append(std::int64_t attempt, std::vector<protocol::Point> points,
                           const std::string& device = "phone") {
  AppendPoints append;
  append.attempt = AttemptId{attempt};
  append.device = device;
  append.points = std::move(points);
  return append;
}

inline FailTrial fail(TrialKey trial) { return {trial, a_failure("poison")}; }

inline PauseStudy pause_study(std::int64_t study, bool paused = true) {
  return {StudyId{study}, paused};
}
inline EndStudy end_study(std::int64_t study, StudyState state) { return {StudyId{study}, state}; }

inline CreateDevice create_device(const std::string& id) {
  return {{id, "default", sha('d'), "phone", "chromium 131"}};
}

inline CreatePrincipal create_principal(const std::string& name, char hash,
                                        PrincipalRole role = PrincipalRole::researcher) {
  return {.principal = {.id = 0, .name = name, .role = role}, .token_hash = sha(hash)};
}

inline NoteAudit note(const std::string& action, bool if_applied = true) {
  return {{.actor = "ada", .action = action, .object = "o", .address = "127.0.0.1"}, if_applied};
}

// Adds up all results that count for devices, in pieces.
inline void fold_contributions(Storage& storage, std::int64_t today, PieceLimits limits = {}) {
  for (int pieces = 0; pieces < 10'000; ++pieces) {
    ContributionPiece piece = storage.next_contributions(today, limits).value();
    if (piece.empty()) return;
    const std::vector<Transition> batch{FoldContributions{std::move(piece)}};
    ASSERT_EQ(storage.apply(batch).value().front().applied, Applied::applied);
  }
  FAIL() << "there is always another piece";
}

// ---- the fixture

class StorageContract : public testing::TestWithParam<BackendMaker> {
 protected:
  StorageContract() : backend_(GetParam().make(&now_)) {}

  Storage& storage() { return backend_->storage(); }
  void reopen() { backend_->reopen(); }
  void at(std::int64_t now) { now_ = now; }

  // Applies one batch. Fails the test if the batch could not be written.
  std::vector<Outcome> apply(std::vector<Transition> batch) {
    auto outcomes = storage().apply(batch);
    if (!outcomes) {
      ADD_FAILURE() << outcomes.error().code << ": " << outcomes.error().message;
      return std::vector<Outcome>(batch.size());
    }
    EXPECT_EQ(outcomes->size(), batch.size());
    return std::move(outcomes).value();
  }
  Outcome apply_one(Transition transition) { return apply({std::move(transition)}).at(0); }
  Applied applied(Transition transition) { return apply_one(std::move(transition)).applied; }

  StudyRow study(std::int64_t id) { return storage().study(StudyId{id}).value().value(); }
  TrialDetail trial(std::int64_t id, std::int64_t number) {
    return storage().trial(key(id, number)).value().value();
  }
  std::vector<TrialDetail> finished(std::int64_t id, std::int64_t after = 0,
                                    std::int64_t limit = 100) {
    return storage().finished_trials(StudyId{id}, after, limit).value();
  }

 private:
  std::int64_t now_ = kNow;
  std::unique_ptr<Backend> backend_;
};

}  // namespace hyperflock::storage
