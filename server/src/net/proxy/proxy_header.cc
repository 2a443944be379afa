#include "net/proxy/proxy_header.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace hyperflock::net {
namespace {

using namespace std::string_view_literals;
using State = ProxyRead::State;

constexpr std::string_view kSignature = "\r\n\r\n\0\r\nQUIT\n"sv;
constexpr std::string_view kFirstVersion = "PROXY "sv;
constexpr std::size_t kFixedBytes = 16;

constexpr unsigned kVersion = 2;
constexpr unsigned kLocal = 0;
constexpr unsigned kProxied = 1;
constexpr unsigned kTcp4 = 0x11;
constexpr unsigned kTcp6 = 0x21;
constexpr std::size_t kTcp4Bytes = 12;  // two addresses and two ports
constexpr std::size_t kTcp6Bytes = 36;
constexpr unsigned kSslExtension = 0x20;
constexpr unsigned kClientUsesSsl = 1;

unsigned byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint8_t>(bytes[at]);
}
std::size_t length_at(std::string_view bytes, std::size_t at) {
  return std::size_t{byte_at(bytes, at)} << 8 | byte_at(bytes, at + 1);
}

ProxyRead bad(const char* fault) { return {.state = State::bad, .fault = fault}; }
ProxyRead more(std::size_t missing) { return {.state = State::more, .missing = missing}; }

template <typename Bytes>
IpAddress address_of(std::string_view bytes) {
  Bytes out{};
  std::transform(bytes.begin(), bytes.begin() + out.size(), out.begin(),
                 [](char c) { return static_cast<std::uint8_t>(c); });
  return IpAddress(out).unmapped();
}

// Reads the extensions: a type, a length of two bytes and a value each. Returns whether the client
// uses TLS, or nullopt if the extensions do not fill their space exactly.
std::optional<bool> read_extensions(std::string_view rest) {
  constexpr std::size_t kHead = 3;
  bool secure = false;
  while (!rest.empty()) {
    if (rest.size() < kHead) return std::nullopt;
    const unsigned type = byte_at(rest, 0);
    const std::size_t length = length_at(rest, 1);
    rest.remove_prefix(kHead);
    if (length > rest.size()) return std::nullopt;
    if (type == kSslExtension && length > 0) secure = (byte_at(rest, 0) & kClientUsesSsl) != 0;
    rest.remove_prefix(length);
  }
  return secure;
}

}  // namespace

ProxyRead read_proxy_header(std::string_view bytes) {
  if (bytes.empty()) return more(1);
  const std::size_t known = std::min(bytes.size(), kSignature.size());
  if (bytes.substr(0, known) != kSignature.substr(0, known)) {
    if (bytes.starts_with(kFirstVersion))
      return bad("Version 1 of the PROXY protocol is not supported; let the proxy send version 2.");
    // The bytes may be the beginning of `PROXY` or of an HTTP method such as POST.
    if (kFirstVersion.starts_with(bytes)) return more(kFirstVersion.size() - bytes.size());
    return {};
  }
  if (bytes.size() < kFixedBytes) return more(kFixedBytes - bytes.size());

  const unsigned version = byte_at(bytes, 12) >> 4;
  const unsigned command = byte_at(bytes, 12) & 15;
  const unsigned family = byte_at(bytes, 13);
  const std::size_t length = length_at(bytes, 14);
  if (version != kVersion) return bad("The PROXY header has a version that is not 2.");
  if (command != kLocal && command != kProxied)
    return bad("The PROXY header has a command that is neither LOCAL nor PROXY.");
  if (kFixedBytes + length > kMaxProxyHeader) return bad("The PROXY header is longer than 2 KiB.");
  if (bytes.size() < kFixedBytes + length) return more(kFixedBytes + length - bytes.size());

  ProxyRead read{.state = State::complete, .bytes = kFixedBytes + length};
  const std::string_view body = bytes.substr(kFixedBytes, length);
  if (command == kLocal) return read;  // the protocol says that the rest has no meaning then
  if (family != kTcp4 && family != kTcp6)
    return bad("The PROXY header names a client that does not use TCP over IPv4 or IPv6.");
  const std::size_t addresses = family == kTcp4 ? kTcp4Bytes : kTcp6Bytes;
  if (body.size() < addresses) return bad("The PROXY header ends before its addresses do.");
  const auto secure = read_extensions(body.substr(addresses));
  if (!secure) return bad("The extensions of the PROXY header have wrong lengths.");
  read.header.secure = *secure;
  read.header.client =
      family == kTcp4 ? address_of<IpAddress::V4Bytes>(body) : address_of<IpAddress::V6Bytes>(body);
  return read;
}

}  // namespace hyperflock::net
