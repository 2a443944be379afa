#include "tests/support/test_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstring>
#include <stdexcept>

#include "base/testing/patience.h"

namespace hyperflock::net {
namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Parses `head`, which contains the status line and the headers of an answer.
HttpAnswer parse_head(const std::string& head) {
  HttpAnswer answer;
  if (head.size() > 12) answer.status = std::atoi(head.c_str() + 9);
  std::size_t line = head.find("\r\n");
  while (line != std::string::npos && line + 2 < head.size()) {
    const std::size_t start = line + 2;
    line = head.find("\r\n", start);
    const std::string text = head.substr(start, line - start);
    const std::size_t colon = text.find(": ");
    if (colon != std::string::npos)
      answer.headers[lower(text.substr(0, colon))] = text.substr(colon + 2);
  }
  return answer;
}

}  // namespace

TestSocket::TestSocket(std::uint16_t port)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const std::string why = std::strerror(errno);
    ::close(socket_);
    throw std::runtime_error("cannot connect to port " + std::to_string(port) + ": " + why);
  }
  const int on = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

TestSocket::~TestSocket() {
  if (socket_ >= 0) ::close(socket_);
}

bool TestSocket::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool TestSocket::read_some(std::string& to, int limit_ms) {
  pollfd wait{socket_, POLLIN, 0};
  if (::poll(&wait, 1, limit_ms) <= 0) return false;
  std::array<char, 16384> piece{};
  const ssize_t got = ::recv(socket_, piece.data(), piece.size(), 0);
  if (got <= 0) return false;
  to.append(piece.data(), static_cast<std::size_t>(got));
  return true;
}

void TestSocket::shrink_receive_buffer(int bytes) {
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

void TestSocket::shrink_send_buffer(int bytes) {
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}

void TestSocket::cut() {
  ::close(socket_);
  socket_ = -1;
}

ClosedPort::ClosedPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const named = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket_, named, size) != 0 || ::getsockname(socket_, named, &size) != 0)
    throw std::runtime_error(std::string("no port: ") + std::strerror(errno));
  number_ = ntohs(address.sin_port);
}

ClosedPort::~ClosedPort() { ::close(socket_); }

HttpAnswer http_raw(TestSocket& socket, std::string_view bytes) {
  const bool head_only = bytes.starts_with("HEAD ");
  socket.write(bytes);  // a server that refuses early may not read everything
  std::string received;
  std::size_t end = std::string::npos;
  for (;;) {
    while ((end = received.find("\r\n\r\n")) == std::string::npos) {
      if (!socket.read_some(received, kTestLimitMs)) return {};
    }
    if (!received.starts_with("HTTP/1.1 100 ")) break;
    received.erase(0, end + 4);
  }
  HttpAnswer answer = parse_head(received.substr(0, end + 2));
  answer.body = received.substr(end + 4);
  if (head_only || answer.status == 304) return answer;
  const auto length = answer.headers.find("content-length");
  const std::size_t wanted = length == answer.headers.end() ? 0 : std::stoull(length->second);
  while (answer.body.size() < wanted) {
    if (!socket.read_some(answer.body, kTestLimitMs)) break;
  }
  return answer;
}

HttpAnswer http_request(std::uint16_t port, std::string_view method, std::string_view target,
                        const Headers& headers, std::string_view body) {
  std::string text = std::string(method) + " " + std::string(target) + " HTTP/1.1\r\n";
  const bool own_host =
      std::ranges::any_of(headers, [](const auto& header) { return header.first == "Host"; });
  if (!own_host) text += "Host: 127.0.0.1:" + std::to_string(port) + "\r\n";
  for (const auto& [name, value] : headers)
    text.append(name).append(": ").append(value).append("\r\n");
  if (!body.empty() || method == "POST" || method == "PUT") {
    text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  }
  text += "Connection: close\r\n\r\n";
  text += body;
  TestSocket socket(port);
  return http_raw(socket, text);
}

int Frame::close_code() const {
  if (opcode != Opcode::close || payload.size() < 2) return 0;
  return (static_cast<unsigned char>(payload[0]) << 8) | static_cast<unsigned char>(payload[1]);
}

void append_frame(std::string& out, Opcode opcode, std::string_view payload, bool final) {
  // A mask of zeros is valid and leaves the payload unchanged.
  constexpr std::string_view kMask("\0\0\0\0", 4);
  constexpr unsigned kMasked = 0x80;
  out += static_cast<char>((final ? 0x80U : 0U) | static_cast<unsigned>(opcode));
  const std::size_t size = payload.size();
  if (size < 126) {
    out += static_cast<char>(kMasked | size);
  } else {
    const int bytes = size < 65536 ? 2 : 8;
    out += static_cast<char>(kMasked | (bytes == 2 ? 126U : 127U));
    for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>((size >> (8 * i)) & 0xFF);
  }
  out += kMask;
  out += payload;
}

std::optional<Frame> take_frame(std::string_view& bytes) {
  if (bytes.size() < 2) return std::nullopt;
  std::size_t header = 2;
  std::uint64_t size = static_cast<unsigned char>(bytes[1]) & 0x7F;
  if (size >= 126) {
    const std::size_t extra = size == 126 ? 2 : 8;
    header += extra;
    if (bytes.size() < header) return std::nullopt;
    size = 0;
    for (std::size_t i = 0; i < extra; ++i)
      size = (size << 8) | static_cast<unsigned char>(bytes[2 + i]);
  }
  if (bytes.size() - header < size) return std::nullopt;
  Frame frame{static_cast<Opcode>(bytes[0] & 0x0F), std::string(bytes.substr(header, size))};
  bytes.remove_prefix(header + size);
  return frame;
}

TestWebSocket::TestWebSocket(std::uint16_t port, std::string_view path) : socket_(port) {
  socket_.write("GET " + std::string(path) +
                " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
                "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
  std::size_t end = std::string::npos;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (!socket_.read_some(buffer_, kTestLimitMs))
      throw std::runtime_error("no answer to the upgrade");
  }
  if (!buffer_.starts_with("HTTP/1.1 101 ")) throw std::runtime_error("no upgrade: " + buffer_);
  buffer_.erase(0, end + 4);
}

bool TestWebSocket::send_frame(Opcode opcode, std::string_view payload, bool final) {
  std::string bytes;
  append_frame(bytes, opcode, payload, final);
  return socket_.write(bytes);
}

std::optional<Frame> TestWebSocket::receive(int limit_ms) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(limit_ms);
  for (;;) {
    std::string_view rest = std::string_view(buffer_).substr(taken_);
    while (auto frame = take_frame(rest)) {
      taken_ = buffer_.size() - rest.size();
      if (frame->opcode == Opcode::ping) {
        send_frame(Opcode::pong, frame->payload);
      } else if (frame->opcode != Opcode::pong) {
        return frame;
      }
    }
    buffer_.erase(0, taken_);
    taken_ = 0;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0 || !socket_.read_some(buffer_, static_cast<int>(left.count())))
      return std::nullopt;
  }
}

std::string TestWebSocket::receive_text(int limit_ms) {
  auto frame = receive(limit_ms);
  return frame && frame->opcode == Opcode::text ? std::move(frame->payload) : std::string();
}

int TestWebSocket::wait_close(int limit_ms) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(limit_ms);
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return -1;
    const auto frame = receive(static_cast<int>(left.count()));
    if (frame && frame->opcode == Opcode::close) return frame->close_code();
    if (!frame) return std::chrono::steady_clock::now() < deadline ? 0 : -1;
  }
}

void TestWebSocket::close(int code) {
  const std::array<char, 2> payload{static_cast<char>(code >> 8), static_cast<char>(code & 0xFF)};
  send_frame(Opcode::close, {payload.data(), payload.size()});
}

}  // namespace hyperflock::net
