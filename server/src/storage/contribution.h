// What devices contribute: time, trials and improvements of accepted results, by day and project.
// The results are rows; a background task adds them to sums, piece by piece (FoldContributions).
// Every back end uses these functions. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/instant.h"
#include "protocol/messages.h"

namespace hyperflock::storage {

// A device has rows of this many days, today's included. Older days are added to one row, so that a
// device has at most kContributionDays + 1 rows for each project.
inline constexpr std::int64_t kContributionDays = 7;
// The day of the row that older days are added to.
inline constexpr std::int64_t kEarlierDays = 0;

// A day begins at 0:00 UTC. Days are numbered from 1 January 1970.
inline std::int64_t day_of(std::int64_t unix_ms) { return unix_ms / kDayMs; }

// What the accepted results of a device were on one day in one project. Rejected results do not
// count (R71).
struct Contribution {
  std::string project;   // of the studies, which may be another one than the device's own (R70)
  std::int64_t day = 0;  // on which the server accepted the results; or kEarlierDays
  std::int64_t trials = 0;
  std::int64_t ms = 0;     // the sum of device_ms()
  std::int64_t moved = 0;  // results that were better than all of their study before them
  bool operator==(const Contribution&) const = default;

  // Adds what another row counts, whatever its project and day.
  Contribution& operator+=(const Contribution& more) {
    trials += more.trials;
    ms += more.ms;
    moved += more.moved;
    return *this;
  }
};

// What the devices of a passphrase contributed together (R81).
struct ContributionTogether {
  std::int64_t devices = 0;        // 0: no device has this passphrase
  std::vector<Contribution> rows;  // sorted by project and day
  bool operator==(const ContributionTogether&) const = default;
};

// What a piece of results adds to one row.
struct DeviceContribution {
  std::string device;
  Contribution more;
  bool operator==(const DeviceContribution&) const = default;
};

// How many results a piece has at most, and to how many rows it adds them. Reading a piece may take
// a tenth of a second. Adding it keeps the writer busy for some milliseconds.
struct PieceLimits {
  std::int64_t results = 20'000;
  std::int64_t rows = 1'000;
};

// The next results that are not in the sums yet, added up. Results are counted in the order in
// which they were accepted (Outcome::seq), so one number says how far the sums go.
struct ContributionPiece {
  std::int64_t from = 0;      // results up to this seq are in the sums already
  std::int64_t to = 0;        // the piece has those up to this one; `from`: there are none
  std::int64_t revision = 0;  // of results that are not in the sums; another one: the piece is old
  bool last = false;          // whether no later results are stored
  std::vector<DeviceContribution> more{};
  // Days up to this one are added to kEarlierDays, for these devices also those in the sums.
  std::int64_t earlier = 0;
  std::vector<std::string> aged{};

  bool empty() const { return to == from; }
};

// Returns how long a device has computed an accepted attempt, in milliseconds. It is the time that
// the device reports, without pauses as far as the device knows them, but at most the time that the
// server saw: from the lease to the result, or to the end of the lease if the result came later.
// `ended_at` is the end of the lease; 0 if it had not ended. All times are Unix milliseconds.
inline std::int64_t device_ms(std::int64_t started_at, std::int64_t ended_at, std::int64_t now,
                              const protocol::RunMetrics& reported) {
  const std::int64_t seen =
      std::max<std::int64_t>((ended_at > 0 ? std::min(ended_at, now) : now) - started_at, 0);
  const std::int64_t said = reported.load_ms + reported.run_ms;
  return said > 0 ? std::min(said, seen) : seen;
}

}  // namespace hyperflock::storage
