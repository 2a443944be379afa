// Tests a server behind proxies: who counts as the client, that one client's flood does not affect
// the others, and what is refused. The proxies are clients on loopback. Also tests that one origin
// can still be used when the other one has no free connections.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

using namespace std::string_literals;
using net::Headers;
using net::http_raw;
using net::http_request;
using net::HttpAnswer;
using net::TestSocket;

void behind_proxy(ServeConfig& config) { config.trusted_proxies = {"127.0.0.1"}; }

Headers forwarded(const std::string& client) { return {{"X-Forwarded-For", client}}; }

// Returns a PROXY header, version 2, for this IPv4 client.
std::string proxy_header(const std::string& four_bytes) {
  return "\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c"s + four_bytes + "\x7f\0\0\1\x30\x39\0\x50"s;
}

// Sends a wrong token. A client may do this 20 times at once.
std::string wrong_token(const TestServer& server, Headers headers) {
  headers.emplace_back("Authorization", "Bearer hfr_wrong");
  return status_and_code(http_request(server.console(), "GET", "/api/me", headers));
}

void use_up_wrong_tokens(const TestServer& server, const Headers& headers) {
  std::string last;
  for (int i = 0; i < 10'000 && last != "429 rate_limited"; ++i)
    last = wrong_token(server, headers);
  EXPECT_EQ(last, "429 rate_limited");
}

std::string last_address_of_audit(const TestServer& server) {
  const auto answer = server.rest_as(server.secrets().admin_token, "GET", "/api/audit?limit=1000");
  return nlohmann::json::parse(answer.body).at("entries").back().at("address");
}

TEST(Proxy, LimitsAndTheAuditLogUseTheClientThatTheProxyNames) {
  const TestServer server(behind_proxy);
  use_up_wrong_tokens(server, forwarded("198.51.100.7"));
  EXPECT_EQ(wrong_token(server, forwarded("198.51.100.8")), "401 unauthorized");
  // An address that the client itself put into the header comes first in the list and changes
  // nothing.
  EXPECT_EQ(wrong_token(server, forwarded("203.0.113.99, 198.51.100.7")), "429 rate_limited");
  EXPECT_EQ(wrong_token(server, forwarded("198.51.100.7, 127.0.0.1")), "429 rate_limited");

  use_up_wrong_tokens(server, forwarded("2001:db8:1:2::1"));
  EXPECT_EQ(wrong_token(server, forwarded("2001:db8:1:2:ffff::9")), "429 rate_limited");
  EXPECT_EQ(wrong_token(server, forwarded("2001:db8:1:3::1")), "401 unauthorized");

  Headers headers = forwarded("198.51.100.9");
  headers.emplace_back("Authorization", "Bearer " + server.secrets().admin_token);
  ASSERT_EQ(
      http_request(server.console(), "POST", "/api/projects", headers, R"({"project":"P"})").status,
      201);
  EXPECT_EQ(last_address_of_audit(server), "198.51.100.9");
}

TEST(Proxy, AStrangerCannotNameAnotherAddress) {
  const TestServer server;
  use_up_wrong_tokens(server, forwarded("198.51.100.7"));
  EXPECT_EQ(wrong_token(server, forwarded("198.51.100.8")), "429 rate_limited");
  EXPECT_EQ(wrong_token(server, {}), "429 rate_limited");
}

TEST(Proxy, AHeaderThatNamesNobodyIsRefused) {
  const TestServer server(behind_proxy);
  for (const char* bad : {"unknown", "", "198.51.100.7, nobody", "198.51.100.7,"})
    EXPECT_EQ(status_and_code(http_request(server.compute(), "GET", "/healthz", forwarded(bad))),
              "400 bad_forwarded")
        << bad;
  EXPECT_EQ(status_and_code(
                http_request(server.compute(), "GET", "/healthz", {{"X-Forwarded-Proto", "wss"}})),
            "400 bad_forwarded");
  EXPECT_EQ(
      http_request(server.compute(), "GET", "/healthz", forwarded("nobody, 198.51.100.7")).status,
      200);
}

TEST(Proxy, EachClientBehindAProxyHasItsOwnConnections) {
  const TestServer server([](ServeConfig& config) {
    behind_proxy(config);
    config.max_connections_per_address = 2;
  });
  const auto request = [](const std::string& client) {
    return "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: " + client + "\r\n\r\n";
  };
  const std::string upgrade =
      "GET /ws/worker HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 198.51.100.7\r\n"
      "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
      "Sec-WebSocket-Version: 13\r\n\r\n";
  // The proxy's idle connections count for no client, but a WebSocket counts for its client.
  std::vector<TestSocket> kept;
  for (int i = 0; i < 8; ++i) {
    kept.emplace_back(server.compute());
    EXPECT_EQ(http_raw(kept.back(), request("198.51.100." + std::to_string(i))).status, 200);
  }
  // An answer may arrive before its request no longer counts. So the WebSockets are tried again.
  std::vector<TestSocket> sockets;
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(until([&] {
      TestSocket one(server.compute());
      if (http_raw(one, upgrade).status != 101) return false;
      sockets.push_back(std::move(one));
      return true;
    }));
  }
  EXPECT_EQ(status_and_code(http_raw(kept[0], request("198.51.100.7"))),
            "429 too_many_connections");
  EXPECT_EQ(http_raw(kept[0], request("198.51.100.8")).status, 200);
  // Only this client is refused; other clients can go on using the proxy's connection.
  EXPECT_EQ(status_and_code(http_raw(kept[7], request("198.51.100.7"))),
            "429 too_many_connections");
  EXPECT_EQ(http_raw(kept[7], request("203.0.113.1, 198.51.100.6")).status, 200);
  sockets.pop_back();
  EXPECT_TRUE(until([&] { return http_raw(kept[0], request("198.51.100.7")).status == 200; }));
}

TEST(Proxy, WithoutAProxyTheAddressOfTheSocketCounts) {
  const TestServer server([](ServeConfig& config) { config.max_connections_per_address = 2; });
  TestSocket one(server.compute());
  TestSocket two(server.compute());
  const std::string request = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
  EXPECT_EQ(http_raw(one, request).status, 200);
  EXPECT_EQ(http_raw(two, request).status, 200);
  EXPECT_EQ(
      status_and_code(http_request(server.compute(), "GET", "/healthz", forwarded("198.51.100.7"))),
      "429 too_many_connections");
}

TEST(Proxy, APhonesAddressBehindAProxyCountsForItsJoins) {
  const TestServer server([](ServeConfig& config) {
    behind_proxy(config);
    config.joins_burst = 1;
    config.joins_per_s = 0.001;
  });
  const std::string body = join_body(server);
  const auto join = [&](const std::string& client) {
    return http_request(server.compute(), "POST", "/api/join", forwarded(client), body).status;
  };
  for (int i = 0; i < 20; ++i) EXPECT_EQ(join("198.51.100." + std::to_string(i)), 201);
  EXPECT_EQ(join("198.51.100.3"), 429);
}

// ---- PROXY protocol

TEST(Proxy, AProxyHeaderNamesTheClientOfAWholeConnection) {
  const TestServer server([](ServeConfig& config) {
    behind_proxy(config);
    config.max_connections_per_address = 2;
  });
  const auto connect = [&](const std::string& client) {
    TestSocket socket(server.console());
    socket.write(proxy_header(client));
    return socket;
  };
  const std::string request = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
  std::vector<TestSocket> open;
  for (int i = 0; i < 2; ++i) {
    open.push_back(connect("\xc6\x33\x64\x07"));
    EXPECT_EQ(http_raw(open.back(), request).status, 200);
    EXPECT_EQ(http_raw(open.back(), request).status, 200);  // a kept connection stays the client's
  }
  TestSocket third = connect("\xc6\x33\x64\x07");
  EXPECT_EQ(status_and_code(http_raw(third, "")), "429 too_many_connections");
  TestSocket other = connect("\xc6\x33\x64\x08");
  EXPECT_EQ(http_raw(other, request).status, 200);

  TestSocket admin = connect("\xc6\x33\x64\x09");
  const std::string body = R"({"project":"P"})";
  EXPECT_EQ(http_raw(admin,
                     "POST /api/projects HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.1\r\n"
                     "Authorization: Bearer " +
                         server.secrets().admin_token +
                         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body)
                .status,
            201);
  EXPECT_EQ(last_address_of_audit(server), "198.51.100.9");  // not what the client wrote itself
}

TEST(Proxy, ProxiesMayStandInARow) {
  const TestServer server(
      [](ServeConfig& config) { config.trusted_proxies = {"127.0.0.0/8", "10.0.0.0/8"}; });
  TestSocket socket(server.console());
  socket.write(proxy_header("\x0a\0\0\5"s));
  const std::string body = R"({"project":"P"})";
  EXPECT_EQ(http_raw(socket,
                     "POST /api/projects HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 198.51.100.7\r\n"
                     "Authorization: Bearer " +
                         server.secrets().admin_token +
                         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body)
                .status,
            201);
  EXPECT_EQ(last_address_of_audit(server), "198.51.100.7");
}

TEST(Proxy, AHeaderMayArriveByteByByte) {
  const TestServer server(behind_proxy);
  TestSocket socket(server.compute());
  for (const char byte : proxy_header("\xc6\x33\x64\x07")) socket.write({&byte, 1});
  EXPECT_EQ(http_raw(socket, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").status, 200);
}

TEST(Proxy, TheProxyItselfMayAsk) {
  const TestServer server(behind_proxy);
  TestSocket local(server.compute());
  local.write("\r\n\r\n\0\r\nQUIT\n\x20\0\0\0"s);
  EXPECT_EQ(http_raw(local, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").status, 200);
  EXPECT_EQ(http_request(server.compute(), "GET", "/healthz").status, 200);
}

TEST(Proxy, WrongProxyHeadersAreRefused) {
  const TestServer trusting(behind_proxy);
  const TestServer plain;
  for (const std::string& wrong :
       {"\r\n\r\n\0\r\nQUIT\n\x21\0\0\0"s, "\r\n\r\n\0\r\nQUIT\n\x31\x11\0\0"s,
        "PROXY TCP4 198.51.100.7 127.0.0.1 1 2\r\n"s}) {
    TestSocket socket(trusting.compute());
    EXPECT_EQ(status_and_code(http_raw(socket, wrong)), "400 bad_proxy_header") << wrong;
  }
  for (const std::string& untrusted :
       {proxy_header("\xc6\x33\x64\x07"), "PROXY TCP4 198.51.100.7 127.0.0.1 1 2\r\n"s}) {
    TestSocket socket(plain.compute());
    EXPECT_EQ(status_and_code(http_raw(socket, untrusted)), "400 bad_proxy_header") << untrusted;
  }
}

// ---- the connection limits of both origins

TEST(Budgets, AFullComputeOriginLeavesTheConsoleOpen) {
  const TestServer server([](ServeConfig& config) { config.max_connections = 4; });
  std::vector<std::unique_ptr<TestWorker>> workers;
  for (int i = 0; i < 4; ++i)
    workers.push_back(std::make_unique<TestWorker>(server, server.join()));
  EXPECT_EQ(status_and_code(http_request(server.compute(), "GET", "/healthz")), "503 full");
  EXPECT_EQ(server.rest("GET", "/api/me").status, 200);
}

TEST(Budgets, StrangersDoNotKeepAnAdministratorOut) {
  const TestServer server([](ServeConfig& config) { config.max_console_connections = 5; });
  std::vector<TestSocket> silent;
  for (int i = 0; i < 50; ++i) {
    silent.emplace_back(server.console());
    if (i % 5 != 4) continue;
    EXPECT_TRUE(until([&] {
      return server.rest_as(server.secrets().admin_token, "GET", "/api/me").status == 200;
    }));
  }
}

// ---- what browsers and programs may do

TEST(Proxy, OnlyHttpsGetsStrictTransportSecurity) {
  const TestServer server(behind_proxy);
  const auto policy = [](const TestServer& of, const Headers& headers) {
    const auto answer = http_request(of.compute(), "GET", "/healthz", headers);
    const auto found = answer.headers.find("strict-transport-security");
    return found == answer.headers.end() ? "" : found->second;
  };
  EXPECT_EQ(policy(server, {{"X-Forwarded-Proto", "https"}}), "max-age=31536000");
  EXPECT_EQ(policy(server, {{"X-Forwarded-Proto", "http"}}), "");
  EXPECT_EQ(policy(server, {}), "");
  EXPECT_EQ(policy(TestServer(), {{"X-Forwarded-Proto", "https"}}), "");
}

TEST(Proxy, MetricsWithoutATokenAreForThisMachineOnly) {
  const TestServer server(behind_proxy);
  const auto metrics = [&](const Headers& headers) {
    return http_request(server.console(), "GET", "/metrics", headers).status;
  };
  EXPECT_EQ(metrics({}), 200);
  EXPECT_EQ(metrics({{"Host", "localhost"}}), 200);
  EXPECT_EQ(metrics(forwarded("198.51.100.7")), 401);
  EXPECT_EQ(metrics(forwarded("127.0.0.1")), 401);
  EXPECT_EQ(metrics({{"X-Forwarded-Proto", "http"}}), 401);
  EXPECT_EQ(metrics({{"Host", "rebound.example"}}), 401);
  const TestServer without;  // a proxy that the operator forgot to name
  EXPECT_EQ(http_request(without.console(), "GET", "/metrics", forwarded("198.51.100.7")).status,
            401);
}

TEST(CrossOrigin, APageElsewhereCannotSendRequestsWithoutACredential) {
  const TestServer server;
  const auto ask = [&](Headers headers) {
    return status_and_code(
        http_request(server.console(), "POST", "/api/register", headers, R"({"name":"grace"})"));
  };
  EXPECT_EQ(ask({}), "415 not_json");
  EXPECT_EQ(ask({{"Content-Type", "text/plain"}}), "415 not_json");
  const std::pair<std::string, std::string> json = net::kJson.front();
  EXPECT_EQ(ask({json, {"Sec-Fetch-Site", "cross-site"}}), "403 cross_origin");
  EXPECT_EQ(ask({json, {"Sec-Fetch-Site", "same-site"}}), "403 cross_origin");
  EXPECT_EQ(ask({json, {"Origin", "https://evil.example"}}), "403 cross_origin");
  EXPECT_EQ(ask({json, {"Origin", "null"}}), "403 cross_origin");
  const std::string own = "http://127.0.0.1:" + std::to_string(server.console());
  EXPECT_EQ(ask({json, {"Origin", own}, {"Sec-Fetch-Site", "same-origin"}}).substr(0, 3), "202");
  EXPECT_EQ(ask({json, {"Origin", own}}), "409 name_taken");

  for (const char* path : {"/api/project", "/api/join", "/api/device-reports"}) {
    const auto answer =
        http_request(server.compute(), "POST", path, {{"Origin", "https://evil.example"}}, "{}");
    EXPECT_EQ(status_and_code(answer), "403 cross_origin") << path;
  }
}

}  // namespace
}  // namespace hyperflock::app
