// Keeps the reports of volunteers' self-test pages for the operator. Each report is a small JSON
// file in the state folder. Only the newest are kept, so that nobody can fill the disk with them.
// Any thread; blocks.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hyperflock::http {

// One line of the table on the self-test page.
struct DeviceCheck {
  std::string name;
  std::string state;  // ok, limited, missing, failed or skipped
  std::string detail;
};

// The body of POST /api/device-reports. It identifies no device: all devices of one model send the
// same values.
struct DeviceReport {
  std::string device_class;
  std::string engine;
  std::vector<DeviceCheck> checks;
};

class DeviceReports {
 public:
  static constexpr std::size_t kKept = 200;

  // Errors: `storage_open`.
  static Result<std::unique_ptr<DeviceReports>> open(const std::filesystem::path& folder,
                                                     std::size_t kept = kKept);

  // Stores the report and returns its number. Errors: `storage_unavailable`.
  Result<std::int64_t> add(const DeviceReport& report, std::string_view project, std::int64_t now);

  struct Stored {
    std::int64_t number = 0;
    std::string json;
  };
  // Returns up to `count` reports with numbers below `before` (0: any), the newest first. Skips
  // unreadable files.
  std::vector<Stored> newest(std::int64_t before, std::size_t count) const;

 private:
  DeviceReports(std::filesystem::path folder, std::size_t kept)
      : folder_(std::move(folder)), kept_(kept) {}

  std::filesystem::path path_of(std::int64_t number) const;

  const std::filesystem::path folder_;
  const std::size_t kept_;
  mutable std::mutex mutex_;
  std::deque<std::int64_t> numbers_;  // of the files, in ascending order
};

}  // namespace hyperflock::http
