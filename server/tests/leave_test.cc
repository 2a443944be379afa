// Tests two requests that a volunteer's page sends over HTTP: the note that the page is closed, and
// the report of its self-test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

using net::http_request;
using protocol::LeaseOffer;
using protocol::Wait;

class LeaveTest : public ::testing::Test {
 protected:
  net::HttpAnswer leave(const TestDevice& device, std::uint64_t session) const {
    return http_request(server_.compute(), "POST", "/api/leave",
                        {{"Authorization", "Device " + device.id + ":" + device.secret}},
                        R"({"session":)" + std::to_string(session) + "}");
  }
  TestServer server_;
};

TEST_F(LeaveTest, R22_APageThatGoesAwayReleasesItsTrialAtOnce) {
  server_.submit(1);
  const TestDevice device = server_.join();
  TestWorker first(server_, device);
  const auto lease = first.ready();
  TestWorker second(server_, server_.join());
  second.send(protocol::Ready{});
  EXPECT_EQ(second.receive<Wait>().reason, protocol::WaitReason::no_work);
  EXPECT_EQ(leave(device, first.welcome()->session).status, 200);
  EXPECT_EQ(second.receive<LeaseOffer>().lease.trial, lease.trial);
  EXPECT_EQ(first.socket().wait_close(), 1000);
}

TEST_F(LeaveTest, AnotherDevicesSessionAndAnEndedOneAreLeftAlone) {
  server_.submit(1);
  const TestDevice device = server_.join();
  const TestDevice stranger = server_.join();
  TestWorker worker(server_, device);
  const auto lease = worker.ready();
  EXPECT_EQ(leave(stranger, worker.welcome()->session).status, 200);
  EXPECT_EQ(leave(device, worker.welcome()->session + 1).status, 200);
  worker.send(TestWorker::result(lease.attempt, 0.5));
  EXPECT_EQ(worker.receive<protocol::ResultAck>().verdict, protocol::Verdict::accepted);
}

TEST_F(LeaveTest, WhoIsNoDeviceAndWhatIsNoSessionIsRefused) {
  EXPECT_EQ(status_and_code(leave({"d_nobody", "hfd_wrong"}, 1)), "401 unauthorized");
  EXPECT_EQ(status_and_code(leave(server_.join(), 0)), "422 bad_number");
}

class DeviceReportsTest : public ::testing::Test {
 protected:
  net::HttpAnswer send(const std::string& report, std::string code = {}) const {
    if (code.empty()) code = server_.secrets().enrolment_code;
    return http_request(server_.compute(), "POST", "/api/device-reports", {},
                        R"({"code":")" + code + R"(","report":)" + report + "}");
  }
  net::HttpAnswer read(const std::string& token) const {
    return server_.rest_as(token, "GET", "/api/device-reports");
  }
  const std::string report_ =
      R"({"class":"phone","engine":"webkit 26","checks":[{"name":"webgpu","state":"ok","detail":"Apple"}]})";
  TestServer server_;
};

TEST_F(DeviceReportsTest, AReportIsStoredAndReadByAnAdministratorAlsoAfterARestart) {
  const auto sent = send(report_);
  EXPECT_EQ(sent.status, 201);
  EXPECT_EQ(json_at(sent.body, "report"), "1");
  EXPECT_EQ(status_and_code(read(server_.secrets().researcher_token)), "403 forbidden");
  for (int i = 0; i < 2; ++i) {
    const auto all = read(server_.secrets().admin_token);
    EXPECT_EQ(all.status, 200);
    EXPECT_EQ(json_at(all.body, "reports.0.engine"), "webkit 26");
    EXPECT_EQ(json_at(all.body, "reports.0.checks.0.detail"), "Apple");
    server_.restart();
  }
}

TEST_F(DeviceReportsTest, WhatIsNoReportIsRefusedWithItsField) {
  EXPECT_EQ(status_and_code(send(report_, "hfe_wrong")), "403 bad_enrolment_code");
  EXPECT_EQ(status_and_code(send(R"({"class":"phone","engine":"x"})")), "422 missing_field");
  EXPECT_EQ(status_and_code(send(R"({"class":"toaster","engine":"x","checks":[]})")),
            "422 bad_field");
  EXPECT_EQ(
      json_at(
          send(R"({"class":"phone","engine":"x","checks":[{"name":"a","state":"no","detail":""}]})")
              .body,
          "error.field"),
      "report.checks[0].state");
  EXPECT_EQ(status_and_code(send(R"({"class":"phone","engine":")" + std::string(257, 'x') +
                                 R"(","checks":[]})")),
            "422 too_long");
  EXPECT_EQ(status_and_code(send(std::string(40'000, ' ') + report_)), "413 body_too_large");
  EXPECT_EQ(json_at(read(server_.secrets().admin_token).body, "reports"), "[]");
}

TEST_F(DeviceReportsTest, ManyOfOneAddressAreHeldBack) {
  std::string last;
  for (int i = 0; i < 10'000 && last != "429 rate_limited"; ++i)
    last = status_and_code(send(report_));
  EXPECT_EQ(last, "429 rate_limited");
}

}  // namespace
}  // namespace hyperflock::app
