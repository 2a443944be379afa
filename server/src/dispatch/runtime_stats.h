// Measured durations of a study on one class of devices. They determine how long an attempt may
// show no progress (R23) and how long a run is expected to take (R36). They are kept in memory
// only, so they start empty after a restart. Pure; used by the dispatcher's state.
#pragma once

#include <algorithm>

#include "base/instant.h"

namespace hyperflock::dispatch {

struct RuntimeStats {
  int runs = 0;       // accepted runs
  Millis run_ms = 0;  // from the lease to the result, newer runs counting more
  int moves = 0;      // how often the progress of attempts has grown
  // The usual time between two changes of progress. A longer time replaces it at once, a shorter
  // one reduces it by an eighth of the difference.
  Millis gap_ms = 0;
};

// The number of changes of progress after which gap_ms is used. Before that, the limit is
// kMostPatienceMs.
inline constexpr int kMovesToKnow = 5;
inline constexpr Millis kGapsOfPatience = 20;
inline constexpr Millis kLeastPatienceMs = 120'000;
inline constexpr Millis kMostPatienceMs = 3'600'000;

inline void learn_run(RuntimeStats& stats, Millis run_ms) {
  stats.run_ms = stats.runs++ == 0 ? run_ms : stats.run_ms + (run_ms - stats.run_ms) / 4;
}

inline void learn_gap(RuntimeStats& stats, Millis gap_ms) {
  ++stats.moves;
  stats.gap_ms = gap_ms > stats.gap_ms ? gap_ms : stats.gap_ms + (gap_ms - stats.gap_ms) / 8;
}

// Notes that an attempt was ended because it made no progress for `silence_ms`. The next attempt
// may make no progress for five times as long, so an objective with a long part without progress
// can finish.
inline void learn_stall(RuntimeStats& stats, Millis silence_ms) {
  stats.gap_ms = std::max(stats.gap_ms, silence_ms / 4);
}

inline Millis patience(const RuntimeStats& stats) {
  if (stats.moves < kMovesToKnow) return kMostPatienceMs;
  return std::clamp(stats.gap_ms * kGapsOfPatience, kLeastPatienceMs, kMostPatienceMs);
}

}  // namespace hyperflock::dispatch
