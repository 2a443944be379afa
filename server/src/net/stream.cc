#include "net/stream.h"

#include <sys/socket.h>

#include <boost/asio/error.hpp>
#include <cerrno>

namespace hyperflock::net {
namespace {

StreamStep step_of(ssize_t result, StreamStep::Next wait) {
  if (result >= 0) return {.bytes = static_cast<std::size_t>(result)};
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return {.next = wait};
  return {.error = {errno, boost::system::system_category()}};
}

}  // namespace

StreamStep Stream::try_read(boost::asio::mutable_buffer to) {
  if (tls_) return tls_->connection().read(to);
  const ssize_t got = ::recv(socket_.native_handle(), to.data(), to.size(), MSG_DONTWAIT);
  if (got == 0 && to.size() != 0) return {.error = boost::asio::error::eof};
  return step_of(got, StreamStep::Next::wait_for_input);
}

StreamStep Stream::try_write(boost::asio::const_buffer from) {
  if (tls_) return tls_->connection().write(from);
  const ssize_t sent =
      ::send(socket_.native_handle(), from.data(), from.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  return step_of(sent, StreamStep::Next::wait_for_room);
}

}  // namespace hyperflock::net
