// Tests spares that pass what reaches them on to the server that has the database (--peer). A
// client needs the address of one of the servers only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "blobs/sha256.h"
#include "tests/postgres/servers.h"

namespace hyperflock::app {
namespace {

using testing::HasSubstr;

class RelayedTest : public ServersOfOneDatabase {
 protected:
  Node start_peer(const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> flags{"--peer", "127.0.0.1:0"};
    flags.insert(flags.end(), more.begin(), more.end());
    return start(name, flags);
  }
  // Returns whether the server passes on what is asked of it.
  static bool passes_on(const Node& node) {
    return until([&] { return get(node.console, "/api/me").status == 401; });
  }
  static double metric(const Node& node, const std::string& name,
                       const std::string& path = "/metrics") {
    const std::string text = get(node.console, path).body;
    const std::size_t at = text.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::stod(text.substr(at + name.size() + 2));
  }
};

// The owner of an ask-and-tell study.
std::unique_ptr<net::TestWebSocket> open_owner(std::uint16_t port, const std::string& token,
                                               std::int64_t study) {
  auto socket = std::make_unique<net::TestWebSocket>(port, "/ws/client");
  protocol::Hello hello;
  hello.protocol = protocol::kProtocolVersion;
  hello.role = protocol::Role::researcher;
  hello.token = token;
  hello.agent = "test";
  const auto send = [&socket](const protocol::ClientMessage& message) {
    socket->send(protocol::serialize(message));
  };
  send(hello);
  EXPECT_THAT(socket->receive_text(), HasSubstr("welcome"));
  send(protocol::Watch{.study = StudyId{study}});
  EXPECT_THAT(socket->receive_text(), HasSubstr("update"));
  return socket;
}

TEST_F(RelayedTest, ASpareServesAllThatTheServerServes) {
  Node first = start_peer("one");
  ASSERT_TRUE(serves(first));
  const Node second = start_peer("two");
  ASSERT_TRUE(waits(second));
  ASSERT_TRUE(passes_on(second));
  EXPECT_EQ(get(second.compute, "/healthz").status, 200);
  // A balancer that asks whether a server is ready finds the one that has the database.
  EXPECT_EQ(status_and_code(get(second.console, "/readyz")), "503 shard_waiting");

  // A researcher: a submission, a large upload and its download.
  const std::string bundle = [] {
    std::string bytes(std::size_t{24} << 20, 'x');
    for (std::size_t at = 0; at < bytes.size(); at += 97) bytes[at] = static_cast<char>(at / 97);
    return bytes;
  }();
  const std::string sha256 = blobs::sha256_hex(bundle);
  EXPECT_EQ(rest(second, "PUT", "/api/blobs/" + sha256, bundle).status, 201);
  const auto submitted =
      rest(second, "POST", "/api/studies", TestServer::spec(10, "key", sha256, bundle.size()));
  ASSERT_EQ(submitted.status, 201) << submitted.body;
  const std::int64_t study = std::stoll(json_at(submitted.body, "study"));
  const std::string path = "/api/studies/" + std::to_string(study) + "/blobs/" + sha256;
  EXPECT_TRUE(rest(second, "GET", path).body == bundle);
  EXPECT_EQ(complete(first, study), "0");

  // A device and a watcher, whose sockets are at the spare.
  const TestDevice device = join(second);
  Phone phone(second.compute, device);
  const auto owner = open_owner(second.console, secrets().researcher_token, study);
  const AttemptId done = phone.ready().attempt;
  EXPECT_EQ(phone.result(done), Verdict::accepted);
  EXPECT_THAT(owner->receive_text(), HasSubstr("update"));
  EXPECT_EQ(complete(first, study), "1");
  EXPECT_EQ(metric(first, "hyperflock_devices_connected"), 1);
  EXPECT_EQ(metric(first, "hyperflock_relayed_connections"), 2);

  // Each of the two has metrics of its own.
  const std::string own = "/metrics/own";
  EXPECT_EQ(metric(first, "hyperflock_shard_held", own), 1);
  EXPECT_EQ(metric(first, "hyperflock_devices_connected", own), 1);
  EXPECT_EQ(metric(second, "hyperflock_shard_held", own), 0);
  EXPECT_EQ(metric(second, "hyperflock_spare_connections", own), 2);
  EXPECT_EQ(metric(second, "hyperflock_spare_connections_waiting", own), 0);
  EXPECT_EQ(metric(second, "hyperflock_spare_database_away", own), 0);
  EXPECT_GE(metric(second, "hyperflock_spare_links_opened_total", own), 4);
  const std::string to_server = R"(hyperflock_spare_relayed_bytes_total{direction="to_server"})";
  EXPECT_GT(metric(second, to_server, own), static_cast<double>(bundle.size()));
  EXPECT_GT(metric(second, "process_open_fds", own), 4);
  // What only a server that serves can say is missing, and strangers get nothing.
  EXPECT_EQ(metric(second, "hyperflock_devices_connected", own), -1);
  const auto named = net::http_request(second.console, "GET", own, {{"Host", "flock.example"}});
  EXPECT_EQ(status_and_code(named), "403 forbidden");
  EXPECT_EQ(status_and_code(get(second.compute, own)), "503 shard_waiting");

  // The server is killed: both sockets end, and the spare serves.
  const AttemptId held = phone.ready().attempt;
  first.program->end(SIGKILL);
  EXPECT_NE(phone.socket().wait_close(), -1);
  EXPECT_NE(owner->wait_close(), -1);
  ASSERT_TRUE(serves(second));
  Phone again(second.compute, device, {held});
  EXPECT_EQ(again.result(held), Verdict::accepted);
  EXPECT_EQ(complete(second, study), "2");
  EXPECT_EQ(metric(second, "hyperflock_relayed_connections"), 0);
  EXPECT_EQ(metric(second, "hyperflock_shard_held", own), 1);
}

TEST_F(RelayedTest, AServerThatWasStoppedMeanwhilePassesOnToTheNext) {
  const Node first = start_peer("one");
  ASSERT_TRUE(serves(first));
  const Node second = start_peer("two");
  const Node third = start_peer("three");
  ASSERT_TRUE(passes_on(second));
  ASSERT_TRUE(passes_on(third));
  const std::int64_t study = submit(third, 10);
  const TestDevice device = join(third);
  Phone phone(third.compute, device);
  const AttemptId held = phone.ready().attempt;

  first.program->signal(SIGSTOP);
  ASSERT_TRUE(until([&] { return is_ready(second) || is_ready(third); }));
  const Node& next = is_ready(second) ? second : third;
  const Node& other = is_ready(second) ? third : second;
  // The link to the stopped server ends, although that server says nothing.
  EXPECT_NE(phone.socket().wait_close(), -1);
  ASSERT_TRUE(passes_on(other));
  Phone again(other.compute, device, {held});
  EXPECT_EQ(again.result(held), Verdict::accepted);

  first.program->signal(SIGCONT);
  ASSERT_TRUE(waits(first));
  ASSERT_TRUE(passes_on(first));
  EXPECT_EQ(complete(first, study), "1");
  EXPECT_EQ(complete(next, study), "1");
}

TEST_F(RelayedTest, LimitsCountTheClientBehindASpare) {
  const std::vector<std::string> flags{"--trusted-proxy", "127.0.0.1",
                                       "--max-connections-per-address", "2"};
  const Node first = start_peer("one", flags);
  ASSERT_TRUE(serves(first));
  const Node second = start_peer("two", flags);
  ASSERT_TRUE(passes_on(second));
  const auto ask = [](net::TestSocket& socket, const std::string& address) {
    return net::http_raw(socket, "GET /api/me HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: " + address +
                                     "\r\n\r\n")
        .status;
  };
  // Connections of a proxy count for its clients while their requests are answered, so many of
  // them may be open.
  std::vector<net::TestSocket> sockets;
  for (int i = 0; i < 5; ++i) {
    sockets.emplace_back(second.console);
    EXPECT_EQ(ask(sockets.back(), "192.0.2." + std::to_string(i)), 401);
  }
  // WebSockets count while they are open, wherever they are.
  submit(first, 10);
  const TestDevice device = join(first);
  const auto connect = [&](const Node& node) {
    net::TestSocket socket(node.compute);
    const auto answer = net::http_raw(
        socket,
        "GET /ws/worker HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        "X-Forwarded-For: 192.0.2.7\r\n\r\n");
    sockets.push_back(std::move(socket));
    return answer.status;
  };
  EXPECT_EQ(connect(first), 101);
  EXPECT_EQ(connect(second), 101);
  EXPECT_EQ(connect(second), 429);
}

TEST_F(RelayedTest, WithoutAPeerASpareAnswersForItself) {
  const Node first = start("one");
  ASSERT_TRUE(serves(first));
  const Node second = start_peer("two");
  ASSERT_TRUE(waits(second));
  EXPECT_EQ(status_and_code(get(second.console, "/api/me")), "503 shard_waiting");
}

}  // namespace
}  // namespace hyperflock::app
