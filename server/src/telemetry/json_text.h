// JSON strings from text of unknown origin (log lines, error messages). What the protocol's readers
// have checked is written by protocol/json_writer.h instead. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace hyperflock::telemetry {

// Appends `text` as a quoted JSON string. Bytes that are not valid UTF-8 become U+FFFD, so the line
// always parses.
void append_json_string(std::string& out, std::string_view text);

bool is_utf8(std::string_view text);

inline std::string json_string(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  append_json_string(out, text);
  return out;
}

}  // namespace hyperflock::telemetry
