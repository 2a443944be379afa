// Fuzzes read_relay_header(), which reads the first bytes of a link between two servers. It must
// never ask for bytes beyond the header, and what it has read must survive being written and read
// again. The same input as an address tests the writer.
#include <cstdint>
#include <string>
#include <string_view>

#include "net/proxy/proxy_header.h"
#include "net/relay/relay_header.h"
#include "require.h"

namespace {

using hyperflock::IpAddress;
using hyperflock::fuzz::require;
using hyperflock::net::Door;
using hyperflock::net::read_relay_header;
using hyperflock::net::RelayedClient;
using hyperflock::net::RelayRead;
using State = RelayRead::State;

// Reads as a link does: the first call gets no bytes, and each later call gets the bytes of the
// call before and those that it asked for. Returns the last answer; `taken` is what it was about.
RelayRead read_in_pieces(std::string_view all, std::string_view& taken) {
  taken = {};
  for (;;) {
    const RelayRead read = read_relay_header(taken);
    if (read.state != State::more) return read;
    require(read.missing > 0, "more bytes, but none");
    require(taken.size() + read.missing <= hyperflock::net::kMaxProxyHeader, "too many bytes");
    if (taken.size() + read.missing > all.size()) return read;
    taken = all.substr(0, taken.size() + read.missing);
  }
}

void check_written(const RelayedClient& client) {
  const std::string written = hyperflock::net::write_relay_header(client);
  const std::string more = written + "GET / HTTP/1.1";
  std::string_view taken;
  const RelayRead read = read_in_pieces(more, taken);
  require(read.state == State::complete, "what was written is not read");
  require(taken.size() == written.size(), "another length is read than was written");
  require(read.client == client, "another client is read than was written");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  // Bytes that came at once, perhaps with more behind the header, are judged too.
  const RelayRead whole = read_relay_header(all);
  if (whole.state == State::complete) check_written(whole.client);
  std::string_view taken;
  const RelayRead read = read_in_pieces(all, taken);
  if (read.state == State::complete) {
    check_written(read.client);
    require(whole.state == (taken.size() == size ? State::complete : State::bad),
            "bytes behind the header change nothing");
  }
  if (size == 0) return 0;
  const std::uint8_t flags = data[0];
  std::string text;
  for (const char byte : all.substr(1, 45)) text.push_back(byte);
  if (const auto address = IpAddress::parse(text)) {
    check_written({.client = {*address, (flags & 1) != 0},
                   .named = (flags & 2) != 0,
                   .door = (flags & 4) != 0 ? Door::console : Door::compute});
  }
  return 0;
}
