// Tests the program's own HTTP client with a peer that sends one fixed answer.
#include "cli/http_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>

#include "base/testing/patience.h"

namespace hyperflock::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Accepts one connection on loopback, reads a request and sends `answer`. Then it closes the
// connection. If `silent` is set, it waits until the client closes it.
class Peer {
 public:
  explicit Peer(std::string answer, bool silent = false)
      : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const at = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_, at, size), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    EXPECT_EQ(::getsockname(listener_, at, &size), 0);
    origin_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this, answer = std::move(answer), silent] { serve(answer, silent); });
  }
  ~Peer() {
    if (thread_.joinable()) thread_.join();
    ::close(listener_);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  Result<ClientReply> ask(Millis limit_ms = kTestLimitMs) {
    return cli::ask({.method = "GET", .url = origin_ + "/a", .authorization = {}, .body = {}},
                    {.limit_ms = limit_ms, .ca_file = {}});
  }
  std::string fault(Millis limit_ms = kTestLimitMs) {
    const auto reply = ask(limit_ms);
    return reply ? "no error" : reply.error().code + " " + reply.error().message;
  }
  const std::string& origin() const { return origin_; }
  // Returns the request that the client sent. Waits for the end of the connection.
  std::string request() {
    thread_.join();
    return request_;
  }

 private:
  void serve(const std::string& answer, bool silent) {
    const int socket = ::accept(listener_, nullptr, nullptr);
    std::array<char, 4096> piece{};
    const auto read = [&] {
      const auto bytes = ::recv(socket, piece.data(), piece.size(), 0);
      if (bytes > 0) request_.append(piece.data(), static_cast<std::size_t>(bytes));
      return bytes > 0;
    };
    // Every body in these tests ends with a brace.
    while (!request_.ends_with("\r\n\r\n") && !request_.ends_with('}') && read()) {
    }
    ::send(socket, answer.data(), answer.size(), MSG_NOSIGNAL);
    while (silent && read()) {
    }
    ::close(socket);
  }

  int listener_;
  std::string origin_;
  std::string request_;
  std::thread thread_;
};

TEST(HttpClient, ReadsEachKindOfBody) {
  for (const char* answer : {
           "HTTP/1.1 201 Made\r\nContent-Length: 5\r\n\r\nhello",
           "HTTP/1.1 201 Made\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
           "HTTP/1.1 201 Made\r\n\r\nhello",
       }) {
    const auto reply = Peer(answer).ask();
    ASSERT_TRUE(reply) << answer << reply.error().message;
    EXPECT_EQ(reply->status, 201);
    EXPECT_EQ(reply->status_line, "HTTP/1.1 201 Made");
    EXPECT_EQ(reply->body, "hello") << answer;
  }
}

TEST(HttpClient, SendsWhatItIsGiven) {
  Peer peer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  ASSERT_TRUE(ask({.method = "POST",
                   .url = peer.origin() + "/b?c=1",
                   .authorization = "Bearer t",
                   .body = "{}"}));
  const std::string request = peer.request();
  EXPECT_THAT(request, StartsWith("POST /b?c=1 HTTP/1.1\r\n"));
  for (const std::string& line :
       {"Host: " + peer.origin().substr(7), std::string("Authorization: Bearer t"),
        std::string("Content-Type: application/json"), std::string("Content-Length: 2")})
    EXPECT_THAT(request, HasSubstr("\r\n" + line + "\r\n"));
  EXPECT_TRUE(request.ends_with("\r\n\r\n{}"));
}

TEST(HttpClient, SaysWhyThereIsNoReply) {
  const std::string begin = "unreachable The server cannot be asked: ";
  EXPECT_EQ(Peer("").fault(), begin + "it gives no answer.");
  EXPECT_EQ(Peer("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello").fault(),
            begin + "it gives no answer.");
  EXPECT_EQ(Peer("", true).fault(20), begin + "it gives no answer.");
  EXPECT_EQ(Peer("SSH-2.0-OpenSSH_9.2\r\n").fault(), begin + "it does not speak HTTP.");
  EXPECT_EQ(Peer("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n").fault(),
            begin + "its answer is too long.");
}

TEST(HttpClient, RefusesAUrlThatItCannotUse) {
  for (const char* url : {"", "127.0.0.1:80", "ftp://127.0.0.1/", "http://a b/"}) {
    const auto reply = ask({.method = "GET", .url = url, .authorization = {}, .body = {}});
    ASSERT_FALSE(reply) << url;
    EXPECT_THAT(reply.error().message, HasSubstr("http:// or https://")) << url;
  }
}

}  // namespace
}  // namespace hyperflock::cli
