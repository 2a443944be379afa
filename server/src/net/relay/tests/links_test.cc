// Tests links whose one end is not what it should be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/testing/patience.h"
#include "base/testing/scratch_folder.h"
#include "net/relay/dial.h"
#include "net/relay/tests/sides.h"
#include "net/stream.h"
#include "tests/support/certificate.h"

namespace hyperflock::net {
namespace {

using boost::asio::ip::tcp;
using End = Dialled::End;

std::string header() {
  return write_relay_header({.client = {*IpAddress::parse("192.0.2.7"), true}});
}

// Opens a link and leaves it at once.
Dialled::End open_link(std::uint16_t port, const PeerKey& key, const std::string& first = header(),
                       Millis limit_ms = kTestLimitMs) {
  boost::asio::io_context io;
  std::optional<Dialled> dialled;
  dial(boost::asio::make_strand(io),
       {.endpoints = {tcp::endpoint(boost::asio::ip::address_v4::loopback(), port)},
        .context = peer_context(key, TlsEnd::connects),
        .header = first,
        .limit_ms = limit_ms},
       [&](Dialled found) { dialled = std::move(found); });
  io.run();
  EXPECT_TRUE(dialled.has_value());
  EXPECT_EQ(dialled->link != nullptr, dialled->end == End::opened);
  return dialled->end;
}

std::string reason(const std::string& why) {
  return "hyperflock_peers_refused_total{reason=\"" + why + "\"}";
}

TEST(Links, OnlyTheKeyOfTheEpochOpensOne) {
  TestHolder holder;
  const PeerKey key = holder.target().key;
  EXPECT_EQ(open_link(holder.port(), key), End::opened);
  EXPECT_EQ(open_link(holder.port(), {key.epoch, "another"}), End::wrong_key);
  EXPECT_EQ(open_link(holder.port(), {key.epoch + 1, key.secret}), End::wrong_key);
  EXPECT_TRUE(until([&] { return holder.metric(reason("bad_handshake")) == 2; }));
  EXPECT_TRUE(until([&] { return holder.metric("hyperflock_connections_relayed_total") == 1; }));
}

TEST(Links, AServerWithACertificateAndWithoutTheKeyIsRefused) {
  const ScratchFolder folder;
  make_certificate(folder);
  const auto tls =
      Tls::open({folder.file("cert.pem"), folder.file("key.pem"), "localhost"}).value();
  TestSpare impostor({.tls = tls.get()});
  EXPECT_EQ(open_link(impostor.compute(), {7, "the key of epoch 7"}), End::wrong_key);
}

TEST(Links, AClientWithoutAKeyIsRefused) {
  TestHolder holder;
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                                  &SSL_CTX_free);
  TestSocket socket(holder.port());
  const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context.get()), &SSL_free);
  SSL_set_fd(ssl.get(), socket.descriptor());
  EXPECT_NE(SSL_connect(ssl.get()), 1);
  EXPECT_TRUE(until([&] { return holder.metric(reason("bad_handshake")) == 1; }));
}

TEST(Links, AServerThatDoesNotAnswerIsGivenUp) {
  // The kernel takes the connection, and nobody reads it.
  boost::asio::io_context io;
  tcp::acceptor silent(io, {boost::asio::ip::address_v4::loopback(), 0});
  EXPECT_EQ(open_link(silent.local_endpoint().port(), {7, "key"}, header(), 50), End::unreachable);
  const ClosedPort closed;
  EXPECT_EQ(open_link(closed.number(), {7, "key"}), End::unreachable);
}

TEST(Links, WhoSendsNothingIsCut) {
  TestHolder holder({.limits = {.begin_ms = 50}});
  TestSocket socket(holder.port());
  std::string nothing;
  EXPECT_FALSE(socket.read_some(nothing, kTestLimitMs));
  EXPECT_TRUE(until([&] { return holder.metric(reason("silent")) == 1; }));
  // With the key, but without a header.
  EXPECT_EQ(open_link(holder.port(), holder.target().key, ""), End::opened);
  EXPECT_TRUE(until(
      [&] { return holder.metric(reason("silent")) + holder.metric(reason("bad_header")) == 2; }));
}

TEST(Links, AHeaderThatNamesNoClientIsRefused) {
  TestHolder holder;
  int refused = 0;
  for (const std::string& bad :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(5'000, 'x'),
        header().substr(0, 14) + std::string("\xFF\xFF", 2) + std::string(5'000, '\0')}) {
    EXPECT_EQ(open_link(holder.port(), holder.target().key, bad), End::opened);
    ++refused;
    EXPECT_TRUE(until([&] { return holder.metric(reason("bad_header")) == refused; }));
  }
  EXPECT_EQ(holder.metric("hyperflock_connections_relayed_total"), 0);
}

TEST(Links, SilentConnectionsKeepNoSpareAway) {
  TestHolder holder({.limits = {.begin_ms = kTestLimitMs, .beginning = 4}});
  std::vector<TestSocket> silent;
  for (int i = 0; i < 20; ++i) silent.emplace_back(holder.port());
  EXPECT_EQ(open_link(holder.port(), holder.target().key), End::opened);
  EXPECT_TRUE(until([&] { return holder.metric("hyperflock_connections_relayed_total") == 1; }));
  EXPECT_GE(holder.metric(reason("displaced")) + holder.metric(reason("full")), 1);
  silent.clear();
  EXPECT_EQ(open_link(holder.port(), holder.target().key), End::opened);
}

}  // namespace
}  // namespace hyperflock::net
