// See json_writer.h.
#include "protocol/json/json_writer.h"

#include <array>
#include <charconv>
#include <cmath>

namespace hyperflock::protocol {
namespace {

template <typename Integer>
void append_any_integer(std::string& out, Integer value) {
  std::array<char, 24> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  out.append(buffer.data(), end);
}

}  // namespace

void append_integer(std::string& out, std::int64_t value) { append_any_integer(out, value); }
void append_unsigned(std::string& out, std::uint64_t value) { append_any_integer(out, value); }

void append_float(std::string& out, double value) {
  // std::to_chars writes the fewest digits as "-d.ddde-XX". Like Python's repr, append_float keeps
  // the exponent only below 1e-4 and from 1e16 on.
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::scientific)
                       .ptr;
  std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  const std::size_t e = text.find('e');
  if (e == std::string_view::npos) {  // not finite; the readers refuse such numbers
    out += "null";
    return;
  }
  int exponent = 0;
  const char* exponent_text = text.data() + e + 1;
  if (*exponent_text == '+') ++exponent_text;
  std::from_chars(exponent_text, text.data() + text.size(), exponent);
  if (exponent < -4 || exponent >= 16) {
    out += text;
    return;
  }
  if (text.front() == '-') {
    out += '-';
    text.remove_prefix(1);
  }
  std::array<char, 24> digits;
  std::size_t count = 0;
  for (const char c : text.substr(0, text.find('e'))) {
    if (c != '.') digits[count++] = c;
  }
  if (exponent < 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-exponent - 1), '0');
    out.append(digits.data(), count);
    return;
  }
  const auto whole = static_cast<std::size_t>(exponent) + 1;  // digits before the point
  if (count <= whole) {
    out.append(digits.data(), count);
    out.append(whole - count, '0');
    out += ".0";
    return;
  }
  out.append(digits.data(), whole);
  out += '.';
  out.append(digits.data() + whole, count - whole);
}

void append_logged(std::string& out, std::optional<double> value) {
  if (!value) {
    out += "null";
  } else if (std::isfinite(*value)) {
    append_float(out, *value);
  } else {
    append_string(out, std::isnan(*value) ? kNan : *value > 0 ? kInfinity : kMinusInfinity);
  }
}

void append_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t clean = 0;  // start of the text that needs no escape
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out.append(text, clean, i - clean);
    clean = i + 1;
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default: {
        constexpr std::string_view kHex = "0123456789abcdef";
        out += "\\u00";
        out += kHex[c >> 4];
        out += kHex[c & 15];
      }
    }
  }
  out.append(text, clean, text.size() - clean);
  out += '"';
}

}  // namespace hyperflock::protocol
