// A connection's byte stream, plain or TLS, as one type, so that Beast's composed operations are
// compiled once. Only the few .cc files that use sockets include it; others use net/ws_channel.h.
//
// A Stream and everything that uses it belong to one strand.
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/bind_handler.hpp>
#include <boost/beast/core/role.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <memory>
#include <string>
#include <utility>

#include "hub/executor.h"
#include "net/connections.h"
#include "net/tls.h"
#include "net/tls_stream.h"
#include "telemetry/request_context.h"

namespace hyperflock::net {

class Stream {
 public:
  using executor_type = hub::Strand;
  using next_layer_type = Socket;

  // `tls` is nullptr for a plain stream.
  Stream(Socket socket, TlsContext tls, TlsEnd end = TlsEnd::accepts) : socket_(std::move(socket)) {
    if (tls != nullptr) tls_ = std::make_unique<TlsStream>(socket_, std::move(tls), end);
  }
  // The class is not movable, because the TLS layer refers to the socket.
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  executor_type get_executor() { return socket_.get_executor(); }
  Socket& next_layer() { return socket_; }
  const Socket& next_layer() const { return socket_; }
  TlsStream* tls() { return tls_.get(); }
  // Keeps an object until the stream is destroyed.
  void keep(std::shared_ptr<void> object) { kept_ = std::move(object); }

  // Read or write what is possible now. REQUIRES: the handshake of TLS is done, and no asynchronous
  // operation in the same direction is under way.
  StreamStep try_read(boost::asio::mutable_buffer to);
  StreamStep try_write(boost::asio::const_buffer from);

  template <typename Buffers, typename Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(ErrorCode, std::size_t)>(
        [this](auto handler, const Buffers& to) {
          if (tls_) {
            tls_->async_read_some(to, std::move(handler));
          } else {
            socket_.async_read_some(to, std::move(handler));
          }
        },
        token, buffers);
  }

  template <typename Buffers, typename Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(ErrorCode, std::size_t)>(
        [this](auto handler, const Buffers& from) {
          if (tls_) {
            tls_->async_write_some(from, std::move(handler));
          } else {
            socket_.async_write_some(from, std::move(handler));
          }
        },
        token, buffers);
  }

  // Ends the stream of a WebSocket after the closing handshake: sends the end of the stream and
  // waits for nothing. Beast's default waits until the peer has also ended its stream, but the
  // server must know at once that a device has left (R22).
  template <typename Handler>
  friend void async_teardown(boost::beast::role_type role, Stream& stream, Handler&& handler) {
    ErrorCode error;
    teardown(role, stream, error);
    boost::asio::post(stream.get_executor(), boost::beast::bind_front_handler(
                                                 std::forward<Handler>(handler), ErrorCode()));
  }
  friend void teardown(boost::beast::role_type, Stream& stream, ErrorCode& error) {
    stream.socket_.shutdown(Socket::shutdown_send, error);
    error = ErrorCode();
  }

 private:
  Socket socket_;
  std::unique_ptr<TlsStream> tls_;
  std::shared_ptr<void> kept_;
};

// A request for a WebSocket, with all that is needed to accept it.
struct Upgrade {
  std::unique_ptr<Stream> stream;
  boost::beast::http::request<boost::beast::http::empty_body> request;
  ConnectionSlot slot;
  std::string address;  // of the client
  telemetry::RequestContext context;
};

}  // namespace hyperflock::net
