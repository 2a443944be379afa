// See bound_address.h.
#include "net/relay/bound_address.h"

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <cstring>

namespace hyperflock::net {

Result<BoundAddress> BoundAddress::bind(const std::string& host, std::uint16_t port) {
  using boost::asio::ip::tcp;
  const auto fault = [&](const std::string& why) {
    return Error{"bind_failed", "Cannot listen on " + host + ":" + std::to_string(port) + " (" +
                                    why + "); choose another address or port for --peer."};
  };
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(host, error);
  if (error) return fault(error.message());
  tcp::endpoint endpoint(address, port);
  const int made = ::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made < 0) return fault(std::strerror(errno));
  BoundAddress bound(made, 0, address.is_v6());
  const int yes = 1;
  socklen_t size = static_cast<socklen_t>(endpoint.capacity());
  if (::setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
      ::bind(made, endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0 ||
      ::getsockname(made, endpoint.data(), &size) != 0)
    return fault(std::strerror(errno));
  bound.port_ = endpoint.port();
  return bound;
}

BoundAddress::~BoundAddress() {
  if (socket_ >= 0) ::close(socket_);
}

}  // namespace hyperflock::net
