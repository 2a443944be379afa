#include "net/proxy/trusted_proxies.h"

#include <algorithm>

namespace hyperflock::net {

Result<TrustedProxies> TrustedProxies::make(const std::vector<std::string>& networks) {
  TrustedProxies proxies;
  for (const std::string& text : networks) {
    const auto network = IpNetwork::parse(text);
    if (!network) {
      return Error{"bad_flag", "--trusted-proxy " + text +
                                   " is neither an address such as 127.0.0.1 nor a network such "
                                   "as 10.0.0.0/8."};
    }
    if (network->bits() == 0) {
      return Error{"bad_flag", "--trusted-proxy " + text +
                                   " contains every address, so that each client could name any "
                                   "address as its own; name the proxy's network."};
    }
    proxies.networks_.push_back(*network);
  }
  return proxies;
}

bool TrustedProxies::contains(const IpAddress& address) const {
  return std::ranges::any_of(networks_, [own = address.unmapped()](const IpNetwork& network) {
    return network.contains(own);
  });
}

}  // namespace hyperflock::net
