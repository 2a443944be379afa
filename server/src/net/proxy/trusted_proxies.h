// The proxies whose headers about a client's address are trusted (--trusted-proxy). Pure; any
// thread.
#pragma once

#include <string>
#include <vector>

#include "base/ip.h"
#include "base/result.h"

namespace hyperflock::net {

class TrustedProxies {
 public:
  TrustedProxies() = default;
  // `networks` are addresses and networks (10.0.0.0/8, fd00::/8). A network of all addresses is
  // refused, because then every client could name any address. Error: `bad_flag`.
  static Result<TrustedProxies> make(const std::vector<std::string>& networks);

  bool empty() const { return networks_.empty(); }
  bool contains(const IpAddress& address) const;

 private:
  std::vector<IpNetwork> networks_;
};

}  // namespace hyperflock::net
