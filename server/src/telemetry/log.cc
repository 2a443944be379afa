#include "telemetry/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

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
  made->set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l",%v})");
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
