// Tests a spare that passes connections on, with the server at the other end of its links.
#include "net/relay/relay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/patience.h"
#include "base/testing/scratch_folder.h"
#include "net/relay/tests/sides.h"
#include "tests/support/certificate.h"

namespace hyperflock::net {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

std::string get(std::uint16_t port, const std::string& path, const Headers& headers = {}) {
  return http_request(port, "GET", path, headers).body;
}

// Reads until the stream ends.
std::string read_all(TestSocket& socket) {
  std::string bytes;
  while (socket.read_some(bytes, kTestLimitMs)) {
  }
  return bytes;
}

// A client with TLS that trusts everybody.
class TlsTestClient {
 public:
  explicit TlsTestClient(std::uint16_t port) : socket_(port) {
    SSL_set_fd(ssl_.get(), socket_.descriptor());
    EXPECT_EQ(SSL_connect(ssl_.get()), 1);
  }
  // Sends a request and reads until the stream ends.
  std::string ask(std::string_view request) {
    std::string answer;
    std::array<char, 1'024> piece{};
    SSL_write(ssl_.get(), request.data(), static_cast<int>(request.size()));
    for (int got = 0; (got = SSL_read(ssl_.get(), piece.data(), piece.size())) > 0;)
      answer.append(piece.data(), static_cast<std::size_t>(got));
    return answer;
  }

 private:
  TestSocket socket_;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_{SSL_CTX_new(TLS_client_method()),
                                                             &SSL_CTX_free};
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_{SSL_new(context_.get()), &SSL_free};
};

class RelayTest : public testing::Test {
 protected:
  RelayTest() { spare_.relay().set_target(holder_.target()); }
  TestHolder holder_;
  TestSpare spare_;
};

TEST_F(RelayTest, TheServerSeesTheClientAndTheDoor) {
  EXPECT_EQ(get(spare_.compute(), "/who"), "holder compute 127.0.0.1");
  EXPECT_EQ(get(spare_.console(), "/who"), "holder console 127.0.0.1");
  EXPECT_EQ(holder_.metric("hyperflock_connections_relayed_total"), 2);
  EXPECT_TRUE(until([&] { return holder_.metric("hyperflock_relayed_connections") == 0; }));
  EXPECT_TRUE(until([&] { return spare_.relay().carried() == 0; }));
}

TEST_F(RelayTest, WhatIsAskedAboutTheSpareIsAnsweredByIt) {
  for (const char* path : {"/healthz", "/readyz", "/healthz?verbose", "/metrics/own"}) {
    const HttpAnswer answer = http_request(spare_.console(), "GET", path);
    EXPECT_THAT(answer.body, StartsWith("spare"));
    // The next request of this client is for the server.
    EXPECT_EQ(answer.headers.at("connection"), "close");
  }
  EXPECT_THAT(get(spare_.console(), "/healthzz"), StartsWith("holder"));
  EXPECT_THAT(get(spare_.console(), "/metrics"), StartsWith("holder"));
  TestSocket slow(spare_.console());
  for (const char* piece : {"G", "ET /hea", "lthz", " HTTP/1.1\r\nHost: a\r\n\r\n"})
    ASSERT_TRUE(slow.write(piece));
  EXPECT_THAT(read_all(slow), HasSubstr("spare"));
}

TEST_F(RelayTest, BytesArriveAsTheyWereSent) {
  const std::string bytes = WhoSite::big();
  EXPECT_TRUE(get(spare_.compute(), "/big") == bytes);
  EXPECT_EQ(http_request(spare_.console(), "PUT", "/sink", {}, bytes).body,
            blobs::sha256_hex(bytes));
}

TEST_F(RelayTest, AConnectionStaysForSeveralRequests) {
  TestSocket socket(spare_.compute());
  for (int i = 0; i < 3; ++i) {
    const HttpAnswer answer = http_raw(socket, "GET /who HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(answer.body, "holder compute 127.0.0.1");
  }
  EXPECT_EQ(holder_.metric("hyperflock_connections_relayed_total"), 1);
}

TEST_F(RelayTest, AClientThatEndsItsSideGetsTheWholeAnswer) {
  TestSocket socket(spare_.compute());
  ASSERT_TRUE(socket.write("GET /big HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
  ::shutdown(socket.descriptor(), SHUT_WR);
  EXPECT_THAT(read_all(socket), EndsWith(WhoSite::big().substr(WhoSite::kBigBytes - 1'000)));
  EXPECT_TRUE(until([&] { return spare_.relay().carried() == 0; }));
}

TEST_F(RelayTest, AClientThatGoesEndsItsLink) {
  {
    TestSocket socket(spare_.compute());
    ASSERT_TRUE(socket.write("GET /big HTTP/1.1\r\nHost: a\r\n\r\n"));
    std::string begin;
    ASSERT_TRUE(socket.read_some(begin, kTestLimitMs));
    EXPECT_EQ(spare_.relay().carried(), 1U);
  }
  EXPECT_TRUE(until([&] { return spare_.relay().carried() == 0; }));
  EXPECT_TRUE(until([&] { return holder_.metric("hyperflock_relayed_connections") == 0; }));
}

TEST_F(RelayTest, TheEndOfTheServerEndsItsConnections) {
  TestSocket socket(spare_.compute());
  EXPECT_EQ(http_raw(socket, "GET /who HTTP/1.1\r\nHost: a\r\n\r\n").status, 200);
  holder_.stop();
  EXPECT_EQ(read_all(socket), "");
  // Nobody can be reached now, so the spare answers.
  EXPECT_THAT(get(spare_.compute(), "/who"), StartsWith("spare"));
}

TEST_F(RelayTest, TheNextServerGetsNewConnectionsAndTheOldOnesEnd) {
  TestSocket old(spare_.compute());
  EXPECT_EQ(http_raw(old, "GET /who HTTP/1.1\r\nHost: a\r\n\r\n").status, 200);
  TestHolder next({.key = {.epoch = 8, .secret = "the key of epoch 8"}});
  spare_.relay().set_target(next.target());
  EXPECT_EQ(read_all(old), "");
  EXPECT_THAT(get(spare_.compute(), "/who"), StartsWith("holder"));
  EXPECT_EQ(next.metric("hyperflock_connections_relayed_total"), 1);
}

TEST_F(RelayTest, NothingIsPassedOnWithoutAServer) {
  spare_.relay().set_target(std::nullopt);
  EXPECT_THAT(get(spare_.compute(), "/who"), StartsWith("spare"));
  EXPECT_EQ(spare_.metric(R"(hyperflock_spare_links_failed_total{reason="no_server"})"), 1);
  spare_.relay().set_target(holder_.target());
  EXPECT_THAT(get(spare_.compute(), "/who"), StartsWith("holder"));
  EXPECT_EQ(spare_.metric("hyperflock_spare_links_opened_total"), 1);
  // The client may have the answer before the spare has counted it.
  for (const char* direction : {"to_client", "to_server"}) {
    EXPECT_TRUE(until([&] {
      return spare_.metric(R"(hyperflock_spare_relayed_bytes_total{direction=")" +
                           std::string(direction) + R"("})") > 30;
    })) << direction;
  }
  spare_.relay().stop();
  spare_.relay().set_target(holder_.target());
  EXPECT_THAT(get(spare_.compute(), "/who"), StartsWith("spare"));
}

// As when a spare reads the row late: neither end takes the other one.
TEST_F(RelayTest, AnotherEpochOrKeyIsRefused) {
  PeerTarget other = holder_.target();
  other.key.epoch = 8;
  spare_.relay().set_target(other);
  EXPECT_THAT(get(spare_.compute(), "/who"), StartsWith("spare"));
  other.key = {.epoch = 9, .secret = "the key of epoch 7"};
  spare_.relay().set_target(other);
  EXPECT_THAT(get(spare_.compute(), "/who"), StartsWith("spare"));
  TestHolder stale({.key = {.epoch = 7, .secret = "an old key"}});
  spare_.relay().set_target(PeerTarget{holder_.target().key, stale.target().address});
  EXPECT_THAT(get(spare_.compute(), "/who"), StartsWith("spare"));
  EXPECT_EQ(spare_.metric(R"(hyperflock_spare_links_failed_total{reason="wrong_key"})"), 3);
  EXPECT_EQ(spare_.metric("hyperflock_spare_links_opened_total"), 0);
  EXPECT_EQ(holder_.metric("hyperflock_connections_relayed_total"), 0);
  EXPECT_EQ(stale.metric("hyperflock_connections_relayed_total"), 0);
  EXPECT_TRUE(until([&] {
    return stale.metric(R"(hyperflock_peers_refused_total{reason="bad_handshake"})") == 1 &&
           holder_.metric(R"(hyperflock_peers_refused_total{reason="bad_handshake"})") == 2;
  }));
}

TEST_F(RelayTest, MoreThanTheDialsAtOnceWaitForTheirTurn) {
  TestSpare spare({.relay = {.dials_at_once = 2}});
  spare.relay().set_target(holder_.target());
  std::vector<TestSocket> sockets;
  for (int i = 0; i < 50; ++i) {
    sockets.emplace_back(spare.compute());
    ASSERT_TRUE(sockets.back().write("GET /who HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
  }
  for (TestSocket& socket : sockets) EXPECT_THAT(read_all(socket), HasSubstr("holder"));
}

TEST_F(RelayTest, ANameIsLookedUp) {
  PeerTarget target = holder_.target();
  target.address = "localhost:" + std::to_string(holder_.port());
  spare_.relay().set_target(std::nullopt);
  spare_.relay().set_target(target);
  EXPECT_TRUE(until([&] { return get(spare_.compute(), "/who").starts_with("holder"); }));
}

// The server has sent all of it and ended, so only the spare sees that the client takes nothing.
TEST(Relay, AClientThatTakesNothingIsEnded) {
  TestHolder holder;
  TestSpare spare({.relay = {.carrier = {.pace = {.grace_ms = 200}}}});
  spare.relay().set_target(holder.target());
  TestSocket socket(spare.compute());
  socket.shrink_receive_buffer(4'096);
  ASSERT_TRUE(socket.write("GET /big HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
  EXPECT_TRUE(until([&] { return spare.relay().carried() == 1; }));
  EXPECT_TRUE(until([&] {
    spare.check_progress();
    return spare.relay().carried() == 0;
  }));
}

TEST(Relay, ASlowClientGetsEverything) {
  TestHolder holder;
  TestSpare spare;
  spare.relay().set_target(holder.target());
  TestSocket socket(spare.compute());
  socket.shrink_receive_buffer(32'768);
  ASSERT_TRUE(socket.write("GET /big HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
  std::string bytes;
  while (socket.read_some(bytes, kTestLimitMs)) spare.check_progress();
  EXPECT_THAT(bytes, EndsWith(WhoSite::big().substr(WhoSite::kBigBytes - 1'000)));
}

TEST(Relay, LimitsCountTheClientAndNotTheSpare) {
  TestHolder holder({.proxies = {"127.0.0.1"}, .per_client = 1});
  TestSpare spare({.proxies = {"127.0.0.1"}});
  spare.relay().set_target(holder.target());
  const auto ask = [](const std::string& address) {
    return "GET /who HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: " + address +
           "\r\nX-Forwarded-Proto: https\r\n\r\n";
  };
  TestSocket proxy(spare.compute());
  EXPECT_EQ(http_raw(proxy, ask("192.0.2.7")).body, "holder compute 192.0.2.7 secure");
  EXPECT_EQ(http_raw(proxy, ask("192.0.2.8")).body, "holder compute 192.0.2.8 secure");

  // A proxy in front of the spare that sends PROXY headers.
  const auto header = [](const char* address) {
    return write_relay_header({.client = {*IpAddress::parse(address), true}});
  };
  const std::string who = "GET /who HTTP/1.1\r\nHost: a\r\n\r\n";
  TestSocket first(spare.compute());
  EXPECT_EQ(http_raw(first, header("203.0.113.9") + who).body, "holder compute 203.0.113.9 secure");
  TestSocket second(spare.compute());
  const HttpAnswer refused = http_raw(second, header("203.0.113.9") + who);
  EXPECT_EQ(refused.status, 429);
  TestSocket third(spare.compute());
  EXPECT_EQ(http_raw(third, header("203.0.113.10") + who).status, 200);
}

TEST(Relay, TheServerRefusesWhatExceedsItsLimits) {
  TestHolder holder({.per_client = 1});
  TestSpare spare;
  spare.relay().set_target(holder.target());
  const std::string who = "GET /who HTTP/1.1\r\nHost: a\r\n\r\n";
  TestSocket first(spare.compute());
  EXPECT_EQ(http_raw(first, who).status, 200);
  TestSocket second(spare.compute());
  const HttpAnswer refused = http_raw(second, who);
  EXPECT_THAT(refused.body, HasSubstr("too_many_connections"));
}

TEST(Relay, TheTlsOfTheClientEndsAtTheSpare) {
  const ScratchFolder folder;
  make_certificate(folder);
  const auto tls =
      Tls::open({folder.file("cert.pem"), folder.file("key.pem"), "localhost"}).value();
  TestHolder holder;
  TestSpare spare({.tls = tls.get()});
  spare.relay().set_target(holder.target());
  TlsTestClient client(spare.compute());
  EXPECT_THAT(client.ask("GET /who HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
              EndsWith("holder compute 127.0.0.1 secure"));
  // No key, and no certificate at the other end: plain HTTP does not reach the spare's server.
  TestSocket plain(spare.compute());
  ASSERT_TRUE(plain.write("GET /who HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_THAT(read_all(plain), testing::Not(HasSubstr("holder")));
}

}  // namespace
}  // namespace hyperflock::net
