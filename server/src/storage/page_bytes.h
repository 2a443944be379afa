// Counts the bytes of a page of trials, so that a page with long texts ends early (kPageTextBytes).
// Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "storage/storage.h"

namespace hyperflock::storage {

// Returns how many bytes the texts of a trial have whose length devices and owners choose:
// parameters, suggestions, attributes and the failure.
inline std::size_t text_bytes(const TrialDetail& detail) {
  const TrialRow& trial = detail.trial;
  std::size_t bytes = trial.params.size() + trial.asked_attrs.size();
  for (const Suggestion& one : trial.suggested)
    bytes += one.name.size() + one.distribution.size() + one.value.size();
  if (trial.failure) bytes += trial.failure->message.size() + trial.failure->traceback.size();
  if (detail.attempt) bytes += detail.attempt->attrs.size();
  for (const LastValue& one : detail.last) bytes += one.name.size();
  return bytes;
}

// Returns whether the page ended because of its bytes. Then more trials may follow, although the
// page has fewer than its limit.
inline bool is_full(const std::vector<TrialDetail>& page) {
  std::size_t bytes = 0;
  for (const TrialDetail& one : page) bytes += text_bytes(one);
  return bytes >= kPageTextBytes;
}

}  // namespace hyperflock::storage
