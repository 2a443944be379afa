// Structured logs: one JSON object a line on stderr. If that is systemd's journal, the line's
// priority comes first, so that `journalctl -p warning` works. Never log a token, a secret or an
// enrolment code. Any thread.
//   log(LogLevel::info, "listening", {{"port", 8780}});
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace hyperflock::telemetry {

enum class LogLevel { debug, info, warning, error, off };

struct LogField {
  std::string_view key;
  std::string json;  // the value as JSON text

  LogField(std::string_view name, std::string_view text);
  LogField(std::string_view name, const char* text) : LogField(name, std::string_view(text)) {}
  LogField(std::string_view name, const std::string& text)
      : LogField(name, std::string_view(text)) {}
  LogField(std::string_view name, double number);
  LogField(std::string_view name, bool value) : key(name), json(value ? "true" : "false") {}
  template <std::integral Number>
  LogField(std::string_view name, Number number) : key(name), json(std::to_string(number)) {}
};

// Starts logging. Call it once, before the first thread starts. Without it nothing is logged.
void start_logging(LogLevel level);

void log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

}  // namespace hyperflock::telemetry
