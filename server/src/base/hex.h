// Bytes as lower-case hexadecimal digits. Pure; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hyperflock {

inline std::string hex(std::span<const unsigned char> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace hyperflock
