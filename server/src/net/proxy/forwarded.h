// Finds the client of a request that came through proxies: X-Forwarded-For and X-Forwarded-Proto.
// Pure; any thread.
#pragma once

#include <string_view>
#include <vector>

#include "base/ip.h"
#include "base/result.h"
#include "net/proxy/trusted_proxies.h"

namespace hyperflock::net {

// The values of the two headers. Each list has the order of the request.
struct ForwardedHeaders {
  std::vector<std::string_view> addresses;  // X-Forwarded-For
  std::vector<std::string_view> protocols;  // X-Forwarded-Proto

  bool empty() const { return addresses.empty() && protocols.empty(); }
};

struct Client {
  IpAddress address;
  bool secure = false;  // whether the client uses TLS
  bool operator==(const Client&) const = default;
};

// `peer` is who sent the request, and whether it came over TLS. The headers of a peer that is not
// trusted are ignored. Otherwise the client is the last address in X-Forwarded-For that is not a
// trusted proxy; addresses before it come from the client, and are not read. If all addresses are
// those of trusted proxies, the first one is the client. Error: `bad_forwarded`, if an address that
// is read or X-Forwarded-Proto is invalid, or if more than 32 addresses are read.
Result<Client> client_of(const Client& peer, const ForwardedHeaders& headers,
                         const TrustedProxies& proxies);

}  // namespace hyperflock::net
