// TLS on a TCP socket. Asio's own TLS stream keeps two buffers of 17 KiB for each connection, and
// OpenSSL two more. Here OpenSSL uses the socket itself, and frees its buffers while the connection
// is idle.
//
// A TlsStream belongs to the strand of its socket. One read and one write may be under way at once.
#pragma once

#include <openssl/bio.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "hub/executor.h"
#include "net/tls.h"

namespace hyperflock::net {

using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, hub::Strand>;
using ErrorCode = boost::system::error_code;

// What an attempt to read or write has done, which never waits. After another Next than `done`,
// wait for the socket and try again, a write with the same bytes.
struct StreamStep {
  enum class Next : std::uint8_t { done, wait_for_input, wait_for_room };
  Next next = Next::done;
  ErrorCode error{};
  std::size_t bytes = 0;
};

// Which end of the handshake a TlsStream is.
enum class TlsEnd : std::uint8_t { accepts, connects };

// OpenSSL's side of a TlsStream.
class TlsConnection {
 public:
  using Step = StreamStep;
  using Next = StreamStep::Next;

  // `socket` must outlive this object, and be open when the handshake begins.
  TlsConnection(Socket& socket, TlsContext context, TlsEnd end);
  ~TlsConnection();
  TlsConnection(const TlsConnection&) = delete;
  TlsConnection& operator=(const TlsConnection&) = delete;

  // Prepares for the first shake_hands(). `ahead` are bytes that were already read from the socket.
  ErrorCode begin(std::string ahead);
  Step shake_hands();
  Step read(boost::asio::mutable_buffer to);
  Step write(boost::asio::const_buffer from);
  // Returns whether the handshake was by a key that both ends had before (PSK).
  bool has_shared_key() const;

 private:
  Step step(int result, std::size_t bytes);
  static int receive(BIO* bio, char* to, int size);
  static int send(BIO* bio, const char* from, int size);
  static long control(BIO* bio, int what, long number, void* pointer);
  static const BIO_METHOD* methods();

  Socket& socket_;
  const TlsContext context_;  // the SSL object uses it
  std::string ahead_;         // bytes that OpenSSL gets before those of the socket
  bool ended_ = false;        // whether the peer has ended its stream
  SSL* ssl_ = nullptr;
};

class TlsStream {
 public:
  TlsStream(Socket& socket, TlsContext context, TlsEnd end = TlsEnd::accepts)
      : socket_(socket), connection_(socket, std::move(context), end) {}

  TlsConnection& connection() { return connection_; }

  // Does the handshake, of which `ahead` was already read. The size that the token gets
  // is always 0.
  template <typename Token>
  auto async_handshake(std::string ahead, Token&& token) {
    return start(
        [this, ahead = std::move(ahead), begun = false]() mutable -> Step {
          if (!std::exchange(begun, true)) {
            if (const ErrorCode error = connection_.begin(std::move(ahead)))
              return {.error = error};
          }
          return connection_.shake_hands();
        },
        std::forward<Token>(token));
  }

  template <typename Buffers, typename Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return start(
        [this, buffers] {
          return connection_.read(first_of<boost::asio::mutable_buffer>(buffers));
        },
        std::forward<Token>(token));
  }

  template <typename Buffers, typename Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return start(
        [this, buffers] {
          const auto first = first_of<boost::asio::const_buffer>(buffers);
          // A frame's header and its short text go into one record.
          if (first.size() >= kJoined || first.size() == boost::asio::buffer_size(buffers))
            return connection_.write(first);
          std::array<std::byte, kJoined> joined;
          const std::size_t bytes = boost::asio::buffer_copy(boost::asio::buffer(joined), buffers);
          return connection_.write({joined.data(), bytes});
        },
        std::forward<Token>(token));
  }

 private:
  using Step = TlsConnection::Step;
  using Next = TlsConnection::Next;
  static constexpr std::size_t kJoined = 2'048;  // bytes

  template <typename Buffer, typename Buffers>
  static Buffer first_of(const Buffers& buffers) {
    const auto end = boost::asio::buffer_sequence_end(buffers);
    for (auto next = boost::asio::buffer_sequence_begin(buffers); next != end; ++next) {
      if (const Buffer one(*next); one.size() > 0) return one;
    }
    return {};
  }

  // Calls `attempt` until it is done, and in between waits for the socket.
  template <typename Attempt>
  struct Operation {
    Socket& socket;
    Attempt attempt;
    enum class State : std::uint8_t { starts, waits, ends } state = State::starts;
    Step step{};

    template <typename Self>
    void operator()(Self& self, ErrorCode error = {}) {
      if (state == State::ends) return self.complete(step.error, step.bytes);
      step = error ? Step{.error = error} : attempt();
      Socket& waited = socket;  // `self` contains this object
      if (step.next != Next::done) {
        state = State::waits;
        const auto what =
            step.next == Next::wait_for_input ? Socket::wait_read : Socket::wait_write;
        return waited.async_wait(what, std::move(self));
      }
      if (state == State::waits) return self.complete(step.error, step.bytes);
      // A handler must not run inside the function that starts its operation.
      state = State::ends;
      boost::asio::post(waited.get_executor(), std::move(self));
    }
  };

  template <typename Attempt, typename Token>
  auto start(Attempt attempt, Token&& token) {
    return boost::asio::async_compose<Token, void(ErrorCode, std::size_t)>(
        Operation<Attempt>{socket_, std::move(attempt)}, token, socket_);
  }

  Socket& socket_;
  TlsConnection connection_;
};

}  // namespace hyperflock::net
