// Fuzzes read_proxy_header(), which reads the first bytes of a proxy's connection. The function's
// result must not depend on how the bytes are divided into reads, and it must never ask for bytes
// beyond the header.
#include <cstdint>
#include <string_view>

#include "net/proxy/proxy_header.h"
#include "require.h"

namespace {

using hyperflock::fuzz::require;
using hyperflock::net::ProxyRead;
using State = ProxyRead::State;

void check(std::string_view bytes, const ProxyRead& read) {
  switch (read.state) {
    case State::absent:
      require(!bytes.empty(), "nothing is judged as something else");
      break;
    case State::more:
      require(read.missing > 0, "more bytes, but none");
      require(bytes.size() + read.missing <= hyperflock::net::kMaxProxyHeader, "too many bytes");
      break;
    case State::complete:
      require(read.bytes > 0 && read.bytes <= bytes.size(), "a header outside of the bytes");
      break;
    case State::bad:
      require(*read.fault != '\0', "a fault without a sentence");
      break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const ProxyRead whole = hyperflock::net::read_proxy_header(all);
  check(all, whole);
  // Reads as a connection does: the first call gets no bytes, and each later call gets the bytes
  // of the previous call and those that the previous call asked for.
  std::string_view taken;
  for (;;) {
    const ProxyRead read = hyperflock::net::read_proxy_header(taken);
    check(taken, read);
    if (read.state != State::more) {
      require(read.state == whole.state, "the cut changes the answer");
      require(read.header.client == whole.header.client, "the cut changes the client");
      require(read.state != State::complete || read.bytes == taken.size(), "read too much");
      break;
    }
    if (taken.size() + read.missing > size) {
      require(
          whole.state == State::more || whole.state == State::absent || whole.state == State::bad,
          "more bytes are missing than were needed");
      break;
    }
    taken = all.substr(0, taken.size() + read.missing);
  }
  return 0;
}
