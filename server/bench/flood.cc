#include "flood.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

#include "protocol/codec.h"
#include "tests/support/test_client.h"

namespace hyperflock::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kUpgrade =
    "GET /ws/worker HTTP/1.1\r\nHost: flood\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n";

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

void allow_descriptors(int count) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const auto wanted = static_cast<rlim_t>(count) + 256;
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  if (limit.rlim_cur < wanted || ::setrlimit(RLIMIT_NOFILE, &limit) != 0)
    throw std::runtime_error("the system allows too few open files for the flood");
}

sockaddr_in loopback(const char* address, std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  ::inet_pton(AF_INET, address, &out.sin_addr);
  return out;
}

int connect_from_elsewhere(std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) fail("no socket");
  const sockaddr_in from = loopback("127.0.0.2", 0);
  const sockaddr_in to = loopback("127.0.0.1", port);
  if (::bind(socket, reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0) fail("no bind");
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) fail("no connect");
  ::send(socket, kUpgrade.data(), kUpgrade.size(), MSG_NOSIGNAL);
  return socket;
}

struct Stranger {
  int socket = -1;
  std::string received;
};

}  // namespace

FloodOutcome flood(std::uint16_t port, int count, std::chrono::seconds limit) {
  allow_descriptors(count);
  const auto start = Clock::now();
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  std::vector<Stranger> strangers(static_cast<std::size_t>(count));
  FloodOutcome outcome;
  outcome.held = count;
  const auto look = [&](int wait_ms) {
    std::array<epoll_event, 256> events;
    const int ready = ::epoll_wait(epoll, events.data(), static_cast<int>(events.size()), wait_ms);
    for (int i = 0; i < ready; ++i) {
      Stranger& one = strangers[events[static_cast<std::size_t>(i)].data.u64];
      std::array<char, 2048> piece;
      const ssize_t got = ::recv(one.socket, piece.data(), piece.size(), MSG_DONTWAIT);
      if (got > 0) {
        one.received.append(piece.data(), static_cast<std::size_t>(got));
        continue;
      }
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      ::close(one.socket);  // this also removes it from the epoll
      one.socket = -1;
      --outcome.held;
      if (one.received.find("hello_timeout") != std::string::npos) {
        ++outcome.timed_out;
      } else if (one.received.starts_with("HTTP/1.1 503") ||
                 one.received.starts_with("HTTP/1.1 429")) {
        ++outcome.full;
      } else {
        ++outcome.cut;
      }
    }
  };
  for (std::size_t i = 0; i < strangers.size(); ++i) {
    strangers[i].socket = connect_from_elsewhere(port);
    epoll_event event{};
    event.events = EPOLLIN | EPOLLRDHUP;
    event.data.u64 = i;
    ::epoll_ctl(epoll, EPOLL_CTL_ADD, strangers[i].socket, &event);
    if (i % 64 == 63) look(0);
  }
  while (outcome.held > 0 && Clock::now() - start < limit) look(100);
  for (const Stranger& one : strangers) {
    if (one.socket >= 0) ::close(one.socket);
  }
  ::close(epoll);
  outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return outcome;
}

std::int64_t read_slowly(std::uint16_t console_port, const std::string& token, std::int64_t study,
                         std::int64_t bytes_per_s, const std::atomic<bool>& stop) {
  net::TestWebSocket socket(console_port, "/ws/client");
  constexpr int kSmallBuffer = 4'096;
  socket.socket().shrink_receive_buffer(kSmallBuffer);
  protocol::Hello hello;
  hello.protocol = protocol::kProtocolVersion;
  hello.role = protocol::Role::researcher;
  hello.token = token;
  hello.agent = "flood_bench";
  socket.send(protocol::serialize(protocol::ClientMessage(hello)));
  socket.receive_text();
  socket.send(protocol::serialize(protocol::ClientMessage(protocol::Watch{StudyId{study}, 0})));
  std::int64_t taken = 0;
  std::array<char, 1024> piece;
  const auto slice = static_cast<std::size_t>(std::clamp<std::int64_t>(bytes_per_s / 10, 1, 1024));
  while (!stop) {
    const ssize_t got = ::recv(socket.socket().descriptor(), piece.data(), slice, MSG_DONTWAIT);
    if (got == 0) break;
    if (got > 0) taken += got;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return taken;
}

}  // namespace hyperflock::bench
