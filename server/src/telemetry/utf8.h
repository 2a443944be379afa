// Makes text of unknown origin valid UTF-8: log lines, error messages, file names. Only such text
// can be written as JSON (protocol/json/json_writer.h). Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace hyperflock::telemetry {

bool is_utf8(std::string_view text);

// Returns the text with U+FFFD in place of each byte that is not valid UTF-8.
std::string valid_utf8(std::string_view text);

}  // namespace hyperflock::telemetry
