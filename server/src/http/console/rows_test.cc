// Checks the JSON rows that rest.md describes, field by field.
#include "http/console/rows.h"

#include <gtest/gtest.h>

namespace hyperflock::http {
namespace {

storage::StudyRow study() {
  storage::StudyRow row;
  row.id = StudyId{3};
  row.owner = "ada";
  row.project = "default";
  row.spec.name = "digits \"1\"";
  row.spec.direction = protocol::Direction::maximize;
  row.spec.entry = "m:f";
  row.spec.bundle = {"ab", 12};
  row.spec.space = {{"\"c\"", {"4", "1.0", "null"}}, {"\"d\"", {"\"x\""}}};
  row.spec.seed = 5;
  row.spec.chainer = "7.8.1";
  row.total = 3;
  row.complete = 2;
  row.running = 1;
  row.attempts = 4;
  row.cursor = 9;
  row.created_at = 1000;
  return row;
}

TEST(StudyRow, RunningWithoutABest) {
  EXPECT_EQ(
      study_row_json(study()),
      R"({"study":3,"name":"digits \"1\"","owner":"ada","project":"default","state":"running",)"
      R"("direction":"maximize","total":3,"complete":2,"pruned":0,"failed":0,"running":1,"attempts":4,"cursor":9,)"
      R"("entry":"m:f","seed":5,"created_at":1000,)"
      R"("space":[{"name":"c","values":[4,1.0,null]},{"name":"d","values":["x"]}],)"
      R"("runtime":{"chainer":"7.8.1"},"bundle":{"sha256":"ab","bytes":12},)"
      R"("estimate":{"runs":0,"devices":0,"why":"no_run"}})");
}

TEST(StudyRow, ItsSpaceMayHaveNamesOnly) {
  const std::string json = study_row_json(study(), Sampler::away, {}, {}, Space::names);
  EXPECT_NE(json.find(R"("space":[{"name":"c","values":[]},{"name":"d","values":[]}],)"),
            std::string::npos)
      << json;
}

TEST(StudyRow, R61_ItHasAPriorityOtherThan0) {
  storage::StudyRow row = study();
  row.priority = -3;
  const std::string json = study_row_json(row);
  EXPECT_NE(json.find(R"("state":"running","priority":-3,)"), std::string::npos) << json;
}

TEST(StudyRow, R63_ItHasAnEstimateWhileItRuns) {
  const auto has = [](const storage::StudyRow& row, const dispatch::Estimate& estimate,
                      const std::string& text) {
    const std::string json = study_row_json(row, Sampler::away, estimate);
    EXPECT_NE(json.find(R"("estimate":{)" + text + "}}"), std::string::npos) << json;
  };
  storage::StudyRow row = study();
  const dispatch::Estimate known{.runs = 4, .devices = 2, .left_ms = 90'000, .device_ms = 180'000};
  has(row, known, R"("runs":4,"devices":2,"device_ms":180000,"left_ms":90000)");
  has(row, {.runs = 4, .device_ms = 7'000},
      R"("runs":4,"devices":0,"device_ms":7000,"why":"no_device")");
  has(row, {.devices = 2}, R"("runs":0,"devices":2,"why":"no_run")");
  row.paused = true;
  has(row, known, R"("runs":4,"devices":2,"device_ms":180000,"why":"paused")");
  row = study();
  row.spec.kind = protocol::StudyKind::asked;
  has(row, known, R"("runs":4,"devices":2,"why":"no_total")");
  row.wanted = 10;
  EXPECT_EQ(open_trials(row), 8);
  row.state = storage::StudyState::finished;
  EXPECT_EQ(study_row_json(row, Sampler::away, known).find("estimate"), std::string::npos);
}

TEST(StudyRow, FinishedWithItsBest) {
  storage::StudyRow row = study();
  row.state = storage::StudyState::finished;
  row.finished_at = 2000;
  row.best_trial = TrialNumber{1};
  row.best_value = 0.5;
  const std::string json = study_row_json(row);
  EXPECT_NE(json.find(R"("state":"finished")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("finished_at":2000)"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("best":{"trial":1,"value":0.5,"params":"{\"c\":1.0,\"d\":\"x\"}"})"),
            std::string::npos)
      << json;
}

TEST(StudyRow, PointsHaveTheirNamesOnly) {
  storage::StudyRow row = study();
  row.spec.kind = protocol::StudyKind::points;
  row.spec.space = {{"\"c\"", {"4", "1.0"}}, {"\"d\"", {"\"x\"", "null"}}};
  row.best_trial = TrialNumber{1};
  const std::string json = study_row_json(row);
  EXPECT_NE(json.find(R"("space":[{"name":"c","values":[]},{"name":"d","values":[]}])"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("kind":"points","best":{"trial":1,"value":0.0,)"
                      R"("params":"{\"c\":1.0,\"d\":null}"})"),
            std::string::npos)
      << json;
}

TEST(StudyRow, DrawnPointsHaveTheirRanges) {
  storage::StudyRow row = study();
  row.spec.kind = protocol::StudyKind::sobol;
  row.spec.space = {
      {"\"c\"", {}, protocol::ValueRange{.low = 1, .high = 9, .integer = true, .step = 2}},
      {"\"d\"", {"1"}}};
  row.spec.trials = 3;
  row.best_trial = TrialNumber{1};
  const std::string json = study_row_json(row);
  EXPECT_NE(json.find(R"("space":[{"name":"c","values":[],"range":{"low":1.0,"high":9.0,)"
                      R"("integer":true,"step":2.0}},{"name":"d","values":[1]}])"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("kind":"sobol","best":{"trial":1,"value":0.0,"params":"{\"c\":)"),
            std::string::npos)
      << json;
}

TEST(StudyRow, R56_WhyItPausedItself) {
  storage::StudyRow row = study();
  row.paused = true;
  row.spec.max_failures = 3;
  row.stopped_by = TrialNumber{2};
  EXPECT_EQ(study_row_json(row).find("stopped_by"), std::string::npos);  // it was issued again
  row.stop_failure = protocol::Failure{protocol::Cause::user_error, "objective_raised",
                                       "ValueError: no", "Traceback"};
  const std::string json = study_row_json(row);
  EXPECT_NE(json.find(R"("paused":true,"stopped_by":{"trial":2,"failures":3,"error":{)"
                      R"("cause":"user_error","code":"objective_raised",)"
                      R"("message":"ValueError: no","traceback":"Traceback"}},"direction")"),
            std::string::npos)
      << json;
}

TEST(StudyRow, WhatItAsksOfDevices) {
  storage::StudyRow row = study();
  row.spec.backend = "webgpu";
  row.spec.requires_device = {.memory_mb = 2'048, .f16 = true};
  const std::string json = study_row_json(row);
  EXPECT_NE(json.find(R"("runtime":{"chainer":"7.8.1","backend":"webgpu"},)"
                      R"("requires":{"memory_mb":2048,"f16":true},"bundle")"),
            std::string::npos)
      << json;
}

TEST(TrialRow, TheAdapterIsNamedWhereItComputed) {
  storage::TrialDetail detail;
  detail.attempt.emplace().adapter = "vendor family";
  detail.attempt->backend = "webgpu";
  EXPECT_NE(trial_row_json(detail).find(R"("backend":"webgpu","adapter":"vendor family"})"),
            std::string::npos);
  detail.attempt->backend = "cpu";
  EXPECT_EQ(trial_row_json(detail).find("adapter"), std::string::npos);
}

TEST(TrialRow, CompleteWithItsDevice) {
  storage::TrialDetail detail;
  detail.trial.key = {StudyId{3}, TrialNumber{1}};
  detail.trial.state = storage::TrialState::complete;
  detail.trial.params = R"({"c":1.0})";
  detail.trial.seed = 4294967295;
  detail.trial.values = {1, 0.25};
  detail.trial.attempts = 2;
  detail.trial.accepted_attempt = AttemptId{8};
  detail.trial.started_at = 10;
  detail.trial.finished_at = 20;
  detail.trial.seq = 7;
  storage::AttemptRow attempt;
  attempt.id = AttemptId{8};
  attempt.device = "d_1";
  attempt.device_class = "phone";
  attempt.engine = "firefox";
  attempt.backend = "cpu";
  attempt.metrics = {5, 6};
  attempt.software = "worker/1 numpy/2";
  detail.attempt = attempt;
  const std::string row =
      R"({"study":3,"trial":1,"state":"complete","params":"{\"c\":1.0}","seed":4294967295,"values":[1.0,0.25],)"
      R"("attempts":2,"accepted_attempt":8,"code_version":1,"device":{"device":"d_1","class":"phone","engine":"firefox","backend":"cpu"},)"
      R"("started_at":10,"finished_at":20,"run_ms":6,"load_ms":5,"seq":7)";
  EXPECT_EQ(trial_row_json(detail), row + "}");

  detail.points = {{0, 0.5}, {1, 2}};
  detail.attempts_list = {attempt};
  EXPECT_EQ(trial_row_json(detail, Detail::curve), row + R"(,"points":[[0,0.5],[1,2.0]]})");
  EXPECT_EQ(
      trial_row_json(detail, Detail::full),
      row +
          R"(,"points":[[0,0.5],[1,2.0]],"attempts_list":[{"attempt":8,"kind":"primary","state":"live",)"
          R"("device":{"device":"d_1","class":"phone","engine":"firefox","backend":"cpu"},"values":[],)"
          R"("started_at":0,"finished_at":0,"run_ms":6,"load_ms":5,"software":"worker/1 numpy/2","code_version":1}]})");
}

TEST(CurveRoom, EndsWithTheCurvesOrThePoints) {
  CurveRoom many;
  for (std::size_t i = 0; i < CurveRoom::kCurves; ++i) {
    EXPECT_TRUE(many.is_left());
    many.take(0);
  }
  EXPECT_FALSE(many.is_left());

  CurveRoom long_ones;
  long_ones.take(CurveRoom::kPoints - 1);
  EXPECT_TRUE(long_ones.is_left());
  long_ones.take(1);
  EXPECT_FALSE(long_ones.is_left());
}

TEST(TrialRow, FailedWithItsError) {
  storage::TrialDetail detail;
  detail.trial.key = {StudyId{1}, TrialNumber{0}};
  detail.trial.state = storage::TrialState::failed;
  detail.trial.failure =
      protocol::Failure{protocol::Cause::user_error, "objective_raised", "no", "line\n"};
  const std::string json = trial_row_json(detail);
  EXPECT_NE(
      json.find(
          R"("error":{"cause":"user_error","code":"objective_raised","message":"no","traceback":"line\n"})"),
      std::string::npos)
      << json;
  EXPECT_EQ(json.find("accepted_attempt"), std::string::npos);
  EXPECT_EQ(json.find("\"device\""), std::string::npos);
}

}  // namespace
}  // namespace hyperflock::http
