// A small blocking HTTP and WebSocket client on loopback, for tests and the load emulator. It does
// not use Beast, so that it can also send what a correct client never sends. An object may be used
// by one thread at a time. Every wait has a time limit.
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

// A connected TCP socket. The destructor closes it.
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
  // Appends the bytes that arrive within the limit. Returns false at the end of the stream, on an
  // error or after the limit.
  bool read_some(std::string& to, int limit_ms);
  // Lets the kernel buffer little data. Call it before the peer sends much.
  void shrink_receive_buffer(int bytes);
  void shrink_send_buffer(int bytes);
  // Ends the connection without a WebSocket close frame.
  void cut();

 private:
  int socket_ = -1;
};

// A port of loopback on which nobody listens while this object lives. It is bound, so the kernel
// gives it to no other process.
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
inline const Headers kJson{{"Content-Type", "application/json"}};

struct HttpAnswer {
  int status = 0;                              // 0: the connection ended first
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

// Sends one request over a new connection.
HttpAnswer http_request(std::uint16_t port, std::string_view method, std::string_view target,
                        const Headers& headers = {}, std::string_view body = {});
// Sends `bytes` unchanged and reads one answer.
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
  int close_code() const;  // 0 if this is no close frame or has no code
};

// Appends a client's frame, which is masked.
void append_frame(std::string& out, Opcode opcode, std::string_view payload, bool final = true);
// Removes one complete frame from the front of `bytes`. Returns nullopt if there is no complete
// frame.
std::optional<Frame> take_frame(std::string_view& bytes);

class TestWebSocket {
 public:
  // Connects and upgrades. Throws std::runtime_error if the server refuses.
  TestWebSocket(std::uint16_t port, std::string_view path);

  bool send(std::string_view text) { return send_frame(Opcode::text, text); }
  bool send_frame(Opcode opcode, std::string_view payload, bool final = true);
  // Returns the next text or close frame, and answers pings before it. Returns nullopt after the
  // limit or at the end of the stream.
  std::optional<Frame> receive(int limit_ms = kTestLimitMs);
  // Returns the next text, or "" if no text comes within the limit.
  std::string receive_text(int limit_ms = kTestLimitMs);
  // Reads until a close frame or the end of the stream. Returns the close code, 0 without a close
  // frame, or -1 after the limit.
  int wait_close(int limit_ms = kTestLimitMs);
  // Sends a close frame.
  void close(int code);

  TestSocket& socket() { return socket_; }

 private:
  TestSocket socket_;
  std::string buffer_;
  std::size_t taken_ = 0;  // bytes at the front of the buffer that were read
};

}  // namespace hyperflock::net
