#include "net/relay/relay_header.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hyperflock::net {
namespace {

using State = RelayRead::State;

RelayedClient client(const char* address, bool secure, bool named, Door door) {
  return {.client = {*IpAddress::parse(address), secure}, .named = named, .door = door};
}

// Reads as a link does: no byte more than is asked for.
RelayRead read_in_pieces(const std::string& bytes) {
  std::size_t taken = 0;
  RelayRead read = read_relay_header({});
  while (read.state == State::more && taken < bytes.size()) {
    taken = std::min(bytes.size(), taken + read.missing);
    read = read_relay_header(std::string_view(bytes).substr(0, taken));
  }
  return read;
}

TEST(RelayHeader, IsReadAsItWasWritten) {
  for (const char* address : {"192.0.2.7", "2001:db8::7"}) {
    for (const bool secure : {false, true}) {
      for (const bool named : {false, true}) {
        for (const Door door : {Door::compute, Door::console}) {
          const RelayedClient wanted = client(address, secure, named, door);
          // What follows the header is the client's.
          const RelayRead read = read_in_pieces(write_relay_header(wanted) + "GET / HTTP/1.1");
          ASSERT_EQ(read.state, State::complete);
          EXPECT_EQ(read.client, wanted);
        }
      }
    }
  }
}

TEST(RelayHeader, ThatOfAnotherProxyIsRefused) {
  using namespace std::string_literals;
  const std::string begin = "\r\n\r\n\0\r\nQUIT\n"s;
  const std::string addresses = std::string("\xC0\x00\x02\x07", 4) + std::string(8, '\0');
  const std::vector<std::string> wrong{
      begin + "\x21\x11\x00\x0C"s + addresses,                        // names no door
      begin + "\x20\x00\x00\x00"s,                                    // names no client
      begin + "\x21\x11\x00\x10"s + addresses + "\xE0\x00\x02\x00"s,  // a length that is too long
      begin + "\x21\x11\xFF\xFF"s,                                    // too long
      "GET / HTTP/1.1\r\n\r\n"s,
      "PROXY TCP4 192.0.2.7 192.0.2.8 1 2\r\n"s,
  };
  for (const std::string& bytes : wrong) EXPECT_EQ(read_in_pieces(bytes).state, State::bad);
}

TEST(RelayHeader, AStartOfItNeedsMore) {
  const std::string whole = write_relay_header(client("192.0.2.7", true, false, Door::console));
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const RelayRead read = read_relay_header(std::string_view(whole).substr(0, bytes));
    EXPECT_EQ(read.state, State::more);
    EXPECT_LE(bytes + read.missing, whole.size());
  }
}

}  // namespace
}  // namespace hyperflock::net
