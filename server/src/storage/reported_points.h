// What is known about whether the trials of a study report points (R74). The dispatcher counts
// results as they are accepted. After a start, storage counts the newest ones. Pure; any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hyperflock::storage {

// After this many complete results with points, of so many devices, a result without points is odd.
inline constexpr std::int64_t kResultsWithPoints = 20;
inline constexpr std::size_t kDevicesWithPoints = 3;
// The number of newest trials that storage looks at after a start.
inline constexpr std::int64_t kNewestTrials = 100;

// The code of the failure of an attempt that has reported no point, although all others have (R74).
inline constexpr const char* kNoPoints = "no_points";

struct ReportedPoints {
  std::int64_t results = 0;            // accepted complete results with points
  std::vector<std::string> devices{};  // of these results; at most kDevicesWithPoints
  // Whether two devices have agreed that a trial reports no points. A result without points is not
  // odd any more then.
  bool are_optional = false;

  // Counts an accepted complete result with points.
  void add(const std::string& device) {
    ++results;
    const bool is_known = std::ranges::find(devices, device) != devices.end();
    if (!is_known && devices.size() < kDevicesWithPoints) devices.push_back(device);
  }
  bool operator==(const ReportedPoints&) const = default;
};

}  // namespace hyperflock::storage
