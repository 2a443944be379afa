// Tests which peers are trusted, and which values of --trusted-proxy are refused.
#include "net/proxy/trusted_proxies.h"

#include <gtest/gtest.h>

namespace hyperflock::net {
namespace {

TEST(TrustedProxies, NobodyIsTrustedByDefault) {
  const TrustedProxies none;
  EXPECT_TRUE(none.empty());
  EXPECT_FALSE(none.contains(*IpAddress::parse("127.0.0.1")));
}

TEST(TrustedProxies, ContainsItsNetworksAlsoForMappedAddresses) {
  const auto proxies = TrustedProxies::make({"10.0.0.0/8", "fd00::/8", "192.0.2.7"});
  ASSERT_TRUE(proxies);
  for (const char* trusted : {"10.1.2.3", "::ffff:10.1.2.3", "fd12::1", "192.0.2.7"})
    EXPECT_TRUE(proxies->contains(*IpAddress::parse(trusted))) << trusted;
  for (const char* other : {"11.0.0.1", "192.0.2.8", "2001:db8::1", "::1"})
    EXPECT_FALSE(proxies->contains(*IpAddress::parse(other))) << other;
}

TEST(TrustedProxies, RefusesWhatIsNoNetworkAndWhatIsEveryNetwork) {
  for (const char* bad : {"", "proxy.lan", "10.0.0.0/33", "10.0.0.0:80", "0.0.0.0/0", "::/0"}) {
    const auto proxies = TrustedProxies::make({"127.0.0.1", bad});
    ASSERT_FALSE(proxies) << bad;
    EXPECT_EQ(proxies.error().code, "bad_flag");
    EXPECT_TRUE(proxies.error().message.starts_with(std::string("--trusted-proxy ") + bad));
  }
}

}  // namespace
}  // namespace hyperflock::net
