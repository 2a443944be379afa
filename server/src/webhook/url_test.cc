// Tests which addresses of webhooks are accepted, and how they are split into their parts.
#include "webhook/url.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <random>

#include "base/testing/sample.h"

namespace hyperflock::webhook {
namespace {

std::string host_of(std::string_view text) {
  const auto url = parse_url(text);
  return url ? url->host : url.error().code;
}

TEST(WebhookUrl, HasItsParts) {
  const Url url = parse_url("https://Hooks.Example.org.:8443/a/b?token=1").value();
  EXPECT_TRUE(url.tls);
  EXPECT_EQ(url.host, "hooks.example.org");
  EXPECT_EQ(url.port, 8443);
  EXPECT_EQ(url.target, "/a/b?token=1");
  EXPECT_EQ(url.host_and_port(), "hooks.example.org:8443");
  EXPECT_FALSE(url.literal);
}

TEST(WebhookUrl, HasTheUsualPortAndPath) {
  EXPECT_EQ(parse_url("https://a.example").value().port, 443);
  EXPECT_EQ(parse_url("http://a.example").value().port, 80);
  EXPECT_EQ(parse_url("https://a.example").value().target, "/");
  EXPECT_EQ(parse_url("https://a.example?x=1").value().target, "/?x=1");
  EXPECT_EQ(parse_url("http://a.example:80/").value().host_and_port(), "a.example");
  EXPECT_EQ(parse_url("https://a.example:80/").value().host_and_port(), "a.example:80");
}

TEST(WebhookUrl, KnowsLiteralAddresses) {
  EXPECT_EQ(parse_url("https://192.0.2.7/").value().literal->to_string(), "192.0.2.7");
  const Url v6 = parse_url("https://[2001:DB8::1]:444/").value();
  EXPECT_EQ(v6.literal->to_string(), "2001:db8::1");
  EXPECT_EQ(v6.host_and_port(), "[2001:db8::1]:444");
  EXPECT_EQ(host_of("https://[::ffff:127.0.0.1]/"), "::ffff:127.0.0.1");
  EXPECT_EQ(host_of("https://127.0.0.1./"), "127.0.0.1");
}

// Programs disagree about these forms, so each would be a way around the rules.
TEST(WebhookUrl, RefusesOtherFormsOfIPv4Addresses) {
  for (const char* host : {"2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "127.0.1",
                           "0x7f.0x0.0x0.0x1", "127.0.0.01", "127.0.0.0x1", "1.2.3.4.5",
                           "256.1.1.1", "017700000001", "0", "example.0x", "example.7"}) {
    EXPECT_EQ(host_of(std::string("https://") + host + "/"), "bad_webhook") << host;
  }
}

// The system's functions also accept octal, hexadecimal and short forms of IPv4 addresses. A host
// that the server takes for a name must be no such form, and a host that it takes for an address
// must be the same address to them.
TEST(WebhookUrl, ANameIsNoAddressToTheSystem) {
  constexpr std::string_view kLetters = "0123456789.xXaf-";
  std::mt19937_64 random(62);
  int literals = 0;
  int names = 0;
  for (int i = 0; i < cases(2'000'000, 200'000); ++i) {
    std::string host(1 + random() % 15, ' ');
    for (char& letter : host) letter = kLetters[random() % (i % 2 == 0 ? 11 : kLetters.size())];
    if (i % 4 == 0) host = "1" + host.substr(0, 2) + ".0." + host.substr(host.size() / 2) + ".1";
    const auto url = parse_url("https://" + host + "/");
    if (!url) continue;
    in_addr system{};
    const bool is_address = ::inet_aton(url->host.c_str(), &system) != 0;
    ASSERT_EQ(url->literal.has_value(), is_address) << host;
    ++(is_address ? literals : names);
    if (!is_address) continue;
    ASSERT_EQ(url->literal->to_v4().to_uint(), ntohl(system.s_addr)) << host;
  }
  EXPECT_GT(literals, 100);
  EXPECT_GT(names, 100);
}

TEST(WebhookUrl, RefusesWhatIsNoPlainAddress) {
  for (const char* text : {"",
                           "https://",
                           "https:///x",
                           "ftp://a.example/",
                           "HTTPS://a.example/",
                           "//a.example/",
                           "https://user@a.example/",
                           "https://user:pass@a.example/",
                           "https://a.example@127.0.0.1/",
                           "https://a.example\\@127.0.0.1/",
                           "https://a.example/#part",
                           "https://a.example/ b",
                           "https://a.example/\n",
                           "https://a.example:0/",
                           "https://a.example:65536/",
                           "https://a.example:/",
                           "https://a.example:80x/",
                           "https://a..example/",
                           "https://.example/",
                           "https://a%2eexample/",
                           "https://[::1/",
                           "https://[fe80::1%25eth0]/",
                           "https://[1.2.3.4]/",
                           "https://::1/",
                           "https://ex\xc3\xa4mple.org/",
                           "https://a b.example/",
                           "https://a,b/"}) {
    EXPECT_EQ(host_of(text), "bad_webhook") << text;
  }
  EXPECT_EQ(host_of("https://" + std::string(64, 'a') + ".example/"), "bad_webhook");
  EXPECT_EQ(parse_url("https://u@a/").error().message,
            "The address of a webhook has no user name and no password.");
  EXPECT_EQ(parse_url("https://u@a/").error().field, "webhook.url");
}

}  // namespace
}  // namespace hyperflock::webhook
