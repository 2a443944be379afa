// Tests POST /api/studies/<id>/reject against a whole server: results are taken back, and their
// trials run again on another device (R71).
#include <gmock/gmock.h>

#include <chrono>

#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

using protocol::ResultAck;
using protocol::Verdict;
using ::testing::HasSubstr;

class RejectionTest : public testing::Test {
 protected:
  std::string path(const std::string& rest = {}) const {
    return "/api/studies/" + std::to_string(study_) + rest;
  }
  net::HttpAnswer reject(const std::string& body) const {
    return server_.rest("POST", path("/reject"), body);
  }
  net::HttpAnswer reject_device(const TestDevice& device) const {
    return reject(R"({"device":")" + device.id + R"(","reason":"it lies"})");
  }
  std::string row() const { return server_.rest("GET", path()).body; }

  // Lets the device send a result of the next trial. Returns the attempt.
  static AttemptId send_result(TestWorker& worker, double value) {
    const AttemptId attempt = worker.ready().attempt;
    worker.send(TestWorker::result(attempt, value));
    EXPECT_EQ(worker.receive<ResultAck>().verdict, Verdict::accepted);
    return attempt;
  }

  TestServer server_;
  std::int64_t study_ = server_.submit(3);
  TestDevice liar_ = server_.join();
  TestDevice phone_ = server_.join();
};

TEST_F(RejectionTest, AFinishedStudyIsRepairedByAnotherDevice) {
  TestWorker liar(server_, liar_);
  TestWorker phone(server_, phone_);
  send_result(phone, 0.5);
  const AttemptId first = send_result(liar, 1e308);
  send_result(liar, 1e308);
  ASSERT_TRUE(server_.reaches(study_, "finished"));
  ASSERT_EQ(json_at(row(), "best.trial"), "1");

  const auto answer = reject_device(liar_);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(json_at(answer.body, "study"), std::to_string(study_));
  EXPECT_EQ(json_at(answer.body, "rejected"), "2");
  EXPECT_EQ(json_at(answer.body, "trials"), "2");
  EXPECT_EQ(json_at(row(), "state"), "running");
  EXPECT_EQ(json_at(row(), "complete"), "1");
  EXPECT_EQ(json_at(row(), "running"), "2");

  // The liar gets none of these trials again, and its result sent again is evidence.
  liar.send(protocol::Ready{});
  EXPECT_EQ(liar.receive<protocol::Wait>().reason, protocol::WaitReason::no_matching_work);
  liar.send(TestWorker::result(first, 1e308));
  EXPECT_EQ(liar.receive<ResultAck>().verdict, Verdict::evidence);
  send_result(phone, 0.25);
  send_result(phone, 0.75);
  ASSERT_TRUE(server_.reaches(study_, "finished"));
  EXPECT_EQ(json_at(row(), "complete"), "3");
  EXPECT_EQ(json_at(row(), "best.value"), "0.75");

  const std::string trial = server_.rest("GET", path("/trials/1")).body;
  EXPECT_EQ(json_at(trial, "rejected"), "1");
  EXPECT_EQ(json_at(trial, "attempts_list.0.state"), "evidence");
  EXPECT_EQ(json_at(trial, "attempts_list.0.values.0"), "1e+308");
  EXPECT_EQ(json_at(trial, "attempts_list.0.rejected.by"), "researcher");
  EXPECT_EQ(json_at(trial, "attempts_list.0.rejected.reason"), "it lies");
  EXPECT_THAT(json_at(trial, "attempts_list.1.rejected"), HasSubstr("nothing"));
  const auto again = reject_device(liar_);
  EXPECT_EQ(json_at(again.body, "rejected"), "0");
  EXPECT_EQ(json_at(again.body, "trials"), "0");
}

TEST_F(RejectionTest, TheAuditLogHasOneEntryForEachRequestThatRejects) {
  TestWorker liar(server_, liar_);
  send_result(liar, 1);
  reject_device(liar_);
  reject_device(liar_);
  const std::string audit = server_.admin("GET", "/api/audit").body;
  std::size_t entries = 0;
  for (auto at = audit.find("study.reject"); at != std::string::npos;
       at = audit.find("study.reject", at + 1))
    ++entries;
  EXPECT_EQ(entries, 1U);
  EXPECT_THAT(audit, HasSubstr(liar_.id));
  EXPECT_THAT(audit, HasSubstr("it lies"));
}

TEST_F(RejectionTest, ADeviceIsRejectedWhileItComputes) {
  TestWorker liar(server_, liar_);
  const auto lease = liar.ready();
  EXPECT_EQ(json_at(reject_device(liar_).body, "rejected"), "1");
  EXPECT_EQ(liar.receive<protocol::Revoke>().attempt, lease.attempt);
  liar.send(TestWorker::result(lease.attempt, 1));
  EXPECT_EQ(liar.receive<ResultAck>().verdict, Verdict::evidence);
  EXPECT_EQ(json_at(row(), "complete"), "0");
}

TEST_F(RejectionTest, ItsFilesAndItsRejectionSurviveARestart) {
  TestWorker liar(server_, liar_);
  send_result(liar, 1);
  reject(R"({"trial":0})");
  server_.restart();
  EXPECT_EQ(json_at(row(), "running"), "1");
  TestWorker again(server_, liar_);
  EXPECT_EQ(again.ready().trial, TrialNumber{1});  // not trial 0
  TestWorker phone(server_, phone_);
  EXPECT_EQ(phone.ready().trial, TrialNumber{0});
}

TEST_F(RejectionTest, WhatADeviceSentSinceATime) {
  const auto now = [] {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  };
  TestWorker liar(server_, liar_);
  send_result(liar, 1);
  const std::string finished =
      json_at(server_.rest("GET", path("/trials")).body, "trials.0.finished_at");
  EXPECT_EQ(status_and_code(reject(R"({"since":)" + std::to_string(now() + 3'600'000) + "}")),
            "422 bad_field");
  EXPECT_EQ(json_at(reject(R"({"since":)" + finished + "}").body, "rejected"), "1");
}

TEST_F(RejectionTest, BadRequestsHaveCodes) {
  TestWorker liar(server_, liar_);
  send_result(liar, 1);
  EXPECT_EQ(status_and_code(reject("{}")), "422 missing_field");
  EXPECT_EQ(status_and_code(reject("")), "422 missing_field");
  EXPECT_EQ(status_and_code(reject("[]")), "400 malformed");
  EXPECT_EQ(status_and_code(reject(R"({"device":"d_nobody"})")), "404 unknown_device");
  EXPECT_EQ(status_and_code(reject(R"({"device":""})")), "422 bad_field");
  EXPECT_EQ(status_and_code(reject(R"({"trial":3})")), "404 not_found");
  EXPECT_EQ(status_and_code(reject(R"({"trial":-1})")), "422 bad_number");
  EXPECT_EQ(status_and_code(reject(R"({"trial":0,"since":"now"})")), "422 bad_field");
  EXPECT_EQ(status_and_code(reject(R"({"trial":0,"reason":7})")), "422 bad_field");
  EXPECT_EQ(status_and_code(server_.rest("POST", "/api/studies/99/reject", R"({"trial":0})")),
            "404 unknown_study");
  EXPECT_EQ(json_at(row(), "complete"), "1");  // nothing was rejected
}

TEST_F(RejectionTest, NobodyElseMayReject) {
  TestWorker liar(server_, liar_);
  send_result(liar, 1);
  const std::string& admin = server_.secrets().admin_token;
  const auto eve =
      server_.rest_as(admin, "POST", "/api/researchers", R"({"name":"eve","projects":[]})");
  const auto made = server_.rest_as(admin, "POST", "/api/tokens",
                                    R"({"researcher":)" + json_at(eve.body, "researcher") + "}");
  const std::string token = json_at(made.body, "token");
  ASSERT_EQ(made.status, 201) << eve.body << made.body;
  EXPECT_EQ(status_and_code(server_.rest_as(token, "POST", path("/reject"), R"({"trial":0})")),
            "404 unknown_study");
  EXPECT_EQ(server_.rest_as(liar_.secret, "POST", path("/reject"), R"({"trial":0})").status, 401);
  const auto answer = server_.rest_as(admin, "POST", path("/reject"), R"({"trial":0})");
  EXPECT_EQ(json_at(answer.body, "rejected"), "1");
}

TEST_F(RejectionTest, TheResultsOfAnErasedDeviceCanBeRejected) {
  TestWorker liar(server_, liar_);
  send_result(liar, 1);
  ASSERT_EQ(server_.admin("POST", "/api/devices/" + liar_.id + "/erase").status, 200);
  EXPECT_EQ(status_and_code(reject_device(liar_)), "404 unknown_device");
  EXPECT_EQ(json_at(reject(R"({"device":"erased"})").body, "rejected"), "1");
}

TEST_F(RejectionTest, ARevokedDeviceCanLoseItsResultsInAllStudies) {
  const std::int64_t other = server_.submit(1, "other");
  TestWorker liar(server_, liar_);
  for (int trial = 0; trial < 4; ++trial) send_result(liar, 1);
  ASSERT_TRUE(server_.reaches(study_, "finished"));
  ASSERT_TRUE(server_.reaches(other, "finished"));
  const std::string revoke = "/api/devices/" + liar_.id + "/revoke";
  EXPECT_EQ(status_and_code(server_.admin("POST", revoke, R"({"reason":"it lies"})")),
            "422 bad_field");
  const auto answer = server_.admin("POST", revoke, R"({"reject":true,"reason":"it lies"})");
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(json_at(answer.body, "studies"), "2");
  EXPECT_EQ(json_at(answer.body, "rejected"), "4");
  EXPECT_EQ(json_at(answer.body, "trials"), "4");
  EXPECT_EQ(liar.socket().wait_close(), 4003);
  EXPECT_EQ(json_at(row(), "complete"), "0");
  TestWorker phone(server_, phone_);
  for (int trial = 0; trial < 4; ++trial) send_result(phone, 0.5);
  EXPECT_TRUE(server_.reaches(study_, "finished"));
  EXPECT_TRUE(server_.reaches(other, "finished"));
  const auto again = server_.admin("POST", revoke, R"({"reject":true})");
  EXPECT_EQ(json_at(again.body, "rejected"), "0");
}

TEST_F(RejectionTest, AResearcherRevokesDevicesOfOwnProjectsOnly) {
  TestWorker liar(server_, liar_);
  send_result(liar, 1);
  const auto eve = server_.admin("POST", "/api/researchers", R"({"name":"eve","projects":[]})");
  const auto made = server_.admin("POST", "/api/tokens",
                                  R"({"researcher":)" + json_at(eve.body, "researcher") + "}");
  const std::string revoke = "/api/devices/" + liar_.id + "/revoke";
  EXPECT_EQ(status_and_code(server_.rest_as(json_at(made.body, "token"), "POST", revoke)),
            "404 unknown_device");
  EXPECT_EQ(json_at(server_.rest("POST", revoke, R"({"reject":true})").body, "rejected"), "1");
  EXPECT_EQ(json_at(row(), "running"), "1");
}

TEST_F(RejectionTest, ARevokedCodeCanTakeItsDevicesAndTheirResultsWithIt) {
  TestWorker liar(server_, liar_);
  TestWorker phone(server_, phone_);
  send_result(liar, 1);
  send_result(phone, 1);
  const std::string codes = server_.admin("GET", "/api/enrolment").body;
  const std::string revoke =
      "/api/enrolment/" + json_at(codes, "enrolments.0.enrolment") + "/revoke";
  const auto answer = server_.admin("POST", revoke, R"({"reject":true})");
  EXPECT_EQ(json_at(answer.body, "devices"), "2");
  EXPECT_EQ(json_at(answer.body, "rejected"), "2");
  EXPECT_EQ(json_at(answer.body, "trials"), "2");
  EXPECT_EQ(liar.socket().wait_close(), 4003);
  EXPECT_EQ(phone.socket().wait_close(), 4003);
  EXPECT_EQ(json_at(row(), "complete"), "0");
}

}  // namespace
}  // namespace hyperflock::app
