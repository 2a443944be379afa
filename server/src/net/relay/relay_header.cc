// See relay_header.h.
#include "net/relay/relay_header.h"

#include <cstdint>
#include <optional>

#include "net/proxy/proxy_header.h"

namespace hyperflock::net {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kBegin = "\r\n\r\n\0\r\nQUIT\n\x21"sv;  // version 2, PROXY
constexpr std::size_t kFixedBytes = 16;
constexpr std::size_t kFamilyAt = 13;
constexpr char kTcp4 = 0x11;
constexpr char kTcp6 = 0x21;
constexpr std::size_t kTcp4Bytes = 12;
constexpr std::size_t kTcp6Bytes = 36;
constexpr char kSslExtension = 0x20;
constexpr char kOwnExtension = '\xE0';
constexpr unsigned kConsole = 1;
constexpr unsigned kNamed = 2;

void append_length(std::string& to, std::size_t bytes) {
  to.push_back(static_cast<char>(bytes >> 8));
  to.push_back(static_cast<char>(bytes & 0xFF));
}

void append_extension(std::string& to, char type, std::string_view value) {
  to.push_back(type);
  append_length(to, value.size());
  to += value;
}

std::size_t address_bytes(char family) { return family == kTcp4 ? kTcp4Bytes : kTcp6Bytes; }

// Returns the flags of the own extension. REQUIRES: the lengths are right.
std::optional<unsigned> flags_of(std::string_view extensions) {
  constexpr std::size_t kHead = 3;
  while (extensions.size() >= kHead) {
    const std::size_t bytes = std::size_t{static_cast<std::uint8_t>(extensions[1])} << 8 |
                              static_cast<std::uint8_t>(extensions[2]);
    if (extensions[0] == kOwnExtension && bytes == 1)
      return static_cast<std::uint8_t>(extensions[kHead]);
    extensions.remove_prefix(kHead + bytes);
  }
  return std::nullopt;
}

}  // namespace

std::string write_relay_header(const RelayedClient& client) {
  const char family = client.client.address.is_v4() ? kTcp4 : kTcp6;
  std::string body;
  for (const std::uint8_t byte : client.client.address.bytes())
    body.push_back(static_cast<char>(byte));
  body.resize(address_bytes(family), '\0');  // the other address and the ports say nothing
  const char uses_tls = client.client.secure ? 1 : 0;
  append_extension(body, kSslExtension, std::string{uses_tls, 0, 0, 0, 0});
  const unsigned flags =
      (client.door == Door::console ? kConsole : 0U) | (client.named ? kNamed : 0U);
  append_extension(body, kOwnExtension, std::string(1, static_cast<char>(flags)));
  std::string header(kBegin);
  header.push_back(family);
  append_length(header, body.size());
  return header + body;
}

RelayRead read_relay_header(std::string_view bytes) {
  using State = RelayRead::State;
  const ProxyRead read = read_proxy_header(bytes);
  if (read.state == ProxyRead::State::more) return {.state = State::more, .missing = read.missing};
  if (read.state != ProxyRead::State::complete || !read.header.client || read.bytes != bytes.size())
    return {.state = State::bad};
  const auto flags = flags_of(bytes.substr(kFixedBytes + address_bytes(bytes[kFamilyAt])));
  if (!flags) return {.state = State::bad};
  return {.state = State::complete,
          .client = {.client = {*read.header.client, read.header.secure},
                     .named = (*flags & kNamed) != 0,
                     .door = (*flags & kConsole) != 0 ? Door::console : Door::compute}};
}

}  // namespace hyperflock::net
