#include "webhook/address_rules.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace hyperflock::webhook {
namespace {

namespace ip = boost::asio::ip;

struct V4Range {
  std::uint32_t network;
  unsigned bits;
  std::string_view name;
};

constexpr std::uint32_t v4(std::uint32_t a, std::uint32_t b, std::uint32_t c = 0) {
  return (a << 24) | (b << 16) | (c << 8);
}

// The ranges that are not public: those which the registry of special-purpose addresses (RFC 6890)
// lists as not global, and multicast.
constexpr std::array kV4Ranges{
    V4Range{v4(0, 0), 8, "unspecified"},
    V4Range{v4(10, 0), 8, "private"},
    V4Range{v4(100, 64), 10, "shared by a provider's customers"},
    V4Range{v4(127, 0), 8, "loopback"},
    V4Range{v4(169, 254), 16, "link-local"},
    V4Range{v4(172, 16), 12, "private"},
    V4Range{v4(192, 0, 0), 24, "reserved"},
    V4Range{v4(192, 0, 2), 24, "for documentation"},
    V4Range{v4(192, 88, 99), 24, "reserved"},
    V4Range{v4(192, 168), 16, "private"},
    V4Range{v4(198, 18), 15, "for benchmarks"},
    V4Range{v4(198, 51, 100), 24, "for documentation"},
    V4Range{v4(203, 0, 113), 24, "for documentation"},
    V4Range{v4(224, 0), 4, "multicast"},
    V4Range{v4(240, 0), 4, "reserved"},
};

struct V6Range {
  std::array<std::uint16_t, 6> network;  // the first 96 bits
  unsigned bits;
  std::string_view name;
};

// The first range that contains an address counts. Outside 2000::/3 nothing is public.
constexpr std::array kV6Ranges{
    V6Range{{0, 0, 0, 0, 0, 0xffff}, 96, "an IPv4 address written as IPv6"},
    V6Range{{0x64, 0xff9b, 0, 0, 0, 0}, 96, "an IPv4 address behind NAT64"},
    V6Range{{0x64, 0xff9b, 1, 0, 0, 0}, 48, "an IPv4 address behind NAT64"},
    V6Range{{0xfe80, 0, 0, 0, 0, 0}, 10, "link-local"},
    V6Range{{0xfc00, 0, 0, 0, 0, 0}, 7, "private"},
    V6Range{{0xff00, 0, 0, 0, 0, 0}, 8, "multicast"},
    V6Range{{0x2001, 0, 0, 0, 0, 0}, 23, "reserved"},  // Teredo and others
    V6Range{{0x2001, 0xdb8, 0, 0, 0, 0}, 32, "for documentation"},
    V6Range{{0x2002, 0, 0, 0, 0, 0}, 16, "an IPv4 address written as IPv6"},  // 6to4
    V6Range{{0x3fff, 0, 0, 0, 0, 0}, 20, "for documentation"},
};

std::string_view why_not_public(const ip::address_v4& address) {
  const std::uint32_t value = address.to_uint();
  for (const V4Range& range : kV4Ranges)
    if (((value ^ range.network) >> (32 - range.bits)) == 0) return range.name;
  return {};
}

std::string_view why_not_public(const ip::address_v6& address) {
  if (address.is_loopback()) return "loopback";
  if (address.is_unspecified()) return "unspecified";
  if (address.scope_id() != 0) return "link-local";
  const ip::address_v6::bytes_type bytes = address.to_bytes();
  for (const V6Range& range : kV6Ranges) {
    ip::address_v6::bytes_type network{};
    for (std::size_t i = 0; i < range.network.size(); ++i) {
      network[2 * i] = static_cast<std::uint8_t>(range.network[i] >> 8);
      network[2 * i + 1] = static_cast<std::uint8_t>(range.network[i] & 0xff);
    }
    if (agree(bytes, network, range.bits)) return range.name;
  }
  return (bytes[0] & 0xe0) == 0x20 ? std::string_view() : "reserved";
}

Error bad_flag(const std::string& text) {
  return {"bad_flag", "--webhook-allow " + text +
                          " is neither a network such as 10.0.0.0/8, nor an address, nor a host "
                          "name."};
}

Error refused(std::string why) { return {"webhook_refused", std::move(why), "webhook.url"}; }

Error needs_tls() {
  return refused(
      "A webhook needs https://, unless the operator allows its host (--webhook-allow).");
}

}  // namespace

std::string_view why_not_public(const ip::address& address) {
  return address.is_v4() ? why_not_public(address.to_v4()) : why_not_public(address.to_v6());
}

Result<AddressRules> AddressRules::make(const std::vector<std::string>& allowed) {
  AddressRules rules;
  for (const std::string& text : allowed) {
    if (const auto network = IpNetwork::parse(text)) {
      rules.networks_.push_back(*network);
      continue;
    }
    const auto name = host_name(text);
    if (!name || text.contains('/')) return bad_flag(text);
    rules.hosts_.push_back(*name);
  }
  return rules;
}

bool AddressRules::names_host(const std::string& host) const {
  return std::ranges::find(hosts_, host) != hosts_.end();
}

bool AddressRules::names_address(const ip::address& address) const {
  const IpAddress other = address.is_v4() ? IpAddress(address.to_v4().to_bytes())
                                          : IpAddress(address.to_v6().to_bytes());
  return std::ranges::any_of(networks_,
                             [&](const IpNetwork& network) { return network.contains(other); });
}

Status AddressRules::judge(const Url& url) const {
  if (url.literal) return judge(url, *url.literal);
  if (names_host(url.host)) return {};
  // These names always mean this machine (RFC 6761), whatever the DNS answers.
  const bool local = url.host == "localhost" || url.host.ends_with(".localhost");
  if (local && !names_address(ip::address_v4::loopback()) &&
      !names_address(ip::address_v6::loopback()))
    return refused(
        "The host of the webhook is the server itself, which its operator does not "
        "allow (--webhook-allow).");
  // If the operator allows networks, only the DNS shows whether the host is in one of them, and may
  // be reached without TLS.
  if (!url.tls && networks_.empty()) return needs_tls();
  return {};
}

Status AddressRules::judge(const Url& url, const ip::address& address) const {
  if (names_host(url.host) || names_address(address)) return {};
  if (const std::string_view why = why_not_public(address); !why.empty())
    return refused("The host of the webhook has an address that is not public (" +
                   std::string(why) + "), and the operator does not allow it (--webhook-allow).");
  if (!url.tls) return needs_tls();
  return {};
}

}  // namespace hyperflock::webhook
