// Appends JSON text to a string. All messages are written with these functions. Strings must be
// valid UTF-8; the reader has checked those of peers. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hyperflock::protocol {

// Appends a finite double as Python's repr writes it: the shortest text that reads back as the same
// double. It always has a point or an exponent, so that it stays a float.
void append_float(std::string& out, double value);
void append_integer(std::string& out, std::int64_t value);
// The names of doubles that are not finite, which JSON lacks. Only series contain them (R59).
inline constexpr std::string_view kNan = "NaN";
inline constexpr std::string_view kInfinity = "Infinity";
inline constexpr std::string_view kMinusInfinity = "-Infinity";
// Appends a double, or its name if it is not finite; null for nullopt.
void append_logged(std::string& out, std::optional<double> value);
void append_unsigned(std::string& out, std::uint64_t value);
// Appends a quoted string. Only what JSON requires is escaped.
void append_string(std::string& out, std::string_view text);

// Writes an object with its commas. Keys are literals that need no escape.
class ObjectWriter {
 public:
  explicit ObjectWriter(std::string& out) : out_(out) { out_ += '{'; }

  ObjectWriter& text(std::string_view key, std::string_view value) {
    append_string(begin(key), value);
    return *this;
  }
  ObjectWriter& integer(std::string_view key, std::int64_t value) {
    append_integer(begin(key), value);
    return *this;
  }
  ObjectWriter& number(std::string_view key, double value) {
    append_float(begin(key), value);
    return *this;
  }
  ObjectWriter& boolean(std::string_view key, bool value) {
    begin(key) += value ? "true" : "false";
    return *this;
  }
  // `json` is a value as JSON text.
  ObjectWriter& raw(std::string_view key, std::string_view json) {
    begin(key) += json;
    return *this;
  }
  // Starts a field. The caller appends its value.
  std::string& begin(std::string_view key) {
    if (!first_) out_ += ',';
    first_ = false;
    out_ += '"';
    out_ += key;
    out_ += "\":";
    return out_;
  }
  void end() { out_ += '}'; }

 private:
  std::string& out_;
  bool first_ = true;
};

// Appends `[a,b,...]`. `each` appends an element.
template <typename Range, typename Each>
void append_list(std::string& out, const Range& range, Each each) {
  out += '[';
  bool first = true;
  for (const auto& element : range) {
    if (!first) out += ',';
    first = false;
    each(element);
  }
  out += ']';
}

}  // namespace hyperflock::protocol
