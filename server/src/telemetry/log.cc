#include "telemetry/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include "protocol/json/json_writer.h"
#include "telemetry/request_context.h"
#include "telemetry/utf8.h"

namespace hyperflock::telemetry {
namespace {

struct Output {
  std::shared_ptr<spdlog::logger> logger;  // null: nothing is logged
  bool is_text = false;
};

Output& output() {
  static Output instance;
  return instance;
}

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      break;
  }
  return spdlog::level::off;
}

// Writes the level of a log line in the form that systemd's journal reads: <3> is an error, <7> is
// for debugging.
class Priority final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& line, const std::tm&,
              spdlog::memory_buf_t& text) override {
    char priority = '6';
    if (line.level == spdlog::level::debug) priority = '7';
    if (line.level == spdlog::level::warn) priority = '4';
    if (line.level == spdlog::level::err) priority = '3';
    for (const char one : {'<', priority, '>'}) text.push_back(one);
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<Priority>();
  }
};

// Returns the code point of the two or three bytes at the front of valid UTF-8 if a reader of the
// log may obey it, otherwise 0.
unsigned obeyed(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) == 0x7f) return 0x7f;
  if (byte(0) == 0xc2 && byte(1) < 0xa0) return byte(1);
  if (byte(0) == 0xd8 && byte(1) == 0x9c) return 0x61c;
  if (byte(0) != 0xe2) return 0;
  const unsigned point = 0x2000U | (byte(1) & 0x3fU) << 6 | (byte(2) & 0x3fU);
  const bool obeys = point == 0x200e || point == 0x200f || (point >= 0x2028 && point <= 0x202e) ||
                     (point >= 0x2066 && point <= 0x2069);
  return obeys ? point : 0;
}

// Returns a JSON value as a line for people shows it: a text without its quotes, if it then still
// ends where a reader thinks.
std::string_view without_quotes(std::string_view json) {
  const std::string_view inner = json.substr(1, json.size() < 2 ? 0 : json.size() - 2);
  const auto is_plain = [](char c) {
    return c > ' ' && c <= '~' && c != '"' && c != '\\' && c != '=';
  };
  return json.starts_with('"') && !inner.empty() && std::ranges::all_of(inner, is_plain) ? inner
                                                                                         : json;
}

// Returns whether standard error is a stream of systemd's journal. The journal gives the device and
// inode numbers of its stream in JOURNAL_STREAM.
bool logs_to_journal() {
  const char* named = std::getenv("JOURNAL_STREAM");
  struct stat stream{};
  if (named == nullptr || ::fstat(STDERR_FILENO, &stream) != 0) return false;
  return named == std::to_string(stream.st_dev) + ":" + std::to_string(stream.st_ino);
}

}  // namespace

void append_log_text(std::string& out, std::string_view text) {
  const std::size_t start = out.size();
  protocol::append_string(out, valid_utf8(text));
  for (std::size_t at = start; at < out.size(); ++at) {
    const auto byte = static_cast<unsigned char>(out[at]);
    if (byte < 0x7f) continue;
    const unsigned point = obeyed(std::string_view(out).substr(at));
    if (point == 0) continue;
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string escaped = "\\u";
    for (const int shift : {12, 8, 4, 0}) escaped += kDigits[point >> shift & 15];
    out.replace(at, point < 0x80 ? 1 : point < 0x800 ? 2 : 3, escaped);
    at += escaped.size() - 1;
  }
}

LogField::LogField(std::string_view name, std::string_view text) : key(name) {
  append_log_text(json, text);
}

LogField::LogField(std::string_view name, double number) : key(name) {
  protocol::append_float(json, number);
}

void start_logging(LogLevel level, LogFormat format) {
  const bool is_text =
      format == LogFormat::text || (format == LogFormat::automatic && ::isatty(STDERR_FILENO) != 0);
  auto made =
      std::make_shared<spdlog::logger>("server", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  made->set_level(to_spdlog(level));
  const std::string pattern = is_text ? "%Y-%m-%d %H:%M:%S.%e %-7l %v"
                                      : R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l",%v})";
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<Priority>('*').set_pattern((logs_to_journal() ? "%*" : "") + pattern);
  made->set_formatter(std::move(formatter));
  made->flush_on(spdlog::level::info);
  output() = {std::move(made), is_text};
}

bool logs(LogLevel level) {
  const auto& sink = output().logger;
  return sink && sink->should_log(to_spdlog(level));
}

void log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  if (!logs(level)) return;
  const bool is_text = output().is_text;
  std::string line;
  const auto add = [&line, is_text](std::string_view key, std::string_view json) {
    if (is_text) {
      line += line.empty() ? "" : " ";
      line += key;
      line += key.empty() ? "" : "=";
      line += without_quotes(json);
      return;
    }
    line += line.empty() ? "\"" : ",\"";
    line += key;
    line += "\":";
    line += json;
  };
  const LogField name("event", event);
  add(is_text ? std::string_view() : name.key, name.json);
  for (const LogField& field : fields) add(field.key, field.json);
  if (const RequestContext& request = current_request()) {
    const LogField id("request", request.id());
    add(id.key, id.json);
  }
  output().logger->log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace hyperflock::telemetry
