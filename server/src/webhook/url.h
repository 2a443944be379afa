// The address of a webhook, read strictly. A form that two programs may read differently is
// refused: a user name, an IPv4 address in octal, hexadecimal or fewer than four parts, an escape
// in the host, a backslash. Pure; any thread.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hyperflock::webhook {

struct Url {
  bool tls = true;
  std::string host;  // lower-case, without brackets and without a dot at the end
  std::optional<boost::asio::ip::address> literal;  // if the host is an address
  std::uint16_t port = 443;
  std::string target = "/";  // path and query

  // Returns host and port for a Host header; the port only if it is not the usual one.
  std::string host_and_port() const;
};

// Error: `bad_webhook`.
Result<Url> parse_url(std::string_view text);

// Returns a host name in lower case without a dot at the end, or nothing if it is no host name.
std::optional<std::string> host_name(std::string_view text);

}  // namespace hyperflock::webhook
