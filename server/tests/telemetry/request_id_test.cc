// Tests the ids of requests: who chooses them, where a client finds them, and which log lines and
// entries of the audit log have them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "telemetry/log.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

using net::Headers;
using net::http_raw;
using net::http_request;
using net::HttpAnswer;
using net::TestSocket;
using nlohmann::json;

constexpr const char* kChosen = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string kTraceparent = "00-" + std::string(kChosen) + "-00f067aa0ba902b7-01";

std::string id_of(const HttpAnswer& answer) {
  const auto found = answer.headers.find("x-request-id");
  return found == answer.headers.end() ? "" : found->second;
}

bool is_id(const std::string& text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

Headers with_token(const std::string& token) {
  return {{"Authorization", "Bearer " + token}, {"traceparent", kTraceparent}};
}

// Collects the lines of the log while it lives.
class CapturedLog {
 public:
  CapturedLog() {
    ::testing::internal::CaptureStderr();
    telemetry::start_logging(telemetry::LogLevel::debug);
  }
  ~CapturedLog() {
    if (!ended_) lines();
  }

  // Ends the collection. Returns its lines.
  std::vector<json> lines() {
    telemetry::start_logging(telemetry::LogLevel::off);
    ended_ = true;
    std::vector<json> found;
    const std::string text = ::testing::internal::GetCapturedStderr();
    std::size_t from = 0;
    for (std::size_t end = 0; (end = text.find('\n', from)) != std::string::npos; from = end + 1)
      found.push_back(json::parse(text.substr(from, end - from)));
    return found;
  }

 private:
  bool ended_ = false;
};

std::vector<json> lines_of(const std::vector<json>& lines, const std::string& event) {
  std::vector<json> found;
  for (const json& line : lines)
    if (line.at("event") == event) found.push_back(line);
  return found;
}

TEST(RequestId, EveryAnswerHasOneAndErrorsNameItInTheirBody) {
  const TestServer server;
  std::set<std::string> ids;
  for (const char* target : {"/healthz", "/api/me", "/nothing", "/api/studies/7", "/ws/client"}) {
    const HttpAnswer answer = server.rest("GET", target);
    EXPECT_TRUE(is_id(id_of(answer))) << target << " " << id_of(answer);
    ids.insert(id_of(answer));
    if (answer.status >= 400) {
      EXPECT_EQ(json_at(answer.body, "error.request_id"), id_of(answer)) << answer.body;
    }
  }
  EXPECT_EQ(ids.size(), 5U);
  TestSocket socket(server.compute());
  EXPECT_TRUE(is_id(id_of(http_raw(socket, "no request\r\n\r\n"))));
}

TEST(RequestId, AStrangerCannotChooseIt) {
  const TestServer server;
  for (const std::uint16_t port : {server.compute(), server.console()}) {
    for (const Headers& headers :
         {Headers{{"traceparent", kTraceparent}}, Headers{{"X-Request-Id", kChosen}},
          Headers{{"X-Request-Id", "a\x1b[31mb"}}, with_token("hfr_wrong")}) {
      for (const char* target : {"/healthz", "/api/me", "/api/project"}) {
        const std::string id = id_of(http_request(port, "GET", target, headers));
        EXPECT_TRUE(is_id(id)) << target;
        EXPECT_NE(id, kChosen) << target;
      }
    }
  }
}

TEST(RequestId, ADeviceCannotChooseIt) {
  const TestServer server;
  const TestDevice device = server.join();
  const HttpAnswer answer =
      http_request(server.compute(), "GET", "/api/blobs/" + std::string(64, 'a'),
                   {{"Authorization", "Device " + device.id + ":" + device.secret},
                    {"traceparent", kTraceparent}});
  EXPECT_TRUE(is_id(id_of(answer)));
  EXPECT_NE(id_of(answer), kChosen);
}

TEST(RequestId, AResearcherChoosesItByTraceparent) {
  const TestServer server;
  const std::string token = server.secrets().researcher_token;
  EXPECT_EQ(id_of(http_request(server.console(), "GET", "/api/me", with_token(token))), kChosen);
  Headers twice = with_token(token);
  twice.emplace_back("traceparent", kTraceparent);
  EXPECT_NE(id_of(http_request(server.console(), "GET", "/api/me", twice)), kChosen);
  const Headers invalid{{"Authorization", "Bearer " + token}, {"traceparent", "00-x-y-01"}};
  EXPECT_TRUE(is_id(id_of(http_request(server.console(), "GET", "/api/me", invalid))));
}

TEST(RequestId, AProxyChoosesItOnlyIfTheOperatorSaysSo) {
  const Headers headers{{"traceparent", kTraceparent}, {"X-Forwarded-For", "198.51.100.7"}};
  TestServer server([](ServeConfig& config) { config.trusted_proxies = {"127.0.0.1"}; });
  EXPECT_NE(id_of(http_request(server.compute(), "GET", "/healthz", headers)), kChosen);
  server.restart_with([](ServeConfig& config) { config.proxy_traceparent = true; });
  EXPECT_EQ(id_of(http_request(server.compute(), "GET", "/healthz", headers)), kChosen);
}

TEST(RequestId, StandsInTheLinesThatTheRequestCauses) {
  CapturedLog log;
  std::string joined;
  std::string refused;
  std::string revoked;
  {
    TestServer server;
    const HttpAnswer answer = http_request(server.compute(), "POST", "/api/join", net::kJson,
                                           R"({"code":")" + server.secrets().enrolment_code +
                                               R"(","class":"desktop","engine":"test 1"})");
    EXPECT_EQ(answer.status, 201) << answer.body;
    joined = id_of(answer);
    refused = id_of(server.rest("GET", "/api/studies/7"));
    const TestDevice device = server.join();
    revoked = id_of(server.admin("POST", "/api/devices/" + device.id + "/revoke"));
    const auto entries = json::parse(server.admin("GET", "/api/audit").body).at("entries");
    EXPECT_EQ(entries.back().at("action"), "device.revoke");
    EXPECT_EQ(entries.back().at("detail").value("request", ""), revoked);
    // A device's session is one request.
    TestWorker worker(server, server.join());
  }
  const std::vector<json> lines = log.lines();
  const auto joins = lines_of(lines, "device_joined");
  ASSERT_FALSE(joins.empty());
  EXPECT_EQ(joins.front().value("request", ""), joined);
  const auto refusals = lines_of(lines, "request_refused");
  ASSERT_EQ(refusals.size(), 1U);
  EXPECT_EQ(refusals[0].value("request", ""), refused);
  EXPECT_EQ(refusals[0].value("route", ""), "/api/studies/{}");
  EXPECT_EQ(refusals[0].value("code", ""), "unknown_study");
  const auto revocations = lines_of(lines, "device_revoked");
  ASSERT_EQ(revocations.size(), 1U);
  EXPECT_EQ(revocations[0].value("request", ""), revoked);
  const auto opened = lines_of(lines, "session_opened");
  const auto closed = lines_of(lines, "session_closed");
  ASSERT_EQ(opened.size(), 1U);
  ASSERT_EQ(closed.size(), 1U);
  EXPECT_TRUE(is_id(opened[0].value("request", "")));
  EXPECT_EQ(opened[0].at("request"), closed[0].at("request"));
}

TEST(RequestId, AFailureIsAWarningAndHasIt) {
  CapturedLog log;
  std::string failed;
  {
    TestServer server([](ServeConfig& config) { config.min_free_bytes = std::uint64_t{1} << 60; });
    const HttpAnswer answer = http_request(server.compute(), "POST", "/api/join", net::kJson,
                                           R"({"code":")" + server.secrets().enrolment_code +
                                               R"(","class":"desktop","engine":"test 1"})");
    EXPECT_EQ(answer.status, 507) << answer.body;
    failed = id_of(answer);
  }
  const auto failures = lines_of(log.lines(), "request_failed");
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].value("level", ""), "warning");
  EXPECT_EQ(failures[0].value("request", ""), failed);
  EXPECT_EQ(failures[0].value("code", ""), "no_room");
}

TEST(RequestId, TheAnswerToAWebSocketHasIt) {
  const TestServer server;
  TestSocket socket(server.compute());
  const HttpAnswer answer =
      http_raw(socket,
               "GET /ws/worker HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: "
               "Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
               "dGhlIHNhbXBsZSBub25jZQ==\r\ntraceparent: " +
                   kTraceparent + "\r\n\r\n");
  EXPECT_EQ(answer.status, 101);
  EXPECT_TRUE(is_id(id_of(answer)));
  EXPECT_NE(id_of(answer), kChosen);
}

}  // namespace
}  // namespace hyperflock::app
