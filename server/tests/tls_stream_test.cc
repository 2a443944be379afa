// Tests the TLS stream over real sockets, with OpenSSL's or Asio's client at the other end.
#include "net/tls_stream.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <optional>
#include <random>
#include <string>

#include "tests/support/certificate.h"

namespace hyperflock::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using TlsSocket = asio::ssl::stream<tcp::socket>;
constexpr auto kUse = asio::as_tuple(asio::use_awaitable);

std::string noise(std::size_t bytes) {
  std::mt19937 random(5);
  std::string out(bytes, ' ');
  std::ranges::generate(out, [&random] { return static_cast<char>(random()); });
  return out;
}

class TlsStreamTest : public testing::Test {
 protected:
  TlsStreamTest() : client_context_(asio::ssl::context::tls_client) {
    make_certificate(folder_);
    auto tls = Tls::open({folder_.file("cert.pem"), folder_.file("key.pem"), "localhost"});
    tls_ = std::move(*tls);
    tcp::acceptor acceptor(io_, {asio::ip::address_v4::loopback(), 0});
    client_.emplace(io_, client_context_);
    client_->lowest_layer().connect(acceptor.local_endpoint());
    socket_.emplace(asio::make_strand(io_));
    acceptor.accept(*socket_);
    // Small buffers, so that writes have to wait.
    socket_->set_option(tcp::socket::send_buffer_size(8'192));
    client_->lowest_layer().set_option(tcp::socket::receive_buffer_size(8'192));
    stream_.emplace(*socket_, tls_->context());
  }

  template <typename Work>
  void spawn(Work work) {
    asio::co_spawn(socket_->get_executor(), std::move(work), [](const std::exception_ptr& fault) {
      if (fault) std::rethrow_exception(fault);
    });
  }
  void shake_hands() {
    bool done = false;
    spawn([&]() -> asio::awaitable<void> {
      auto [error, none] = co_await stream_->async_handshake({}, kUse);
      EXPECT_FALSE(error) << error.message();
      done = true;
    });
    client_->async_handshake(TlsSocket::client,
                             [](ErrorCode error) { EXPECT_FALSE(error) << error.message(); });
    io_.run();
    io_.restart();
    ASSERT_TRUE(done);
  }
  // Reads once, and returns the error; `read` gets what came.
  ErrorCode read_once(std::string& read) {
    std::optional<ErrorCode> result;
    spawn([&]() -> asio::awaitable<void> {
      std::array<char, 100> room{};
      auto [error, bytes] = co_await stream_->async_read_some(asio::buffer(room), kUse);
      result = error;
      read.assign(room.data(), bytes);
    });
    while (!result) io_.run_one();
    return *result;
  }

  ScratchFolder folder_;
  std::unique_ptr<Tls> tls_;
  asio::io_context io_;
  asio::ssl::context client_context_;
  std::optional<TlsSocket> client_;
  std::optional<Socket> socket_;
  std::optional<TlsStream> stream_;
};

// Both directions are busy at once, in pieces of all sizes, and both have to wait for the other.
TEST_F(TlsStreamTest, EchoesEverythingInOrder) {
  shake_hands();
  const std::string sent = noise(std::size_t{3} << 20);
  std::string held;  // what the server has to send back
  std::size_t echoed = 0;
  spawn([&]() -> asio::awaitable<void> {
    std::mt19937 random(1);
    std::string room(40'000, ' ');
    while (held.size() < sent.size()) {
      const std::size_t most = 1 + random() % room.size();
      auto [error, bytes] = co_await stream_->async_read_some(asio::buffer(room, most), kUse);
      if (error) throw boost::system::system_error(error);
      held.append(room, 0, bytes);
    }
  });
  held.reserve(sent.size());
  spawn([&]() -> asio::awaitable<void> {
    std::mt19937 random(2);
    while (echoed < sent.size()) {
      const std::size_t there = held.size() - echoed;
      if (there == 0) {
        co_await asio::post(socket_->get_executor(), asio::use_awaitable);
        continue;
      }
      const std::size_t first = std::min<std::size_t>(there, random() % 3'000);
      const std::size_t second = std::min<std::size_t>(there - first, random() % 60'000);
      const std::array<asio::const_buffer, 3> pieces{
          asio::const_buffer(), asio::buffer(held.data() + echoed, first),
          asio::buffer(held.data() + echoed + first, second)};
      auto [error, bytes] = co_await stream_->async_write_some(pieces, kUse);
      if (error) throw boost::system::system_error(error);
      echoed += bytes;
    }
  });
  std::string came(sent.size(), ' ');
  asio::async_write(*client_, asio::buffer(sent),
                    [](ErrorCode error, std::size_t) { EXPECT_FALSE(error); });
  asio::async_read(*client_, asio::buffer(came),
                   [](ErrorCode error, std::size_t) { EXPECT_FALSE(error); });
  io_.run();
  EXPECT_EQ(echoed, sent.size());
  EXPECT_TRUE(came == sent);
}

TEST_F(TlsStreamTest, UsesWhatWasReadBeforeTheHandshake) {
  for (const std::size_t taken : {1U, 6U, 150U, 10'000U}) {
    tcp::acceptor acceptor(io_, {asio::ip::address_v4::loopback(), 0});
    TlsSocket client(io_, client_context_);
    client.lowest_layer().connect(acceptor.local_endpoint());
    Socket socket(asio::make_strand(io_));
    acceptor.accept(socket);
    TlsStream stream(socket, tls_->context());
    std::string answer;
    spawn([&]() -> asio::awaitable<void> {
      std::string ahead(taken, ' ');
      ahead.resize(co_await socket.async_read_some(asio::buffer(ahead), asio::use_awaitable));
      auto [failed, none] = co_await stream.async_handshake(std::move(ahead), kUse);
      EXPECT_FALSE(failed) << failed.message();
      co_await stream.async_write_some(asio::buffer("hello", 5), asio::use_awaitable);
    });
    client.async_handshake(TlsSocket::client, [&](ErrorCode error) {
      EXPECT_FALSE(error) << error.message();
      answer.resize(5);
      asio::async_read(client, asio::buffer(answer), [](ErrorCode, std::size_t) {});
    });
    io_.run();
    io_.restart();
    EXPECT_EQ(answer, "hello") << taken;
  }
}

TEST_F(TlsStreamTest, AnOlderClientIsServed) {
  SSL_CTX_set_max_proto_version(client_context_.native_handle(), TLS1_2_VERSION);
  tcp::socket connected = std::move(client_->next_layer());
  client_.emplace(std::move(connected), client_context_);
  shake_hands();
  EXPECT_EQ(SSL_version(client_->native_handle()), TLS1_2_VERSION);
}

TEST_F(TlsStreamTest, AnotherProtocolIsAnError) {
  asio::write(client_->next_layer(), asio::buffer("GET / HTTP/1.1\r\n\r\n", 18));
  ErrorCode result;
  spawn([&]() -> asio::awaitable<void> {
    auto [error, none] = co_await stream_->async_handshake({}, kUse);
    result = error;
  });
  io_.run();
  EXPECT_EQ(&result.category(), &asio::error::get_ssl_category());
  EXPECT_NE(result.value(), 0);
}

TEST_F(TlsStreamTest, TheEndIsToldFromACut) {
  shake_hands();
  asio::write(*client_, asio::buffer("last", 4));
  client_->async_shutdown([](ErrorCode) {});  // it would wait for the server's end, too
  std::string read;
  EXPECT_FALSE(read_once(read));
  EXPECT_EQ(read, "last");
  EXPECT_EQ(read_once(read), asio::error::eof);
}

TEST_F(TlsStreamTest, ACutIsAnError) {
  shake_hands();
  client_->lowest_layer().shutdown(tcp::socket::shutdown_send);
  std::string read;
  EXPECT_EQ(read_once(read), asio::ssl::error::stream_truncated);
}

TEST_F(TlsStreamTest, ClosingTheSocketEndsWhatWaits) {
  shake_hands();
  ErrorCode result;
  std::array<char, 10> room{};
  stream_->async_read_some(asio::buffer(room),
                           [&](ErrorCode error, std::size_t) { result = error; });
  asio::post(socket_->get_executor(), [&] { socket_->close(); });
  io_.run();
  EXPECT_EQ(result, asio::error::operation_aborted);
}

TEST_F(TlsStreamTest, HandlersNeverRunInsideTheCall) {
  shake_hands();
  bool inside = true;
  int handled = 0;
  stream_->async_write_some(asio::buffer("x", 1), [&](ErrorCode, std::size_t) {
    EXPECT_FALSE(inside);
    ++handled;
  });
  std::array<char, 10> room{};
  stream_->async_read_some(asio::mutable_buffer(room.data(), 0), [&](ErrorCode, std::size_t) {
    EXPECT_FALSE(inside);
    ++handled;
  });
  inside = false;
  io_.run();
  EXPECT_EQ(handled, 2);
}

// The server remembers no sessions: a client that comes back brings its ticket.
TEST_F(TlsStreamTest, AClientResumesByItsTicket) {
  SSL_SESSION* kept = nullptr;
  for (const bool resumes : {false, true}) {
    tcp::acceptor acceptor(io_, {asio::ip::address_v4::loopback(), 0});
    TlsSocket client(io_, client_context_);
    if (kept != nullptr) SSL_set_session(client.native_handle(), kept);
    client.lowest_layer().connect(acceptor.local_endpoint());
    Socket socket(asio::make_strand(io_));
    acceptor.accept(socket);
    TlsStream stream(socket, tls_->context());
    char byte = 0;
    spawn([&]() -> asio::awaitable<void> {
      auto [failed, none] = co_await stream.async_handshake({}, kUse);
      EXPECT_FALSE(failed);
      co_await stream.async_write_some(asio::buffer("x", 1), asio::use_awaitable);
    });
    client.async_handshake(TlsSocket::client, [&](ErrorCode) {
      // The ticket comes before the first byte.
      asio::async_read(client, asio::buffer(&byte, 1), [](ErrorCode, std::size_t) {});
    });
    io_.run();
    io_.restart();
    EXPECT_EQ(byte, 'x');
    EXPECT_EQ(SSL_session_reused(client.native_handle()) == 1, resumes);
    SSL_SESSION_free(kept);
    kept = SSL_get1_session(client.native_handle());
    SSL_shutdown(client.native_handle());  // or else the session would count as broken
  }
  SSL_SESSION_free(kept);
}

}  // namespace
}  // namespace hyperflock::net
