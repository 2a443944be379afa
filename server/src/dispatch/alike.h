// Finds failures of a study's trials that have the same cause, and counts them (R56). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "protocol/messages.h"

namespace hyperflock::dispatch {

// Returns the kind of a failure: two failures are alike if their kinds are equal. Errors of the
// researcher's code are alike if the error code, the exception's type and the last place in this
// code that the traceback names (file and line) are equal; their messages may differ. Other
// failures are alike if cause and error code are equal.
std::string kind_of(const protocol::Failure& failure);

// Counts failures by kind.
class AlikeFailures {
 public:
  // The maximum number of kinds. Beyond it, the kind whose last failure is the oldest is forgotten.
  static constexpr std::size_t kMostKinds = 64;

  // Counts the failure. Returns how many failures of its kind were counted, including this one.
  std::int64_t add(const protocol::Failure& failure);
  void clear() { counts_.clear(); }

 private:
  std::vector<std::pair<std::string, std::int64_t>> counts_;  // by last failure, oldest first
};

}  // namespace hyperflock::dispatch
