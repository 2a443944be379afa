// Counts a study's trials in its row. Every back end uses these functions, so that none counts
// differently. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "storage/records.h"

namespace hyperflock::storage::ledger {

inline bool is_running(const StudyRow& study) { return study.state == StudyState::running; }

// Counts a trial that got its row.
inline void trial_started(StudyRow& study) { ++study.running; }

// Counts a trial that the owner of an ask-and-tell study asked for.
inline void trial_asked(StudyRow& study) {
  ++study.total;
  ++study.running;
}

inline void claimed(StudyRow& study, const std::string& label, std::int64_t now) {
  ++study.generation;
  study.sampler = label;
  study.sampler_since = now;
}

inline void attempt_started(StudyRow& study) { ++study.attempts; }

namespace detail {

inline void leave(StudyRow& study, TrialState was) {
  if (was == TrialState::running) --study.running;
  // A trial that has failed may still be accepted (R12).
  if (was == TrialState::failed) --study.failed;
}

inline bool is_better(const StudyRow& study, TrialNumber number, double value) {
  if (study.spec.directions.size() > 1) return false;
  if (!study.best_trial) return true;
  if (value == study.best_value) return number < *study.best_trial;
  return study.spec.direction == protocol::Direction::minimize ? value < study.best_value
                                                               : value > study.best_value;
}

}  // namespace detail

// REQUIRES: a complete trial has at least one value.
inline void trial_accepted(StudyRow& study, TrialState was, TrialNumber number,
                           const protocol::TrialResult& result, std::int64_t seq) {
  detail::leave(study, was);
  study.cursor = seq;
  if (result.outcome == protocol::Outcome::pruned) {
    ++study.pruned;
    return;
  }
  ++study.complete;
  if (detail::is_better(study, number, result.values.front())) {
    study.best_trial = number;
    study.best_value = result.values.front();
  }
}

inline void trial_failed(StudyRow& study, std::int64_t seq) {
  detail::leave(study, TrialState::running);
  ++study.failed;
  study.cursor = seq;
}

inline void trial_reissued(StudyRow& study) {
  --study.failed;
  ++study.running;
}

// Notes that a finished study runs again.
inline void reopened(StudyRow& study) {
  study.state = StudyState::running;
  study.finished_at = 0;
}

inline void trial_cancelled(StudyRow& study, std::int64_t seq) {
  detail::leave(study, TrialState::running);
  study.cursor = seq;
}

inline void artifact_stored(StudyRow& study, std::int64_t bytes) {
  ++study.artifacts;
  study.artifact_bytes += bytes;
}

inline void artifact_dropped(StudyRow& study, std::int64_t bytes) { study.artifact_bytes -= bytes; }

inline void ended(StudyRow& study, StudyState state, std::int64_t now) {
  study.state = state;
  study.paused = false;
  study.finished_at = now;
}

}  // namespace hyperflock::storage::ledger
