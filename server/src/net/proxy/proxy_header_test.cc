// Tests the parser of PROXY headers: both commands (PROXY and LOCAL), IPv4 and IPv6, extensions,
// and every way in which a header can be invalid.
#include "net/proxy/proxy_header.h"

#include <gtest/gtest.h>

#include <string>

namespace hyperflock::net {
namespace {

using namespace std::string_literals;
using State = ProxyRead::State;

const std::string kSignature = "\r\n\r\n\0\r\nQUIT\n"s;

std::string header(char command, char family, const std::string& body) {
  return kSignature + command + family + static_cast<char>(body.size() >> 8) +
         static_cast<char>(body.size() & 0xff) + body;
}

const std::string kV4 = "\xc0\x00\x02\x09\x7f\x00\x00\x01\x30\x39\x00\x50"s;
const std::string kV6 = "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x07"s + std::string(20, '\1');

std::string extension(char type, const std::string& value) {
  return type + std::string(1, static_cast<char>(value.size() >> 8)) +
         static_cast<char>(value.size() & 0xff) + value;
}

std::string client_text(const ProxyRead& read) {
  return read.header.client ? read.header.client->text() : "the proxy";
}

TEST(ProxyHeader, NamesAClientOfEitherFamily) {
  for (const auto& [bytes, client] : {std::pair{header('\x21', '\x11', kV4), "192.0.2.9"},
                                      std::pair{header('\x21', '\x21', kV6), "2001:db8::7"}}) {
    const ProxyRead read = read_proxy_header(bytes + "GET / HTTP/1.1\r\n");
    EXPECT_EQ(read.state, State::complete) << read.fault;
    EXPECT_EQ(read.bytes, bytes.size());
    EXPECT_EQ(client_text(read), client);
    EXPECT_FALSE(read.header.secure);
  }
  const std::string mapped =
      std::string(10, '\0') + "\xff\xff\xc0\x00\x02\x09"s + std::string(20, 1);
  EXPECT_EQ(client_text(read_proxy_header(header('\x21', '\x21', mapped))), "192.0.2.9");
}

TEST(ProxyHeader, TheProxyItselfMayConnect) {
  for (const std::string& body : {""s, kV4, "anything"s}) {
    const ProxyRead read = read_proxy_header(header('\x20', '\0', body));
    EXPECT_EQ(read.state, State::complete);
    EXPECT_EQ(client_text(read), "the proxy");
  }
}

TEST(ProxyHeader, AsksForExactlyWhatIsMissing) {
  const std::string whole = header('\x21', '\x11', kV4 + extension('\x04', "\0\0"s));
  std::size_t taken = 0;
  for (int step = 0;; ++step) {
    ASSERT_LT(step, 5);
    const ProxyRead read = read_proxy_header(whole.substr(0, taken));
    if (read.state == State::complete) break;
    ASSERT_EQ(read.state, State::more);
    ASSERT_GT(read.missing, 0U);
    taken += read.missing;
    ASSERT_LE(taken, whole.size());
  }
  EXPECT_EQ(taken, whole.size());
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_EQ(read_proxy_header(whole.substr(0, bytes)).state, State::more) << bytes;
}

TEST(ProxyHeader, OtherProtocolsAreLeftAlone) {
  for (const char* other :
       {"G", "GET / HTTP/1.1\r\n", "\x16\x03\x01", "PUT", "PRO/", "\r\nGET", "\r\n\r\nQUIT\n"})
    EXPECT_EQ(read_proxy_header(other).state, State::absent) << other;
  const ProxyRead beginning = read_proxy_header("P");
  EXPECT_EQ(beginning.state, State::more);
  EXPECT_EQ(beginning.missing, 5U);
}

TEST(ProxyHeader, SaysWhetherTheClientUsesTls) {
  const auto secure = [](const std::string& flags) {
    const auto read = read_proxy_header(
        header('\x21', '\x11', kV4 + extension('\x05', "id") + extension('\x20', flags)));
    EXPECT_EQ(read.state, State::complete);
    return read.header.secure;
  };
  EXPECT_TRUE(secure("\x01\0\0\0\0"s));
  EXPECT_TRUE(secure("\x07\0\0\0\0"s));
  EXPECT_FALSE(secure("\x06\0\0\0\0"s));
  EXPECT_FALSE(secure(""));
}

TEST(ProxyHeader, EveryWrongHeaderIsRefused) {
  const std::string tcp(kV4);
  for (const std::string& wrong : {
           header('\x11', '\x11', tcp),  // version 1 in the binary form
           header('\x31', '\x11', tcp),  // version 3
           header('\x22', '\x11', tcp),  // no such command
           header('\x21', '\x00', tcp),  // family unspecified
           header('\x21', '\x12', tcp),  // UDP
           header('\x21', '\x31', tcp),  // a socket of Unix
           header('\x21', '\x11', tcp.substr(1)),
           header('\x21', '\x21', tcp),
           header('\x21', '\x11', tcp + "\x20"),
           header('\x21', '\x11', tcp + "\x20\0\2x"s),
           header('\x21', '\x11', std::string(kMaxProxyHeader, '\0')),
           "PROXY TCP4 192.0.2.9 127.0.0.1 12345 80\r\n"s,
       }) {
    const ProxyRead read = read_proxy_header(wrong);
    EXPECT_EQ(read.state, State::bad) << wrong;
    EXPECT_STRNE(read.fault, "");
  }
  // The length alone is enough.
  EXPECT_EQ(read_proxy_header(kSignature + "\x21\x11\xff\xff").state, State::bad);
}

}  // namespace
}  // namespace hyperflock::net
