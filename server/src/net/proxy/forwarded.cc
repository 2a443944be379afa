#include "net/proxy/forwarded.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <string>

#include "base/text.h"

namespace hyperflock::net {
namespace {

// If X-Forwarded-For names more proxies in a row than this, the request is refused as a mistake in
// the configuration.
constexpr int kMostHops = 32;

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Reads an entry: an address, to which some proxies add a port (`192.0.2.1:5000`,
// `[2001:db8::1]:5000`).
std::optional<IpAddress> address_of(std::string_view entry) {
  if (entry.starts_with('[')) {
    const std::size_t end = entry.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view rest = entry.substr(end + 1);
    if (!rest.empty() && (rest.front() != ':' || !is_port(rest.substr(1)))) return std::nullopt;
    const auto address = IpAddress::parse(entry.substr(1, end - 1));
    return address && !address->is_v4() ? address : std::nullopt;
  }
  const std::size_t colon = entry.find(':');
  if (colon != std::string_view::npos && entry.find(':', colon + 1) == std::string_view::npos) {
    if (!is_port(entry.substr(colon + 1))) return std::nullopt;
    entry = entry.substr(0, colon);
  }
  return IpAddress::parse(entry);
}

Error bad_addresses() {
  return {"bad_forwarded",
          "The proxy's X-Forwarded-For header is no list of addresses; correct the proxy's "
          "configuration."};
}

Error too_many_proxies() {
  return {"bad_forwarded",
          "The X-Forwarded-For header ends with more than " + std::to_string(kMostHops) +
              " trusted proxies; look for a proxy that passes requests to itself, or name fewer "
              "networks with --trusted-proxy."};
}

}  // namespace

Result<Client> client_of(const Client& peer, const ForwardedHeaders& headers,
                         const TrustedProxies& proxies) {
  Client client{peer.address.unmapped(), peer.secure};
  if (!proxies.contains(client.address)) return client;
  if (!headers.protocols.empty()) {
    const std::string_view protocol = trimmed(headers.protocols.front());
    client.secure = lower(protocol) == "https";
    if (headers.protocols.size() > 1 || (!client.secure && lower(protocol) != "http")) {
      return Error{"bad_forwarded",
                   "The proxy's X-Forwarded-Proto header is neither http nor https; correct the "
                   "proxy's configuration."};
    }
  }
  int hops = 0;
  for (std::string_view line : headers.addresses | std::views::reverse) {
    for (bool more = true; more;) {
      const std::size_t comma = line.rfind(',');
      more = comma != std::string_view::npos;
      const auto address = address_of(trimmed(more ? line.substr(comma + 1) : line));
      if (!address) return bad_addresses();
      if (++hops > kMostHops) return too_many_proxies();
      client.address = address->unmapped();
      if (!proxies.contains(client.address)) return client;
      if (more) line = line.substr(0, comma);
    }
  }
  return client;
}

}  // namespace hyperflock::net
