// A small blocking HTTP and WebSocket client on loopback, for tests and the load emulator. Written
// by hand, so that it can also send what no well-behaved client sends. One thread at a time per
// object; every wait has a limit.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/testing/patience.h"

namespace hyperflock::net {

// A connected TCP socket; closed at the end of its life.
class TestSocket {
 public:
  explicit TestSocket(std::uint16_t port);
  TestSocket(TestSocket&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  TestSocket& operator=(TestSocket&& other) noexcept {
    std::swap(socket_, other.socket_);
    return *this;
  }
  ~TestSocket();

  int descriptor() const { return socket_; }
  bool write(std::string_view bytes);
  // Appends what comes within the limit; false at the end of the stream, on a fault or after the
  // limit.
  bool read_some(std::string& to, int limit_ms);
  // Makes the kernel take little before the peer notices (call before the peer sends much).
  void shrink_receive_buffer(int bytes);
  void shrink_send_buffer(int bytes);
  // Ends the connection without a farewell.
  void cut();

 private:
  int socket_ = -1;
};

// A port of loopback that nobody listens on, for as long as this lives: bound, and the kernel gives
// it to no other process.
class ClosedPort {
 public:
  ClosedPort();
  ~ClosedPort();
  ClosedPort(const ClosedPort&) = delete;
  ClosedPort& operator=(const ClosedPort&) = delete;
  std::uint16_t number() const { return number_; }

 private:
  int socket_;
  std::uint16_t number_ = 0;
};

using Headers = std::vector<std::pair<std::string, std::string>>;

struct HttpAnswer {
  int status = 0;                              // 0: the connection ended first
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

// One request over its own connection.
HttpAnswer http_request(std::uint16_t port, std::string_view method, std::string_view target,
                        const Headers& headers = {}, std::string_view body = {});
// Sends `bytes` as they are and reads one answer.
HttpAnswer http_raw(TestSocket& socket, std::string_view bytes);

enum class Opcode : std::uint8_t {
  continuation = 0,
  text = 1,
  binary = 2,
  close = 8,
  ping = 9,
  pong = 10
};

struct Frame {
  Opcode opcode = Opcode::text;
  std::string payload;
  int close_code() const;  // of a close frame, 0 without one
};

// Appends a client's (masked) frame.
void append_frame(std::string& out, Opcode opcode, std::string_view payload, bool final = true);
// Takes one whole frame off the front of `bytes`; nothing where it is not complete.
std::optional<Frame> take_frame(std::string_view& bytes);

class TestWebSocket {
 public:
  // Connects and upgrades; throws std::runtime_error where the server answers otherwise.
  TestWebSocket(std::uint16_t port, std::string_view path);

  bool send(std::string_view text) { return send_frame(Opcode::text, text); }
  bool send_frame(Opcode opcode, std::string_view payload, bool final = true);
  // The next text or close frame (pings are answered on the way); nothing after the limit or the
  // end of the stream.
  std::optional<Frame> receive(int limit_ms = kTestLimitMs);
  // The next text, "" where none comes.
  std::string receive_text(int limit_ms = kTestLimitMs);
  // Reads on until a close frame or the end of the stream; the close code, 0 without one, -1 after
  // the limit.
  int wait_close(int limit_ms = kTestLimitMs);
  // Sends a close frame.
  void close(int code);

  TestSocket& socket() { return socket_; }

 private:
  TestSocket socket_;
  std::string buffer_;
  std::size_t taken_ = 0;  // of the buffer's front
};

}  // namespace hyperflock::net
