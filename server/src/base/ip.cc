#include "base/ip.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace hyperflock {
namespace {

constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr unsigned kClientBits = 64;

}  // namespace

IpAddress::IpAddress(const V4Bytes& bytes) { std::ranges::copy(bytes, bytes_.begin()); }

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  if (text.empty() || text.size() >= INET6_ADDRSTRLEN || text.contains('\0')) return std::nullopt;
  std::array<char, INET6_ADDRSTRLEN> terminated{};
  std::ranges::copy(text, terminated.begin());
  V4Bytes v4{};
  if (inet_pton(AF_INET, terminated.data(), v4.data()) == 1) return IpAddress(v4);
  V6Bytes v6{};
  if (inet_pton(AF_INET6, terminated.data(), v6.data()) == 1) return IpAddress(v6);
  return std::nullopt;
}

bool IpAddress::is_loopback() const {
  if (is_v4()) return bytes_[0] == 127;
  constexpr V6Bytes kLoopback{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  return bytes_ == kLoopback;
}

IpAddress IpAddress::unmapped() const {
  if (is_v4() || !std::ranges::equal(std::span(bytes_).first(kMapped.size()), kMapped))
    return *this;
  return IpAddress(V4Bytes{bytes_[12], bytes_[13], bytes_[14], bytes_[15]});
}

std::string IpAddress::text() const {
  std::array<char, INET6_ADDRSTRLEN> out{};
  inet_ntop(is_v4() ? AF_INET : AF_INET6, bytes_.data(), out.data(), out.size());
  return out.data();
}

std::optional<IpNetwork> IpNetwork::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto address = IpAddress::parse(text.substr(0, slash));
  if (!address) return std::nullopt;
  if (slash == std::string_view::npos) return IpNetwork(*address, address->bits());
  unsigned bits = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + slash + 1, end, bits);
  if (error != std::errc() || stop != end || bits > address->bits()) return std::nullopt;
  return IpNetwork(*address, bits);
}

bool IpNetwork::contains(const IpAddress& address) const {
  return address.is_v4() == address_.is_v4() && agree(address.bytes(), address_.bytes(), bits_);
}

bool agree(std::span<const std::uint8_t> one, std::span<const std::uint8_t> other, unsigned bits) {
  const std::size_t whole = bits / 8;
  if (!std::ranges::equal(one.first(whole), other.first(whole))) return false;
  const unsigned rest = bits % 8;
  return rest == 0 || ((one[whole] ^ other[whole]) >> (8 - rest)) == 0;
}

std::string client_network(const IpAddress& address) {
  const IpAddress own = address.unmapped();
  if (own.is_v4()) return own.text();
  IpAddress::V6Bytes bytes{};
  std::ranges::copy(own.bytes().first(kClientBits / 8), bytes.begin());
  return IpAddress(bytes).text();
}

std::string client_network(const std::string& address) {
  const auto parsed = IpAddress::parse(address);
  return parsed ? client_network(*parsed) : address;
}

}  // namespace hyperflock
