// Tests which addresses webhooks may have.
#include "webhook/address_rules.h"

#include <gtest/gtest.h>

namespace hyperflock::webhook {
namespace {

namespace ip = boost::asio::ip;

std::string judged(const AddressRules& rules, std::string_view text) {
  const auto url = parse_url(text);
  if (!url) return url.error().code;
  const Status status = rules.judge(*url);
  return status ? "allowed" : status.error().code;
}

std::string judged(std::string_view text) { return judged(AddressRules(), text); }

// Checks a host whose DNS answer is this address.
std::string resolved(const AddressRules& rules, const char* address,
                     std::string_view text = "https://hooks.example/") {
  const Status status = rules.judge(parse_url(text).value(), ip::make_address(address));
  return status ? "allowed" : status.error().code;
}

TEST(AddressRules, OnlyPublicAddressesAreAllowed) {
  struct Case {
    const char* address;
    std::string_view why;
  };
  for (const Case& one : {
           Case{"8.8.8.8", ""},
           Case{"172.15.255.255", ""},
           Case{"172.32.0.0", ""},
           Case{"100.63.255.255", ""},
           Case{"100.128.0.0", ""},
           Case{"223.255.255.255", ""},
           Case{"2606:4700::1111", ""},
           Case{"2001:4860:4860::8888", ""},
           Case{"0.0.0.0", "unspecified"},
           Case{"0.1.2.3", "unspecified"},
           Case{"10.255.255.255", "private"},
           Case{"100.64.0.1", "shared by a provider's customers"},
           Case{"100.127.255.255", "shared by a provider's customers"},
           Case{"127.0.0.1", "loopback"},
           Case{"127.255.255.254", "loopback"},
           Case{"169.254.169.254", "link-local"},
           Case{"172.16.0.1", "private"},
           Case{"172.31.255.255", "private"},
           Case{"192.0.0.8", "reserved"},
           Case{"192.0.2.1", "for documentation"},
           Case{"192.168.1.1", "private"},
           Case{"198.19.255.255", "for benchmarks"},
           Case{"224.0.0.1", "multicast"},
           Case{"239.255.255.255", "multicast"},
           Case{"240.0.0.1", "reserved"},
           Case{"255.255.255.255", "reserved"},
           Case{"::", "unspecified"},
           Case{"::1", "loopback"},
           Case{"::ffff:127.0.0.1", "an IPv4 address written as IPv6"},
           Case{"::ffff:8.8.8.8", "an IPv4 address written as IPv6"},
           Case{"::7f00:1", "reserved"},  // the old form of IPv4 in IPv6
           Case{"64:ff9b::7f00:1", "an IPv4 address behind NAT64"},
           Case{"64:ff9b:1::1", "an IPv4 address behind NAT64"},
           Case{"100::1", "reserved"},
           Case{"2001::1", "reserved"},
           Case{"2001:db8::1", "for documentation"},
           Case{"2002:7f00:1::1", "an IPv4 address written as IPv6"},
           Case{"3fff::1", "for documentation"},
           Case{"fc00::1", "private"},
           Case{"fd12:3456:789a::1", "private"},
           Case{"fe80::1", "link-local"},
           Case{"febf::1", "link-local"},
           Case{"fec0::1", "reserved"},
           Case{"ff02::1", "multicast"},
       }) {
    EXPECT_EQ(why_not_public(ip::make_address(one.address)), one.why) << one.address;
  }
}

TEST(AddressRules, LiteralAddressesAreJudgedBeforeTheDns) {
  EXPECT_EQ(judged("https://hooks.example/"), "allowed");
  EXPECT_EQ(judged("https://8.8.8.8/"), "allowed");
  for (const char* text :
       {"https://127.0.0.1/", "https://127.0.0.1./", "https://10.0.0.1:8443/", "https://[::1]/",
        "https://[::ffff:127.0.0.1]/", "https://[::ffff:7f00:1]/", "https://[fd00::1]/",
        "https://169.254.169.254/latest/meta-data", "https://0.0.0.0/", "https://localhost/",
        "https://LOCALHOST./", "https://a.localhost/", "http://hooks.example/",
        "http://8.8.8.8/"}) {
    EXPECT_EQ(judged(text), "webhook_refused") << text;
  }
}

TEST(AddressRules, EveryAddressOfTheDnsIsJudged) {
  const AddressRules rules;
  EXPECT_EQ(resolved(rules, "8.8.8.8"), "allowed");
  EXPECT_EQ(resolved(rules, "127.0.0.1"), "webhook_refused");
  EXPECT_EQ(resolved(rules, "::ffff:10.0.0.1"), "webhook_refused");
  EXPECT_EQ(resolved(rules, "8.8.8.8", "http://hooks.example/"), "webhook_refused");
}

TEST(AddressRules, TheOperatorMayAllowMore) {
  const AddressRules rules =
      AddressRules::make({"127.0.0.0/8", "10.1.2.3", "fd00::/8", "Hooks.LAN."}).value();
  for (const char* text : {"http://127.0.0.1:9000/", "https://10.1.2.3/", "https://[fdff::1]/",
                           "http://hooks.lan/", "http://localhost:1/", "http://other.example/"})
    EXPECT_EQ(judged(rules, text), "allowed") << text;
  EXPECT_EQ(judged(rules, "https://10.1.2.4/"), "webhook_refused");
  EXPECT_EQ(judged(rules, "https://[::1]/"), "webhook_refused");
  EXPECT_EQ(judged(rules, "https://[::ffff:127.0.0.1]/"), "webhook_refused");
  EXPECT_EQ(resolved(rules, "192.168.0.9", "http://hooks.lan/"), "allowed");
  EXPECT_EQ(resolved(rules, "127.0.0.1", "http://other.example/"), "allowed");
  EXPECT_EQ(resolved(rules, "8.8.8.8", "http://other.example/"), "webhook_refused");
}

TEST(AddressRules, AWholeNetworkMayBeAllowed) {
  const AddressRules rules = AddressRules::make({"0.0.0.0/0"}).value();
  EXPECT_EQ(resolved(rules, "192.168.0.9"), "allowed");
  EXPECT_EQ(resolved(rules, "::1"), "webhook_refused");
}

TEST(AddressRules, WhatIsNeitherNetworkNorHostIsABadFlag) {
  for (const char* text : {"", "10.0.0.0/33", "10.0.0.0/x", "10.0.0.0/", "fd00::/129", "a b",
                           "a.example/8", "http://a.example"}) {
    const auto rules = AddressRules::make({text});
    ASSERT_FALSE(rules) << text;
    EXPECT_EQ(rules.error().code, "bad_flag");
  }
}

}  // namespace
}  // namespace hyperflock::webhook
