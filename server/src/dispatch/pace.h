// What a study learns about its own speed on one class of devices, and what follows from it: how
// long an attempt may show no progress (R23), how long a run takes (R36). Kept in memory alone: a
// restart learns again. Pure; used by the dispatcher's state.
#pragma once

#include <algorithm>

#include "base/instant.h"

namespace hyperflock::dispatch {

struct Pace {
  int runs = 0;       // accepted runs
  Millis run_ms = 0;  // from the lease to the result, newer runs counting more
  int moves = 0;      // times that progress was seen to move
  Millis gap_ms = 0;  // between two moves: follows a longer one at once, shorter ones slowly
};

// So many moves make a gap known; until then the longest patience holds.
inline constexpr int kMovesToKnow = 5;
inline constexpr Millis kGapsOfPatience = 20;
inline constexpr Millis kLeastPatienceMs = 120'000;
inline constexpr Millis kMostPatienceMs = 3'600'000;

inline void learn_run(Pace& pace, Millis run_ms) {
  pace.run_ms = pace.runs++ == 0 ? run_ms : pace.run_ms + (run_ms - pace.run_ms) / 4;
}

inline void learn_gap(Pace& pace, Millis gap_ms) {
  ++pace.moves;
  pace.gap_ms = gap_ms > pace.gap_ms ? gap_ms : pace.gap_ms + (gap_ms - pace.gap_ms) / 8;
}

// An attempt was ended for its silence. Where that was too early the next one has five times as
// long, so that an objective with a long silent part is not ended for ever.
inline void learn_stall(Pace& pace, Millis silence_ms) {
  pace.gap_ms = std::max(pace.gap_ms, silence_ms / 4);
}

inline Millis patience(const Pace& pace) {
  if (pace.moves < kMovesToKnow) return kMostPatienceMs;
  return std::clamp(pace.gap_ms * kGapsOfPatience, kLeastPatienceMs, kMostPatienceMs);
}

}  // namespace hyperflock::dispatch
