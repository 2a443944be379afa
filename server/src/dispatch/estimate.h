// How long a study that runs will still take (R63), from what its devices do now and from how long
// runs usually take on them. Pure.
//
// With n_c devices of class c at work, r_c the usual duration of a run on that class (RuntimeStats;
// from the lease to the result) and w trials that no device has begun:
//
//   rate      = sum of n_c / r_c                    trials per millisecond
//   left      = (w + sum of n_c * l_c / r_c) / rate
//   device_ms = sum of n_c * left, at least sum of n_c * l_c
//
// l_c is what the mean running trial of the class has left. As in R36, this is r_c minus the time
// that it has run, and a trial that has run for longer than r_c is taken to be half done. The study
// does not end before the trial that began last: left is at least r_c minus the age of the newest
// attempt. This matters when no trial waits. Then the devices also end at different moments, so
// device_ms is at least the sum of the times that they still need.
//
// `left` assumes that the devices at work now go on. It is the larger of the two lower bounds of
// list scheduling (Graham, "Bounds on multiprocessing timing anomalies", 1969): all work divided by
// the speed of all machines, and the longest job. Here each class has its own speed. Failures,
// pruning and speculative attempts are not foreseen.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/instant.h"

namespace hyperflock::dispatch {

// The devices of one class that compute a study.
struct WorkOfClass {
  std::int64_t devices = 0;  // open attempts
  Millis since_sum = 0;      // the sum of the moments when they were leased
  Instant newest{};          // when the newest was leased
  Millis run_ms = 0;         // the usual run on this class, or on all if there was none on it
  bool operator==(const WorkOfClass&) const = default;
};

// The data about a running study from which estimate() computes. While the study has no accepted
// run, the usual duration of its runs is unknown.
struct StudyWork {
  std::int64_t runs = 0;  // accepted ones
  Millis run_ms = 0;      // the usual run on all classes
  std::vector<WorkOfClass> classes{};
  bool operator==(const StudyWork&) const = default;
};

struct Estimate {
  std::int64_t runs = 0;
  std::int64_t devices = 0;
  std::optional<Millis> left_ms{};    // until the end; nullopt: no run or no device yet
  std::optional<Millis> device_ms{};  // of all devices together; nullopt: no run yet
  bool operator==(const Estimate&) const = default;
};

// `open_trials` have no outcome yet; those that run are among them.
inline Estimate estimate(const StudyWork& work, std::int64_t open_trials, Instant now) {
  Estimate out{.runs = work.runs};
  double rate = 0;
  double begun = 0;   // of the running trials, in trials
  double to_run = 0;  // of the running trials, in milliseconds
  double least = 0;   // until the trial that began last ends
  for (const WorkOfClass& one : work.classes) {
    if (one.devices == 0) continue;
    out.devices += one.devices;
    const auto devices = static_cast<double>(one.devices);
    const auto run = static_cast<double>(std::max<Millis>(one.run_ms, 1));
    const double ran = static_cast<double>(now.ms) - static_cast<double>(one.since_sum) / devices;
    const double left = ran > run ? ran : run - ran;
    rate += devices / run;
    begun += devices * left / run;
    to_run += devices * left;
    least = std::max(least, run - static_cast<double>(now - one.newest));
  }
  if (work.runs == 0) return out;
  const auto waiting = static_cast<double>(std::max<std::int64_t>(open_trials - out.devices, 0));
  if (out.devices == 0) {
    out.device_ms = static_cast<Millis>(waiting * static_cast<double>(work.run_ms));
    return out;
  }
  const double left = (waiting + begun) / rate;
  out.left_ms = static_cast<Millis>(std::max(left, least));
  out.device_ms = static_cast<Millis>(std::max(static_cast<double>(out.devices) * left, to_run));
  return out;
}

}  // namespace hyperflock::dispatch
