// Finds devices that fail one trial of a study after another (R72). Pure.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/instant.h"

namespace hyperflock::dispatch {

// A device that has failed at least this many trials of a study in a row is barred from it.
inline constexpr std::int64_t kLeastRow = 3;
// The longest row that bars no device, however many trials of the study fail.
inline constexpr std::int64_t kLongestRow = 100;
// How rare a row must be: a device on which trials fail as often as on the others has such a row
// at a given trial with at most this probability.
inline constexpr double kRowByChance = 1e-3;
// How many results of other devices the share of failures is computed from. With fewer, it counts
// as low.
inline constexpr std::int64_t kResultsToKnow = 10;
// The number of failed trials of a device that run again on other devices, to find out whether the
// failures are the device's own.
inline constexpr std::size_t kProbes = 3;
// How many trials of a row are remembered. Of a longer row, the newest ones run again.
inline constexpr std::size_t kKeptOfRow = 100;
// A device that is barred from so many studies of a project is barred from all of them.
inline constexpr std::size_t kBarredStudies = 3;
// The most devices with a row that a study, or a project, remembers.
inline constexpr std::size_t kMostRows = 4096;

// Returns the length of a row of failures that bars a device, if `failed` of `all` results of the
// study's other devices are failures.
inline std::int64_t length_that_bars(std::int64_t failed, std::int64_t all) {
  if (all < kResultsToKnow || failed == 0) return kLeastRow;
  if (failed >= all) return kLongestRow;
  const double share = static_cast<double>(failed) / static_cast<double>(all);
  const double length = std::ceil(std::log(kRowByChance) / std::log(share));
  if (length >= static_cast<double>(kLongestRow)) return kLongestRow;
  return std::max(kLeastRow, static_cast<std::int64_t>(length));
}

// Returns for how long a device is barred. `nth` counts its failures since it was barred first,
// from 1.
inline Millis bar_ms(Millis first, Millis longest, std::int64_t nth) {
  Millis out = first;
  for (std::int64_t i = 1; i < nth && out < longest; ++i) out *= 4;
  return std::min(out, longest);
}

// The trials of a study that a device has failed in a row.
struct FailureRow {
  std::int64_t length = 0;
  std::int64_t bars = 0;  // failures since the row was long enough; 0: it is not
  Instant until{};        // the end of its bar
  // Whether another device has completed a trial of the row, so that the failures are the device's.
  bool is_own = false;
  std::size_t probes = 0;             // trials that run again to find that out
  std::vector<TrialNumber> trials{};  // the others, oldest first; at most kKeptOfRow
};

// The devices of a study that fail.
struct Breaker {
  std::map<std::string, FailureRow> rows{};
  std::int64_t results = 0;  // of all attempts, failures included
  std::int64_t failures = 0;
  // The trials that run again as probes, each with the device that failed it.
  std::map<TrialNumber, std::string> probes{};
  // Barred devices whose failures are not probed, because no other device has had a result, or is
  // there.
  std::set<std::string> unjudged{};
  // The first two devices that have had a result that counts; empty: none.
  std::string succeeded{};
  std::string also_succeeded{};

  bool has_success_without(const std::string& device) const {
    return !also_succeeded.empty() || (!succeeded.empty() && succeeded != device);
  }
};

// A device that is barred from studies of a project.
struct BarredDevice {
  std::set<StudyId> studies{};  // since its last result; at most kBarredStudies
  std::int64_t bars = 0;        // failures since it was barred from all; 0: it is not
  Instant until{};
};

}  // namespace hyperflock::dispatch
