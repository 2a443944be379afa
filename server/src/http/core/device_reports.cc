#include "http/core/device_reports.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "http/core/router.h"
#include "protocol/json/json_writer.h"

namespace hyperflock::http {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".json";

std::optional<std::int64_t> number_of(const fs::path& path) {
  if (path.extension() != kEnding) return std::nullopt;
  const auto number = parse_integer(path.stem().string(), kMaxWireInteger);
  return number == 0 ? std::nullopt : number;
}

std::string to_json(std::int64_t number, const DeviceReport& report, std::string_view project,
                    std::int64_t now) {
  std::string out;
  protocol::ObjectWriter body(out);
  body.integer("report", number)
      .integer("received_at", now)
      .text("project", project)
      .text("class", report.device_class)
      .text("engine", report.engine);
  protocol::append_list(body.begin("checks"), report.checks, [&out](const DeviceCheck& check) {
    protocol::ObjectWriter(out)
        .text("name", check.name)
        .text("state", check.state)
        .text("detail", check.detail)
        .end();
  });
  body.end();
  return out;
}

}  // namespace

Result<std::unique_ptr<DeviceReports>> DeviceReports::open(const fs::path& folder,
                                                           std::size_t kept) {
  std::error_code error;
  fs::create_directories(folder, error);
  std::unique_ptr<DeviceReports> reports(new DeviceReports(folder, kept));
  if (!error) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
      if (const auto number = number_of(entry.path())) reports->numbers_.push_back(*number);
    }
  }
  if (error) {
    return Error{"storage_open", "Cannot use " + folder.string() + " (" + error.message() +
                                     "): check that it is a writable folder."};
  }
  std::ranges::sort(reports->numbers_);
  return reports;
}

fs::path DeviceReports::path_of(std::int64_t number) const {
  return folder_ / (std::to_string(number) + std::string(kEnding));
}

Result<std::int64_t> DeviceReports::add(const DeviceReport& report, std::string_view project,
                                        std::int64_t now) {
  const std::lock_guard lock(mutex_);
  const std::int64_t number = numbers_.empty() ? 1 : numbers_.back() + 1;
  const fs::path path = path_of(number);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << to_json(number, report, project, now);
  file.close();
  std::error_code error;
  if (!file) {
    fs::remove(path, error);
    return Error{"storage_unavailable",
                 "The server cannot write the report now; try again in a few minutes."};
  }
  numbers_.push_back(number);
  while (numbers_.size() > kept_) {
    fs::remove(path_of(numbers_.front()), error);
    numbers_.pop_front();
  }
  return number;
}

std::vector<DeviceReports::Stored> DeviceReports::newest(std::int64_t before,
                                                         std::size_t count) const {
  const std::lock_guard lock(mutex_);
  std::vector<Stored> texts;
  for (auto number = numbers_.rbegin(); number != numbers_.rend() && texts.size() < count;
       ++number) {
    if (before != 0 && *number >= before) continue;
    std::ifstream file(path_of(*number), std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(file), {});
    // A file may be incomplete after a crash, and is then left out.
    if (text.ends_with('}')) texts.push_back({*number, std::move(text)});
  }
  return texts;
}

}  // namespace hyperflock::http
