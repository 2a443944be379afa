// Tests which spans a commit makes.
#include "hub/tracing/commit_spans.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace hyperflock::hub {
namespace {

using nlohmann::json;
using telemetry::RequestContext;

RequestContext sampled() {
  RequestContext request = telemetry::new_request();
  request.sampled = true;
  return request;
}

storage::Transition start(std::int64_t attempt) {
  return storage::StartAttempt{.attempt = AttemptId{attempt},
                               .trial = {StudyId{4}, TrialNumber{5}},
                               .device = "d",
                               .device_class = "phone",
                               .engine = "e",
                               .params = "{}"};
}

storage::Transition end(std::int64_t attempt) {
  return storage::EndAttempt{
      .attempt = AttemptId{attempt}, .state = storage::AttemptState::expired, .failure = {}};
}

class CommitSpansTest : public ::testing::Test {
 protected:
  // Notes batches, and returns the spans.
  template <typename Notes>
  std::vector<json> spans(Notes notes, double share = 1) {
    std::vector<json> found;
    telemetry::Metrics metrics;
    telemetry::TracerSettings settings;
    settings.sample = share;
    settings.send = [&found](const std::string& text) -> Status {
      const json parsed = json::parse(text);
      for (const json& one : parsed["resourceSpans"][0]["scopeSpans"][0]["spans"])
        found.push_back(one);
      return {};
    };
    telemetry::Tracer tracer(settings, metrics);
    CommitSpans made(tracer);
    notes(made);
    tracer.stop();
    return found;
  }
};

TEST_F(CommitSpansTest, ABatchStandsInTheTraceOfItsFirstRequestAndLinksTheOthers) {
  const std::vector<RequestContext> requests{telemetry::new_request(), sampled(), sampled()};
  const std::vector<storage::Transition> batch(3, storage::KeepTime{});
  const auto found = spans([&](CommitSpans& made) {
    made.note(batch, requests, std::vector<storage::Outcome>(3), 1);
    made.note(batch, {3, telemetry::new_request()}, std::vector<storage::Outcome>(3), 1);
  });
  ASSERT_EQ(found.size(), 1U);  // the second batch has no sampled request
  EXPECT_EQ(found[0]["name"], "commit");
  EXPECT_EQ(found[0]["traceId"], requests[1].id());
  EXPECT_EQ(found[0]["parentSpanId"], telemetry::hex(requests[1].span));
  EXPECT_NE(found[0]["spanId"], found[0]["parentSpanId"]);
  ASSERT_EQ(found[0]["links"].size(), 1U);
  EXPECT_EQ(found[0]["links"][0]["traceId"], requests[2].id());
}

TEST_F(CommitSpansTest, AFailedBatchSaysWhy) {
  const auto found = spans([&](CommitSpans& made) {
    made.note(std::vector<storage::Transition>{storage::KeepTime{}}, {sampled()},
              Error{"storage_full", "The disk is full."}, 1);
  });
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0]["status"]["code"], 2);
  EXPECT_EQ(found[0]["status"]["message"], "storage_full");
}

TEST_F(CommitSpansTest, AnAttemptLastsFromItsLeaseToItsEnd) {
  const RequestContext lease = telemetry::new_request();
  const RequestContext over = telemetry::new_request();
  const auto found = spans([&](CommitSpans& made) {
    const std::vector<storage::Outcome> applied(1);
    made.note(std::vector<storage::Transition>{start(9)}, {lease}, applied, 1);
    EXPECT_EQ(made.running(), 1U);
    made.note(std::vector<storage::Transition>{end(8)}, {over}, applied, 1);  // it began earlier
    made.note(std::vector<storage::Transition>{end(9)}, {over}, applied, 1);
    EXPECT_EQ(made.running(), 0U);
  });
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0]["name"], "attempt");
  EXPECT_EQ(found[0]["attributes"][2]["value"]["intValue"], "9");
  ASSERT_EQ(found[0]["links"].size(), 2U);
  EXPECT_EQ(found[0]["links"][0]["traceId"], lease.id());
  EXPECT_EQ(found[0]["links"][1]["traceId"], over.id());
  EXPECT_LE(std::stoll(found[0]["startTimeUnixNano"].get<std::string>()),
            std::stoll(found[0]["endTimeUnixNano"].get<std::string>()));
}

TEST_F(CommitSpansTest, WhatIsNotAppliedBeginsNothing) {
  const auto found = spans([&](CommitSpans& made) {
    std::vector<storage::Outcome> refused(1);
    refused[0].applied = storage::Applied::conflict;
    made.note(std::vector<storage::Transition>{start(9)}, {RequestContext{}}, refused, 1);
    EXPECT_EQ(made.running(), 0U);
  });
  EXPECT_TRUE(found.empty());
}

}  // namespace
}  // namespace hyperflock::hub
