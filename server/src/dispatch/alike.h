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

  struct Count {
    std::int64_t failures = 0;     // of this kind
    bool several_devices = false;  // whether they are not all of one device
  };
  // Counts the failure of a device; empty: it is not known. Returns what was counted of its kind,
  // including this failure.
  Count add(const protocol::Failure& failure, const std::string& device = {});
  void clear() { kinds_.clear(); }

 private:
  struct Kind {
    std::string name;
    std::string device;  // of the first failure
    Count count{};
  };
  std::vector<Kind> kinds_;  // by last failure, oldest first
};

}  // namespace hyperflock::dispatch
