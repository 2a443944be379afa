// Tests how addresses and networks are read and compared, and the network of one client.
#include "base/ip.h"

#include <gtest/gtest.h>

namespace hyperflock {
namespace {

std::string text_of(std::string_view text) {
  const auto address = IpAddress::parse(text);
  return address ? address->text() : "none";
}

TEST(IpAddress, IsReadAndWrittenInOneForm) {
  EXPECT_EQ(text_of("192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(text_of("2001:DB8:0:0::1"), "2001:db8::1");
  EXPECT_EQ(text_of("::ffff:192.0.2.1"), "::ffff:192.0.2.1");
  for (const char* bad :
       {"", "unknown", "192.0.2", "192.0.2.256", "192.0.2.1:80", "[2001:db8::1]", "fe80::1%eth0",
        "010.0.0.1", " 192.0.2.1", "2001:db8::1::", "1111:1111:1111:1111:1111:1111:1111:1111:1111"})
    EXPECT_EQ(text_of(bad), "none") << bad;
  EXPECT_EQ(text_of(std::string_view("192.0.2.1\0.9", 12)), "none");
}

TEST(IpAddress, AMappedAddressIsTheOneOfIpv4) {
  EXPECT_EQ(IpAddress::parse("::ffff:192.0.2.1")->unmapped(), *IpAddress::parse("192.0.2.1"));
  const IpAddress v6 = *IpAddress::parse("2001:db8::ffff:192.0.2.1");
  EXPECT_EQ(v6.unmapped(), v6);
  EXPECT_NE(*IpAddress::parse("1.2.3.4"), *IpAddress::parse("102:304::"));
}

TEST(IpAddress, KnowsLoopback) {
  for (const char* local : {"127.0.0.1", "127.9.9.9", "::1"})
    EXPECT_TRUE(IpAddress::parse(local)->is_loopback()) << local;
  for (const char* other : {"128.0.0.1", "::2", "1::1", "::ffff:127.0.0.1"})
    EXPECT_FALSE(IpAddress::parse(other)->is_loopback()) << other;
}

bool contains(std::string_view network, std::string_view address) {
  return IpNetwork::parse(network)->contains(*IpAddress::parse(address));
}

TEST(IpNetwork, ContainsWhatAgreesInItsBits) {
  EXPECT_TRUE(contains("10.0.0.0/8", "10.255.0.1"));
  EXPECT_FALSE(contains("10.0.0.0/8", "11.0.0.0"));
  EXPECT_TRUE(contains("192.168.0.64/26", "192.168.0.127"));
  EXPECT_FALSE(contains("192.168.0.64/26", "192.168.0.128"));
  EXPECT_TRUE(contains("192.0.2.1", "192.0.2.1"));
  EXPECT_FALSE(contains("192.0.2.1", "192.0.2.0"));
  EXPECT_TRUE(contains("fd00::/8", "fdff::1"));
  EXPECT_FALSE(contains("fd00::/8", "fe00::1"));
  EXPECT_TRUE(contains("2001:db8::/33", "2001:db8:7fff::"));
  EXPECT_FALSE(contains("2001:db8::/33", "2001:db8:8000::"));
  EXPECT_TRUE(contains("0.0.0.0/0", "203.0.113.9"));
  EXPECT_FALSE(contains("0.0.0.0/0", "::1"));
  EXPECT_FALSE(contains("::/0", "127.0.0.1"));
}

TEST(IpNetwork, RefusesOtherTexts) {
  for (const char* bad : {"", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8x",
                          "fd00::/129", "localhost", "10.0.0.0/8/8", "10.0.0.0/ 8"})
    EXPECT_FALSE(IpNetwork::parse(bad)) << bad;
}

TEST(ClientNetwork, FoldsIpv6ToItsNetworkAndKeepsIpv4) {
  EXPECT_EQ(client_network(std::string("192.0.2.1")), "192.0.2.1");
  EXPECT_EQ(client_network(std::string("::ffff:192.0.2.1")), "192.0.2.1");
  EXPECT_EQ(client_network(std::string("2001:db8:1:2:3:4:5:6")), "2001:db8:1:2::");
  EXPECT_EQ(client_network(std::string("2001:db8:1:2:ffff::")), "2001:db8:1:2::");
  EXPECT_NE(client_network(std::string("2001:db8:1:3::1")), "2001:db8:1:2::");
  EXPECT_EQ(client_network(std::string("nobody")), "nobody");
}

}  // namespace
}  // namespace hyperflock
