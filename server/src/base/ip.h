// Reads IP addresses and networks from text, compares them, and finds the network of one client.
// Pure; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hyperflock {

class IpAddress {
 public:
  using V4Bytes = std::array<std::uint8_t, 4>;
  using V6Bytes = std::array<std::uint8_t, 16>;

  IpAddress() = default;  // 0.0.0.0
  explicit IpAddress(const V4Bytes& bytes);
  explicit IpAddress(const V6Bytes& bytes) : bytes_(bytes), bits_(128) {}

  // Reads `192.0.2.1` or `2001:db8::1`, without port, brackets or zone.
  static std::optional<IpAddress> parse(std::string_view text);

  bool is_v4() const { return bits_ == 32; }
  unsigned bits() const { return bits_; }
  std::span<const std::uint8_t> bytes() const { return {bytes_.data(), bits_ / 8}; }
  bool is_loopback() const;
  // Returns the IPv4 address of an IPv4-mapped one (::ffff:192.0.2.1), and any other as it is. A
  // socket that listens on [::] sees peers with IPv4 in this form.
  IpAddress unmapped() const;
  std::string text() const;

  bool operator==(const IpAddress&) const = default;

 private:
  V6Bytes bytes_{};  // of IPv4: the first four; the others are 0
  unsigned bits_ = 32;
};

// A network such as 10.0.0.0/8. An address alone is a network of one address.
class IpNetwork {
 public:
  // Bits of the address behind the network's prefix are ignored.
  static std::optional<IpNetwork> parse(std::string_view text);

  // Networks of IPv4 contain no IPv6 addresses, and the other way round.
  bool contains(const IpAddress& address) const;
  unsigned bits() const { return bits_; }

 private:
  IpNetwork(const IpAddress& address, unsigned bits) : address_(address), bits_(bits) {}

  IpAddress address_;
  unsigned bits_ = 0;
};

// Returns whether two addresses of the same length agree in their first bits.
bool agree(std::span<const std::uint8_t> one, std::span<const std::uint8_t> other, unsigned bits);

// Returns the name under which limits count a client: its IPv4 address, or its /64 network of IPv6,
// because whoever has one address of such a network has all of them.
std::string client_network(const IpAddress& address);
// Returns the client_network() of an address given as text. Returns a text that is no address
// unchanged.
std::string client_network(const std::string& address);

}  // namespace hyperflock
