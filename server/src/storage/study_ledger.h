// Counts a study's trials in its row. All back ends use these functions, so their counts agree.
// Pure.
#pragma once

#include <cstdint>
#include <string>

#include "storage/records.h"

namespace hyperflock::storage::ledger {

inline bool is_running(const StudyRow& study) { return study.state == StudyState::running; }

// Counts a trial of a grid as running. Call it when the trial gets its row.
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

}  // namespace detail

inline void trial_accepted(StudyRow& study, TrialState was, protocol::Outcome outcome,
                           std::int64_t seq) {
  detail::leave(study, was);
  study.cursor = seq;
  ++(outcome == protocol::Outcome::pruned ? study.pruned : study.complete);
}

inline void trial_failed(StudyRow& study, std::int64_t seq) {
  detail::leave(study, TrialState::running);
  ++study.failed;
  study.cursor = seq;
}

inline bool has_succeeded(const StudyRow& study) { return study.complete + study.pruned > 0; }

// Pauses a study because this trial failed (R56). Returns whether this changed anything.
inline bool stopped(StudyRow& study, TrialNumber number) {
  if (study.paused || has_succeeded(study)) return false;
  study.paused = true;
  study.stopped_by = number;
  return true;
}

inline void set_paused(StudyRow& study, bool paused) {
  study.paused = paused;
  if (paused) return;
  study.stopped_by.reset();
  study.forgiven_seq = study.cursor;
}

inline void trial_reissued(StudyRow& study) {
  --study.failed;
  ++study.running;
  study.stopped_by.reset();  // no trial of the study is failed any more
}

// Notes that a trial with this state was rejected and has the state `now` from now on (R71).
// Failures from before do not count for R56 any more. `seq`: its new place; 0: it is unfinished.
inline void trial_rejected(StudyRow& study, TrialNumber number, TrialState was, TrialState now,
                           std::int64_t seq) {
  if (was == TrialState::complete) --study.complete;
  if (was == TrialState::pruned) --study.pruned;
  if (was == TrialState::failed) --study.failed;
  if (now == TrialState::running) ++study.running;
  if (now == TrialState::failed) ++study.failed;
  if (seq > 0) study.cursor = seq;
  if (study.stopped_by == number) study.stopped_by.reset();
  study.forgiven_seq = study.cursor;
}

// Notes that a finished study runs again.
inline void reopened(StudyRow& study) {
  if (!is_running(study)) study.forgiven_seq = study.cursor;
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
  study.stopped_by.reset();
  if (study.approval == Approval::awaited) study.approval = Approval::given;  // nobody waits
  study.finished_at = now;
}

}  // namespace hyperflock::storage::ledger
