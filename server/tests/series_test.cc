// Tests series of trials over real sockets: a device reports them, and REST reads them (R59).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

using protocol::Ack;
using protocol::ErrorMessage;
using protocol::ResultAck;
using protocol::Series;

protocol::Report log(AttemptId attempt, std::int64_t seq, Series series) {
  protocol::Report report{attempt, seq, {}};
  report.series = std::move(series);
  return report;
}

class SeriesTest : public ::testing::Test {
 protected:
  std::string get(const std::string& path) {
    const net::HttpAnswer answer = server_.rest("GET", "/api/studies/" + path);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.body;
  }
  std::string refused(const std::string& path) {
    return json_at(server_.rest("GET", "/api/studies/" + path).body, "error.code");
  }

  TestServer server_;
};

TEST_F(SeriesTest, R59_WhatADeviceLogsIsReadWhileTheTrialRunsAndAfterIt) {
  const std::string study = std::to_string(server_.submit(2));
  TestWorker worker(server_, server_.join());
  const protocol::Lease lease = worker.ready();
  EXPECT_EQ(get(study + "/series"), R"({"series":[],"cursor":0})");

  worker.send(log(lease.attempt, 1,
                  {{0, 4}, {{"loss", {2.5, std::nan("")}}, {"val/acc é", {std::nullopt, 0.25}}}}));
  const auto ack = worker.receive<Ack>();
  EXPECT_EQ(ack.attempt, lease.attempt);
  EXPECT_EQ(ack.seq, 1);
  EXPECT_EQ(
      get(study + "/series"),
      R"({"series":[{"series":1,"name":"loss"},{"series":2,"name":"val/acc é"}],"cursor":2})");
  const std::string series = R"([["loss",[0,4],[2.5,"NaN"]],["val/acc é",[4],[0.25]]])";
  EXPECT_EQ(get(study + "/trials/0/series"), R"({"trial":0,"seq":0,"series":)" + series + "}");
  EXPECT_EQ(get(study + "/series/unfinished?series=2"),
            R"({"trials":[{"trial":0,"seq":0,"series":[["val/acc é",[4],[0.25]]]}],)"
            R"("cursor":1,"more":false})");
  EXPECT_EQ(get(study + "/series/trials"), R"({"trials":[],"cursor":0})");
  EXPECT_EQ(json_at(get(study + "/trials/0"), "last"), R"([["loss","NaN"],["val/acc é",0.25]])");

  worker.send(log(lease.attempt, 2, {{5}, {{"loss", {-INFINITY}}}}));
  worker.send(TestWorker::result(lease.attempt, 0.5, 3));
  worker.receive<Ack>();
  EXPECT_EQ(worker.receive<ResultAck>().verdict, protocol::Verdict::accepted);
  const std::string trials = get(study + "/trials");
  const std::string seq = json_at(trials, "cursor");
  EXPECT_EQ(json_at(trials, "trials.0.last"), R"([["loss","-Infinity"],["val/acc é",0.25]])");
  EXPECT_EQ(get(study + "/series/trials?series=1"),
            R"({"trials":[{"trial":0,"seq":)" + seq +
                R"(,"series":[["loss",[0,4,5],[2.5,"NaN","-Infinity"]]]}],"cursor":)" + seq + "}");
  EXPECT_EQ(get(study + "/series/trials?after=" + seq), R"({"trials":[],"cursor":)" + seq + "}");
}

TEST_F(SeriesTest, R59_ALongSeriesIsThinnedOnRequest) {
  const std::string study = std::to_string(server_.submit(1));
  TestWorker worker(server_, server_.join());
  const protocol::Lease lease = worker.ready();
  for (std::int64_t seq = 1; seq <= 3; ++seq) {
    Series series{{}, {{"loss", {}}}};
    for (std::int64_t i = 0; i < 1'000; ++i) {
      series.steps.push_back(seq * 1'000 + i);
      series.columns[0].values.emplace_back(seq == 2 && i == 500 ? 99.0 : 1.0);
    }
    worker.send(log(lease.attempt, seq, std::move(series)));
    worker.receive<Ack>();
  }
  worker.send(TestWorker::result(lease.attempt, 0.5, 4));
  worker.receive<ResultAck>();
  const std::string thin = get(study + "/trials/0/series?points=8");
  EXPECT_THAT(json_at(thin, "series.0.1"), ::testing::StartsWith("[1000,"));
  EXPECT_THAT(json_at(thin, "series.0.1"), ::testing::HasSubstr(",2500,"));
  EXPECT_THAT(json_at(thin, "series.0.1"), ::testing::EndsWith(",3999]"));
  EXPECT_LT(json_at(thin, "series.0.1").size(), 8U * 6);
  EXPECT_GT(get(study + "/trials/0/series").size(), 3'000U * 8);
}

TEST_F(SeriesTest, WrongQuestionsAreNamed) {
  const std::string study = std::to_string(server_.submit(1));
  EXPECT_EQ(refused(study + "/series/trials?points=7"), "bad_number");
  EXPECT_EQ(refused(study + "/series/trials?points=x"), "bad_number");
  EXPECT_EQ(refused(study + "/series/unfinished?series=loss"), "bad_number");
  EXPECT_EQ(refused(study + "/series?limit=0"), "bad_number");
  EXPECT_EQ(refused(study + "/trials/0/series"), "not_found");
  EXPECT_EQ(refused(study + "/trials/x/series"), "not_found");
  EXPECT_EQ(refused("99/series"), "unknown_study");
}

TEST_F(SeriesTest, R16_OfAnotherDeviceAreNotTaken) {
  server_.submit(1);
  TestWorker worker(server_, server_.join());
  const protocol::Lease lease = worker.ready();
  TestWorker other(server_, server_.join());
  other.send(log(lease.attempt, 1, {{0}, {{"loss", {1.0}}}}));
  EXPECT_EQ(other.receive<ErrorMessage>().code, "unknown_attempt");
  worker.send(log(lease.attempt, 1, {{0}, {{"loss", {1.0}}}}));
  worker.receive<Ack>();
}

}  // namespace
}  // namespace hyperflock::app
