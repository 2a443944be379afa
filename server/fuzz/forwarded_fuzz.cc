// Fuzzes client_of(), which reads X-Forwarded-For and X-Forwarded-Proto. Each line of the input is
// the value of one header: of X-Forwarded-Proto if it begins with `p`, else of X-Forwarded-For. A
// client can write any addresses before the one that its proxy adds; they must not change which
// client is found.
#include <cstdint>
#include <string_view>

#include "net/proxy/forwarded.h"
#include "require.h"

namespace {

using hyperflock::IpAddress;
using hyperflock::fuzz::require;
using hyperflock::net::Client;
using hyperflock::net::client_of;
using hyperflock::net::ForwardedHeaders;
using hyperflock::net::TrustedProxies;

ForwardedHeaders headers_of(std::string_view text) {
  ForwardedHeaders headers;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (line.starts_with('p'))
      headers.protocols.push_back(line.substr(1));
    else
      headers.addresses.push_back(line);
  }
  return headers;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const TrustedProxies proxies = *TrustedProxies::make({"10.0.0.0/8", "fd00::/8"});
  static const Client proxy{*IpAddress::parse("10.0.0.1"), true};
  static const Client stranger{*IpAddress::parse("192.0.2.1"), true};
  ForwardedHeaders headers = headers_of({reinterpret_cast<const char*>(data), size});

  require(client_of(stranger, headers, proxies).value() == stranger, "a stranger is believed");
  const auto found = client_of(proxy, headers, proxies);
  if (!found) {
    require(found.error().code == "bad_forwarded" && !found.error().message.empty(),
            "an error without its code or sentence");
  } else {
    require(found->address == found->address.unmapped(), "an IPv4 address written as IPv6");
    require(IpAddress::parse(found->address.text()) == found->address,
            "an address is written as something else");
  }
  headers.protocols.clear();
  headers.addresses.push_back("198.51.100.7, 10.0.0.2");
  const auto named = client_of(proxy, headers, proxies);
  require(named && named->address == *IpAddress::parse("198.51.100.7"),
          "the client's words change who it is");
  return 0;
}
