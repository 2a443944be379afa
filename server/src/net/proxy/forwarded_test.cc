// Tests which address is taken as the client's: without a proxy, with one or several, and with
// false headers.
#include "net/proxy/forwarded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace hyperflock::net {
namespace {

const TrustedProxies& proxies() {
  static const TrustedProxies trusted = *TrustedProxies::make({"10.0.0.0/8", "fd00::/8"});
  return trusted;
}

// Returns the client's address and whether it is secure, or the error's code.
std::string client(std::string_view peer, const ForwardedHeaders& headers, bool secure = false) {
  const auto found = client_of({*IpAddress::parse(peer), secure}, headers, proxies());
  if (!found) return found.error().code;
  return found->address.text() + (found->secure ? " tls" : "");
}
std::string behind_proxy(std::vector<std::string_view> addresses) {
  return client("10.0.0.1", {.addresses = std::move(addresses), .protocols = {}});
}

TEST(Forwarded, WithoutHeadersTheClientIsThePeer) {
  EXPECT_EQ(client("192.0.2.1", {}), "192.0.2.1");
  EXPECT_EQ(client("192.0.2.1", {}, true), "192.0.2.1 tls");
  EXPECT_EQ(client("10.0.0.1", {}), "10.0.0.1");
  EXPECT_EQ(client("::ffff:192.0.2.1", {}), "192.0.2.1");
}

TEST(Forwarded, APeerThatIsNotTrustedSaysNothing) {
  EXPECT_EQ(client("192.0.2.1", {{"198.51.100.7"}, {"https"}}), "192.0.2.1");
  EXPECT_EQ(client("192.0.2.1", {{"nonsense"}, {"gopher"}}), "192.0.2.1");
}

TEST(Forwarded, TheLastAddressThatIsNoProxyIsTheClient) {
  EXPECT_EQ(behind_proxy({"198.51.100.7"}), "198.51.100.7");
  EXPECT_EQ(behind_proxy({"203.0.113.5, 198.51.100.7"}), "198.51.100.7");
  EXPECT_EQ(behind_proxy({"203.0.113.5,198.51.100.7 ,\t10.3.3.3, fd00::5"}), "198.51.100.7");
  EXPECT_EQ(behind_proxy({"203.0.113.5", "198.51.100.7", "10.3.3.3"}), "198.51.100.7");
  EXPECT_EQ(behind_proxy({"::ffff:198.51.100.7"}), "198.51.100.7");
}

TEST(Forwarded, WhatTheClientWroteIsNotRead) {
  EXPECT_EQ(behind_proxy({"' OR 1=1, 198.51.100.7"}), "198.51.100.7");
  EXPECT_EQ(behind_proxy({"unknown", "10.0.0.9,,198.51.100.7"}), "198.51.100.7");
}

TEST(Forwarded, IfAllAreProxiesTheFirstIsTheClient) {
  EXPECT_EQ(behind_proxy({"10.5.0.1, 10.6.0.1"}), "10.5.0.1");
}

TEST(Forwarded, EntriesMayHaveAPort) {
  EXPECT_EQ(behind_proxy({"198.51.100.7:5000"}), "198.51.100.7");
  EXPECT_EQ(behind_proxy({"[2001:db8::1]:5000"}), "2001:db8::1");
  EXPECT_EQ(behind_proxy({"[2001:db8::1]"}), "2001:db8::1");
  EXPECT_EQ(behind_proxy({"2001:db8::1"}), "2001:db8::1");
}

TEST(Forwarded, APartThatCountsMustBeAnAddress) {
  for (const char* bad :
       {"", " ", "unknown", "_hidden", "198.51.100.7,", "198.51.100.7:", "198.51.100.7:x",
        "198.51.100.7:123456", "[198.51.100.7]", "[2001:db8::1", "[2001:db8::1]5000",
        "2001:db8::1::", "nonsense, 10.0.0.2", "fe80::1%eth0"})
    EXPECT_EQ(behind_proxy({bad}), "bad_forwarded") << bad;
}

TEST(Forwarded, AtMost32ProxiesMayStandInARow) {
  const auto through = [](int proxies_in_it) {
    std::string line = "198.51.100.7";
    for (int i = 0; i < proxies_in_it; ++i) line += ", 10.0.0.2";
    return line;
  };
  EXPECT_EQ(behind_proxy({through(31)}), "198.51.100.7");
  EXPECT_EQ(behind_proxy({through(32)}), "bad_forwarded");
  const std::string line = through(40);
  const auto refused = client_of({*IpAddress::parse("10.0.0.1"), false}, {{line}, {}}, proxies());
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, testing::HasSubstr("more than 32 trusted proxies"));
  // Entries before the client's address are not counted.
  EXPECT_EQ(behind_proxy({line, "198.51.100.8, 10.0.0.2"}), "198.51.100.8");
}

TEST(Forwarded, TheProxySaysWhetherTheClientUsesTls) {
  const auto by = [](std::vector<std::string_view> protocols, bool secure = false) {
    return client("10.0.0.1", {{"198.51.100.7"}, std::move(protocols)}, secure);
  };
  EXPECT_EQ(by({"https"}), "198.51.100.7 tls");
  EXPECT_EQ(by({" HTTPS "}), "198.51.100.7 tls");
  EXPECT_EQ(by({"http"}, true), "198.51.100.7");
  EXPECT_EQ(by({}, true), "198.51.100.7 tls");
  for (const char* bad : {"", "wss", "https, http"}) EXPECT_EQ(by({bad}), "bad_forwarded") << bad;
  EXPECT_EQ(by({"https", "https"}), "bad_forwarded");
}

}  // namespace
}  // namespace hyperflock::net
