#include "telemetry/request_context.h"

#include <unistd.h>

#include <array>
#include <cstddef>
#include <random>

namespace hyperflock::telemetry {
namespace {

constinit thread_local RequestContext current;

// Random bits of the kernel, many at once, because each call costs a microsecond.
class Randomness {
 public:
  std::uint64_t next() {
    if (used_ == bits_.size()) fill();
    return bits_[used_++];
  }

 private:
  void fill() {
    static_assert(sizeof bits_ <= 256);  // what getentropy() gives at once
    if (::getentropy(bits_.data(), sizeof bits_) != 0) {
      std::random_device device;
      for (std::uint64_t& one : bits_) one = std::uint64_t{device()} << 32 | device();
    }
    used_ = 0;
  }

  std::array<std::uint64_t, 32> bits_{};
  std::size_t used_ = bits_.size();
};

// Reads lower-case hexadecimal digits, as W3C demands.
std::optional<std::uint64_t> parse_hex(std::string_view text) {
  std::uint64_t value = 0;
  for (const char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && (c < 'a' || c > 'f')) return std::nullopt;
    value = value << 4 | static_cast<std::uint64_t>(is_digit ? c - '0' : c - 'a' + 10);
  }
  return value;
}

}  // namespace

std::string hex(std::uint64_t bits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = text.size(); i > 0; bits >>= 4) text[--i] = kDigits[bits & 15];
  return text;
}

std::string RequestContext::id() const { return hex(high) + hex(low); }

std::uint64_t random_bits() {
  thread_local Randomness source;
  std::uint64_t bits = 0;
  while (bits == 0) bits = source.next();
  return bits;
}

RequestContext new_request() {
  return {.high = random_bits(), .low = random_bits(), .span = random_bits()};
}

RequestContext child_of(const RequestContext& request) {
  RequestContext child = request;
  child.span = random_bits();
  return child;
}

// The form is version-traceid-parentid-flags:
// 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
std::optional<RequestContext> parse_traceparent(std::string_view header) {
  constexpr std::size_t kLength = 55;
  if (header.size() < kLength || header[2] != '-' || header[35] != '-' || header[52] != '-')
    return std::nullopt;
  const auto version = parse_hex(header.substr(0, 2));
  const auto high = parse_hex(header.substr(3, 16));
  const auto low = parse_hex(header.substr(19, 16));
  const auto span = parse_hex(header.substr(36, 16));
  const auto flags = parse_hex(header.substr(53, 2));
  if (!version || !high || !low || !span || !flags) return std::nullopt;
  const bool is_longer = header.size() > kLength;
  if (*version == 0xff || (*version == 0 && is_longer) || (is_longer && header[kLength] != '-'))
    return std::nullopt;
  if ((*high | *low) == 0 || *span == 0) return std::nullopt;
  return RequestContext{.high = *high, .low = *low, .span = *span, .sampled = (*flags & 1) != 0};
}

const RequestContext& current_request() { return current; }

RequestScope::RequestScope(const RequestContext& request) : before_(current) { current = request; }

RequestScope::~RequestScope() { current = before_; }

}  // namespace hyperflock::telemetry
