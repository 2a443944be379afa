#include "telemetry/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "protocol/json/json_writer.h"
#include "telemetry/utf8.h"

namespace hyperflock::telemetry {
namespace {

std::shared_ptr<spdlog::logger>& logger() {
  static std::shared_ptr<spdlog::logger> instance;
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

// Returns whether standard error is a stream of systemd's journal. The journal gives the device and
// inode numbers of its stream in JOURNAL_STREAM.
bool logs_to_journal() {
  const char* named = std::getenv("JOURNAL_STREAM");
  struct stat stream{};
  if (named == nullptr || ::fstat(STDERR_FILENO, &stream) != 0) return false;
  return named == std::to_string(stream.st_dev) + ":" + std::to_string(stream.st_ino);
}

}  // namespace

LogField::LogField(std::string_view name, std::string_view text) : key(name) {
  protocol::append_string(json, valid_utf8(text));
}

LogField::LogField(std::string_view name, double number) : key(name) {
  protocol::append_float(json, number);
}

void start_logging(LogLevel level) {
  auto made =
      std::make_shared<spdlog::logger>("server", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  made->set_level(to_spdlog(level));
  const std::string pattern = R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l",%v})";
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<Priority>('*').set_pattern((logs_to_journal() ? "%*" : "") + pattern);
  made->set_formatter(std::move(formatter));
  made->flush_on(spdlog::level::info);
  logger() = std::move(made);
}

void log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  const auto& sink = logger();
  if (!sink || !sink->should_log(to_spdlog(level))) return;
  std::string line = R"("event":)";
  protocol::append_string(line, event);
  for (const LogField& field : fields) {
    line += ',';
    protocol::append_string(line, field.key);
    line += ':';
    line += field.json;
  }
  sink->log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace hyperflock::telemetry
