// Accepts connections at one address and starts an HTTP connection for each. It runs on the I/O
// context's threads; stop() may be called on any thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/connections.h"
#include "net/http_connection.h"
#include "net/tls.h"

namespace hyperflock::net {

class Listener {
 public:
  struct Address {
    std::string host;        // numeric
    std::uint16_t port = 0;  // 0: any free port
  };

  // `tls` is nullptr for plain HTTP. All references must outlive the run of the I/O context. Error:
  // `bind_failed`.
  static Result<std::unique_ptr<Listener>> open(boost::asio::io_context& io, const Address& address,
                                                const Tls* tls, Connections& connections,
                                                const HttpContext& context);
  virtual ~Listener() = default;

  virtual void start() = 0;
  virtual void stop() = 0;
  virtual std::uint16_t port() const = 0;
};

}  // namespace hyperflock::net
