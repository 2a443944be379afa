// Tests the traces that a server posts, with a collector on loopback that checks their form: ids,
// times, kinds, parents, links, and the attributes of the resource.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "app/machine/version.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

using net::http_request;
using nlohmann::json;
using protocol::ResultAck;

// Accepts posts of spans, one connection after the other.
class Collector {
 public:
  // If `answers` is false, it reads each request and then stays silent until its end.
  explicit Collector(bool answers = true)
      : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const at = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_, at, size), 0);
    EXPECT_EQ(::listen(listener_, 16), 0);
    EXPECT_EQ(::getsockname(listener_, at, &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, answers] { serve(answers); });
  }
  ~Collector() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
    for (const int one : held_) ::close(one);
  }
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  // Waits until there is a span with this name, and returns the newest.
  json span(const std::string& name) {
    std::unique_lock lock(mutex_);
    json found;
    changed_.wait_for(lock, kTestLimit, [&] {
      for (const json& one : spans_)
        if (one.at("name") == name) found = one;
      return !found.is_null();
    });
    EXPECT_FALSE(found.is_null()) << "no span " << name;
    return found;
  }
  // Waits until a request has come.
  bool wait_for_request() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kTestLimit, [this] { return !heads_.empty(); });
  }
  std::string head() {
    const std::lock_guard lock(mutex_);
    return heads_.empty() ? "" : heads_.front();
  }
  std::vector<json> spans() {
    const std::lock_guard lock(mutex_);
    return spans_;
  }

 private:
  void serve(bool answers) {
    for (;;) {
      const int socket = ::accept(listener_, nullptr, nullptr);
      if (socket < 0) return;
      const std::string request = read(socket);
      take(request);
      if (!answers) {
        held_.push_back(socket);
        continue;
      }
      const std::string answer =
          "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
      ::send(socket, answer.data(), answer.size(), MSG_NOSIGNAL);
      ::close(socket);
    }
  }

  static std::string read(int socket) {
    std::string text;
    std::array<char, 16'384> piece{};
    for (;;) {
      const std::size_t end = text.find("\r\n\r\n");
      const std::size_t length = text.find("Content-Length: ");
      if (end != std::string::npos && length < end &&
          text.size() >= end + 4 + std::stoul(text.substr(length + 16)))
        return text;
      const auto bytes = ::recv(socket, piece.data(), piece.size(), 0);
      if (bytes <= 0) return text;
      text.append(piece.data(), static_cast<std::size_t>(bytes));
    }
  }

  void take(const std::string& request) {
    const std::size_t end = request.find("\r\n\r\n");
    if (end == std::string::npos) return;
    const json body = json::parse(request.substr(end + 4));
    const std::lock_guard lock(mutex_);
    heads_.push_back(request.substr(0, end));
    for (const json& resource : body.at("resourceSpans")) {
      check_resource(resource.at("resource"));
      for (const json& scope : resource.at("scopeSpans")) {
        for (const json& one : scope.at("spans")) {
          check(one);
          spans_.push_back(one);
        }
      }
    }
    changed_.notify_all();
  }

  static void check_resource(const json& resource) {
    std::set<std::string> found;
    for (const json& one : resource.at("attributes"))
      found.insert(one.at("key").get<std::string>() + "=" +
                   one.at("value").at("stringValue").get<std::string>());
    EXPECT_TRUE(found.contains("service.name=hyperflock-server"));
    EXPECT_TRUE(found.contains("service.version=" + std::string(kVersion)));
  }

  static void check_id(const json& id, std::size_t digits) {
    const std::string text = id;
    EXPECT_EQ(text.size(), digits) << text;
    EXPECT_EQ(text.find_first_not_of("0123456789abcdef"), std::string::npos) << text;
    EXPECT_NE(text.find_first_not_of('0'), std::string::npos) << text;
  }

  static void check(const json& span) {
    check_id(span.at("traceId"), 32);
    check_id(span.at("spanId"), 16);
    if (span.contains("parentSpanId")) check_id(span.at("parentSpanId"), 16);
    EXPECT_FALSE(span.at("name").get<std::string>().empty());
    const int kind = span.at("kind");
    EXPECT_TRUE(kind >= 1 && kind <= 5) << kind;
    const std::int64_t start = std::stoll(span.at("startTimeUnixNano").get<std::string>());
    const std::int64_t end = std::stoll(span.at("endTimeUnixNano").get<std::string>());
    EXPECT_GT(start, std::int64_t{1'700'000'000} * 1'000'000'000);
    EXPECT_LE(start, end);
    for (const json& link : span.value("links", json::array())) {
      check_id(link.at("traceId"), 32);
      check_id(link.at("spanId"), 16);
    }
    for (const json& one : span.at("attributes")) EXPECT_EQ(one.at("value").size(), 1U) << one;
  }

  int listener_;
  std::uint16_t port_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<json> spans_;
  std::vector<std::string> heads_;
  std::vector<int> held_;
  std::thread thread_;
};

std::string attribute(const json& span, const std::string& key) {
  for (const json& one : span.at("attributes")) {
    if (one.at("key") == key) return one.at("value").begin().value();
  }
  return "";
}

std::function<void(ServeConfig&)> traced(const Collector& collector, double share = 1) {
  return [url = collector.url(), share](ServeConfig& config) {
    config.otlp_endpoint = url + "/";
    config.trace_sample = share;
  };
}

TEST(Traces, ARequestItsCommitAndAnAttemptHaveSpans) {
  Collector collector;
  TestServer server(traced(collector));
  server.submit(1);
  TestWorker worker(server, server.join());
  const auto lease = worker.ready();
  worker.send(TestWorker::result(lease.attempt, 0.5));
  worker.receive<ResultAck>();
  const json attempt = collector.span("attempt");
  EXPECT_EQ(attempt.at("kind"), 1);
  EXPECT_FALSE(attempt.contains("parentSpanId"));
  EXPECT_EQ(attribute(attempt, "hyperflock.attempt"), std::to_string(to_int(lease.attempt)));
  EXPECT_EQ(attribute(attempt, "hyperflock.outcome"), "complete");
  const json session = collector.span("GET /ws/worker");
  ASSERT_EQ(attempt.at("links").size(), 1U);  // the lease and the result are of one session
  EXPECT_EQ(attempt.at("links")[0].at("traceId"), session.at("traceId"));
  EXPECT_EQ(attempt.at("links")[0].at("spanId"), session.at("spanId"));

  const json submitted = collector.span("POST /api/studies");
  EXPECT_EQ(submitted.at("kind"), 2);
  EXPECT_EQ(attribute(submitted, "http.response.status_code"), "201");
  EXPECT_EQ(attribute(submitted, "http.route"), "/api/studies");
  server.stop();  // sends what waits
  bool has_commit = false;
  for (const json& one : collector.spans()) {
    has_commit |= one.at("name") == "commit" && one.at("traceId") == submitted.at("traceId") &&
                  one.at("parentSpanId") == submitted.at("spanId");
  }
  EXPECT_TRUE(has_commit);
  EXPECT_TRUE(collector.head().starts_with("POST /v1/traces HTTP/1.1\r\n")) << collector.head();
  EXPECT_NE(collector.head().find("Content-Type: application/json"), std::string::npos);
}

TEST(Traces, AResearchersTraceGoesOnAndNobodyElses) {
  Collector collector;
  const TestServer server(traced(collector, 0));
  const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  const auto asks = [&](const std::string& flags, const std::string& token) {
    return http_request(server.console(), "GET", "/api/me",
                        {{"Authorization", "Bearer " + token},
                         {"traceparent", "00-" + trace + "-00f067aa0ba902b7-" + flags}});
  };
  asks("01", "hfr_wrong");
  http_request(server.compute(), "GET", "/healthz",
               {{"traceparent", "00-" + trace + "-00f067aa0ba902b7-01"}});
  asks("00", server.secrets().researcher_token);
  asks("01", server.secrets().researcher_token);
  const json span = collector.span("GET /api/me");
  EXPECT_EQ(span.at("traceId"), trace);
  EXPECT_EQ(span.at("parentSpanId"), "00f067aa0ba902b7");
  EXPECT_EQ(attribute(span, "http.response.status_code"), "200");
  EXPECT_EQ(collector.spans().size(), 1U);
}

TEST(Traces, ADeliveryToAWebhookHasASpan) {
  Collector collector;
  const net::ClosedPort nobody;
  const auto traces = traced(collector);
  TestServer server([&traces](ServeConfig& config) {
    traces(config);
    config.webhook_allow = {"127.0.0.1"};
  });
  const std::string study = "/api/studies/" + std::to_string(server.submit(1));
  const std::string url = "http://127.0.0.1:" + std::to_string(nobody.number()) + "/secret";
  ASSERT_EQ(server.rest("POST", study + "/webhook", R"({"url":")" + url + R"("})").status, 200);
  ASSERT_EQ(server.rest("POST", study + "/cancel").status, 200);
  const json span = collector.span("POST webhook");
  EXPECT_EQ(span.at("kind"), 3);
  EXPECT_EQ(attribute(span, "server.address"), "127.0.0.1");
  EXPECT_EQ(span.at("status").at("message"), "webhook_unreachable");
  EXPECT_EQ(span.dump().find("secret"), std::string::npos);
}

// A collector that never answers: requests are served, and the end waits for it only a short time.
TEST(Traces, ACollectorThatHangsDelaysNobody) {
  Collector collector(false);
  TestServer server(traced(collector));
  EXPECT_EQ(server.rest("GET", "/api/me").status, 200);
  ASSERT_TRUE(collector.wait_for_request());
  for (int i = 0; i < 50; ++i) ASSERT_EQ(server.rest("GET", "/api/me").status, 200);
  server.stop();
}

TEST(Traces, WithoutACollectorNothingIsCounted) {
  const TestServer server;
  EXPECT_EQ(server.rest("GET", "/api/me").status, 200);
  EXPECT_EQ(server.metric("hyperflock_trace_spans_exported_total"), 0);
}

}  // namespace
}  // namespace hyperflock::app
