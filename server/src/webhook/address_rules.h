// Decides which addresses a webhook may have. The server can reach hosts that the researcher
// cannot: itself, and its operator's network. So only public addresses are allowed, and those that
// the operator names. Pure; any thread.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip.h"
#include "base/result.h"
#include "webhook/url.h"

namespace hyperflock::webhook {

// Returns why an address is not a public one, such as "loopback"; empty if it is public.
std::string_view why_not_public(const boost::asio::ip::address& address);

class AddressRules {
 public:
  // `allowed` are networks (10.0.0.0/8, fd00::/8), addresses and host names that webhooks may have
  // in addition, also without TLS. Error: `bad_flag`.
  static Result<AddressRules> make(const std::vector<std::string>& allowed);

  // Checks the URL as far as this is possible without the DNS. Errors: `bad_webhook`,
  // `webhook_refused`.
  Status judge(const Url& url) const;
  // Checks an address of the URL's host. The server connects only to addresses that pass. Error:
  // `webhook_refused`.
  Status judge(const Url& url, const boost::asio::ip::address& address) const;

 private:
  bool names_host(const std::string& host) const;
  bool names_address(const boost::asio::ip::address& address) const;

  std::vector<IpNetwork> networks_;
  std::vector<std::string> hosts_;
};

}  // namespace hyperflock::webhook
