// Finds devices that fail one trial of a study after another (R72), or give the same value for one
// after another (R75). Pure.
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
// The most values of a study that are known to be usual. With more, no value of it is odd any more.
inline constexpr std::size_t kMostUsualValues = 64;
// By how much two devices' values for one trial may differ if both have computed it: a share of the
// value, or a number. It allows for rounding only, because the first device has given the value for
// several trials: it does not depend on the course of a training.
inline constexpr double kRounding = 1e-5;
inline constexpr double kZero = 1e-12;

// Returns the length of a row of failures that bars a device, if `failed` of `all` results of the
// study's other devices are failures. It is at least `least`. For values, a failure is a result
// with the same value as the device's last one.
inline std::int64_t length_that_bars(std::int64_t failed, std::int64_t all,
                                     std::int64_t least = kLeastRow) {
  if (all < kResultsToKnow || failed == 0) return least;
  if (failed >= all) return kLongestRow;
  const double share = static_cast<double>(failed) / static_cast<double>(all);
  const double length = std::ceil(std::log(kRowByChance) / std::log(share));
  if (length >= static_cast<double>(kLongestRow)) return kLongestRow;
  return std::max(least, static_cast<std::int64_t>(length));
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

// The results in a row for which a device has given the same values.
struct ValueRow {
  std::vector<double> values{};  // one for each direction
  std::int64_t length = 0;
  std::int64_t bars = 0;  // results since the row was long enough; 0: it is not
  Instant until{};        // the end of its bar
  // Whether others have given other values for most of the probes, so that the values are the
  // device's own.
  bool is_own = false;
  std::int64_t probes = 0;            // trials that run again to find that out, or have shown it
  std::int64_t differing = 0;         // of these, the ones for which others gave other values
  std::int64_t alike = 0;             // of these, the ones for which others gave the same values
  std::vector<TrialNumber> trials{};  // the others, oldest first; at most kKeptOfRow
};

// A trial that runs again because the device has given these values for it.
struct ValueProbe {
  std::string device;
  std::vector<double> values;
};

// Returns whether two devices may have computed the same values, apart from rounding.
inline bool are_alike(const std::vector<double>& some, const std::vector<double>& others) {
  return std::ranges::equal(some, others, [](double a, double b) {
    const double larger = std::max(std::abs(a), std::abs(b));
    return std::abs(a - b) <= std::max(kRounding * larger, kZero);
  });
}

// The devices of a study that repeat themselves.
struct Repeats {
  std::map<std::string, ValueRow> rows{};  // by device
  std::int64_t results = 0;                // complete ones of all attempts
  std::int64_t repeated = 0;  // of these, the ones with the same values as their device's last one
  // Each is of a device that is barred for these values.
  std::map<TrialNumber, ValueProbe> probes{};
  // Barred devices whose trials are to run again when another device is there.
  std::set<std::string> unjudged{};
  // Values that two devices have given for most of the probes of a row.
  std::vector<std::vector<double>> usual{};

  bool is_usual(const std::vector<double>& values) const {
    return usual.size() >= kMostUsualValues ||
           std::ranges::any_of(usual, [&](const auto& one) { return are_alike(one, values); });
  }
};

// Makes room for one more entry: forgets those that bar nobody. Returns whether there is room.
template <typename Entries>
bool make_room(Entries& entries) {
  if (entries.size() < kMostRows) return true;
  std::erase_if(entries, [](const auto& one) { return one.second.bars == 0; });
  return entries.size() < kMostRows;
}

// A device that is barred from studies of a project.
struct BarredDevice {
  std::set<StudyId> studies{};  // since its last result; at most kBarredStudies
  std::int64_t bars = 0;        // failures since it was barred from all; 0: it is not
  Instant until{};
};

}  // namespace hyperflock::dispatch
