// Structured logs on stderr, one event a line. If that is systemd's journal, the line's priority
// comes first, so that `journalctl -p warning` works. A line that a request causes ends with the
// field `request` (telemetry/request_context.h). Never log a token, a secret or an enrolment code.
// server/docs/log.md lists every event with its fields, and a test compares it with the code. So
// the name of an event is a literal where log() is called. Any thread.
//   log(LogLevel::info, "listening", {{"port", 8780}});
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace hyperflock::telemetry {

enum class LogLevel { debug, info, warning, error, off };

// The form of a line. json: one JSON object. text: for people, `TIME LEVEL EVENT KEY=VALUE ...`.
// automatic: text on a terminal, JSON anywhere else.
enum class LogFormat { automatic, json, text };

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

// Appends text of unknown origin as a quoted JSON string. Beyond what JSON requires, it escapes
// what a terminal or an editor may obey: DEL, the control characters of C1, the separators of lines
// and paragraphs, and characters that change the direction of writing.
void append_log_text(std::string& out, std::string_view text);

// Starts logging. Call it once, before the first thread starts. Without it nothing is logged.
void start_logging(LogLevel level, LogFormat format = LogFormat::json);

// Returns whether lines of this level are written. Ask it before fields are made for a line that is
// rarely written.
bool logs(LogLevel level);

void log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

}  // namespace hyperflock::telemetry
