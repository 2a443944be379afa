// An address of this machine that is bound and does not listen yet, so that its port is known, and
// free, before the server takes the database. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"

namespace hyperflock::net {

class BoundAddress {
 public:
  // `host` is numeric; port 0 is any free one. Error: `bind_failed`.
  static Result<BoundAddress> bind(const std::string& host, std::uint16_t port);
  BoundAddress(BoundAddress&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), port_(other.port_), v6_(other.v6_) {}
  BoundAddress& operator=(BoundAddress&& other) noexcept {
    std::swap(socket_, other.socket_);
    port_ = other.port_;
    v6_ = other.v6_;
    return *this;
  }
  ~BoundAddress();

  std::uint16_t port() const { return port_; }
  bool is_v6() const { return v6_; }
  // Returns the socket, which the caller then closes.
  int release() { return std::exchange(socket_, -1); }

 private:
  BoundAddress(int socket, std::uint16_t port, bool v6) : socket_(socket), port_(port), v6_(v6) {}

  int socket_ = -1;
  std::uint16_t port_ = 0;
  bool v6_ = false;
};

}  // namespace hyperflock::net
