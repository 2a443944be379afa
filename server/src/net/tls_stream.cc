#include "net/tls_stream.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <cerrno>
#include <memory>
#include <new>

namespace hyperflock::net {
namespace {

namespace asio = boost::asio;

bool must_wait(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

const BIO_METHOD* TlsConnection::methods() {
  static const auto made = [] {
    using Methods = std::unique_ptr<BIO_METHOD, decltype(&BIO_meth_free)>;
    Methods one(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket"), &BIO_meth_free);
    if (one == nullptr) throw std::bad_alloc();
    BIO_meth_set_read(one.get(), &receive);
    BIO_meth_set_write(one.get(), &send);
    BIO_meth_set_ctrl(one.get(), &control);
    return one;
  }();
  return made.get();
}

TlsConnection::TlsConnection(Socket& socket, TlsContext context, TlsEnd end)
    : socket_(socket), context_(std::move(context)), ssl_(SSL_new(context_->native_handle())) {
  BIO* const bio = ssl_ == nullptr ? nullptr : BIO_new(methods());
  if (bio == nullptr) {
    SSL_free(ssl_);
    throw std::bad_alloc();
  }
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_, bio, bio);  // ssl_ owns it from now on
  if (end == TlsEnd::accepts) {
    SSL_set_accept_state(ssl_);
  } else {
    SSL_set_connect_state(ssl_);
  }
}

TlsConnection::~TlsConnection() { SSL_free(ssl_); }

ErrorCode TlsConnection::begin(std::string ahead) {
  ahead_ = std::move(ahead);
  ErrorCode error;
  socket_.native_non_blocking(true, error);
  return error;
}

TlsConnection::Step TlsConnection::shake_hands() {
  ERR_clear_error();
  return step(SSL_do_handshake(ssl_), 0);
}

TlsConnection::Step TlsConnection::read(asio::mutable_buffer to) {
  if (to.size() == 0) return {};
  ERR_clear_error();
  std::size_t bytes = 0;
  const int result = SSL_read_ex(ssl_, to.data(), to.size(), &bytes);
  return step(result, bytes);
}

TlsConnection::Step TlsConnection::write(asio::const_buffer from) {
  if (from.size() == 0) return {};
  ERR_clear_error();
  std::size_t bytes = 0;
  const int result = SSL_write_ex(ssl_, from.data(), from.size(), &bytes);
  return step(result, bytes);
}

bool TlsConnection::has_shared_key() const { return SSL_session_reused(ssl_) == 1; }

TlsConnection::Step TlsConnection::step(int result, std::size_t bytes) {
  const int system_error = errno;
  if (result > 0) return {.bytes = bytes};
  switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_READ:
      return {.next = Next::wait_for_input};
    case SSL_ERROR_WANT_WRITE:
      return {.next = Next::wait_for_room};
    case SSL_ERROR_ZERO_RETURN:
      return {.error = asio::error::eof};
    case SSL_ERROR_SYSCALL:
      if (ended_ || system_error == 0) return {.error = asio::ssl::error::stream_truncated};
      return {.error = {system_error, boost::system::system_category()}};
    default:
      if (ended_) return {.error = asio::ssl::error::stream_truncated};
      return {.error = {static_cast<int>(ERR_get_error()), asio::error::get_ssl_category()}};
  }
}

int TlsConnection::receive(BIO* bio, char* to, int size) {
  auto& self = *static_cast<TlsConnection*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  if (!self.ahead_.empty()) {
    const std::size_t taken = self.ahead_.copy(to, static_cast<std::size_t>(size));
    self.ahead_.erase(0, taken);
    if (self.ahead_.empty()) self.ahead_.shrink_to_fit();
    return static_cast<int>(taken);
  }
  const ssize_t got = ::recv(self.socket_.native_handle(), to, static_cast<std::size_t>(size), 0);
  if (got == 0) self.ended_ = true;
  if (got < 0 && must_wait(errno)) BIO_set_retry_read(bio);
  return static_cast<int>(got);
}

int TlsConnection::send(BIO* bio, const char* from, int size) {
  auto& self = *static_cast<TlsConnection*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  const ssize_t sent =
      ::send(self.socket_.native_handle(), from, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (sent < 0 && must_wait(errno)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

long TlsConnection::control(BIO* bio, int what, long, void*) {
  switch (what) {
    case BIO_CTRL_FLUSH:
      return 1;
    case BIO_CTRL_EOF:
      return static_cast<TlsConnection*>(BIO_get_data(bio))->ended_ ? 1 : 0;
    default:
      return 0;
  }
}

}  // namespace hyperflock::net
