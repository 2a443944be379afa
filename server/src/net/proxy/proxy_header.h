// Reads the PROXY protocol's header, version 2, with which a proxy begins a connection and names
// the client (haproxy.org/download/2.8/doc/proxy-protocol.txt). The text of version 1 is refused.
// Pure; any thread.
//
//   std::string bytes;
//   for (;;) {
//     const ProxyRead read = read_proxy_header(bytes);
//     if (read.state == ProxyRead::State::more) bytes += receive(read.missing);
//     ...
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/ip.h"

namespace hyperflock::net {

// The largest header that is accepted, with its extensions. Most proxies send tens of bytes, and
// some also send a certificate's name.
inline constexpr std::size_t kMaxProxyHeader = 2'048;

struct ProxyHeader {
  // The client; nullopt if the proxy connects for itself, for example to check the server's health.
  std::optional<IpAddress> client;
  // Whether the client's connection to the proxy uses TLS, as far as the proxy says so.
  bool secure = false;
};

struct ProxyRead {
  enum class State {
    absent,    // the bytes begin something else
    more,      // `missing` more bytes are needed, and none after them belongs to the header
    complete,  // `header` took the first `bytes` bytes
    bad,       // a header that the server does not take; `fault` says why
  };
  State state = State::absent;
  std::size_t missing = 0;
  std::size_t bytes = 0;
  ProxyHeader header{};
  const char* fault = "";
};

// Parses the first bytes of a connection.
ProxyRead read_proxy_header(std::string_view bytes);

}  // namespace hyperflock::net
