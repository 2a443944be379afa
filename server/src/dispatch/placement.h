// Which devices may run a study's trials now (R40), what share of them its owner has (R70), and why
// its next trial waits. Only for people to read: nothing is decided by it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "protocol/study_spec.h"

namespace hyperflock::dispatch {

struct PlacementQuery {
  StudyId study{};
  std::string owner;
  std::string project;
  protocol::StudySpec spec;
};

// The owner's share of the project's devices.
struct ShareOfOwner {
  std::int64_t weight = 0;
  std::int64_t weights = 0;     // of all researchers who have work there, and of this one
  std::int64_t guaranteed = 0;  // devices that come before the weights
  std::int64_t devices = 0;     // that compute for the owner now, in all projects
  // How many researchers are served before the owner by the weights and the guarantees. nullopt:
  // the owner has no trial to lease there.
  std::optional<std::int64_t> ahead{};
};

struct Placement {
  std::int64_t devices = 0;                          // of the project that are connected
  std::map<std::string_view, std::int64_t> reasons;  // how many may not run the study, by reason
  ShareOfOwner share;
  // Why the next trial is not leased, as a code of rest.md. Empty: it is leased as soon as a device
  // asks.
  std::string_view waits;

  std::int64_t matching() const {
    std::int64_t others = 0;
    for (const auto& [reason, count] : reasons) others += count;
    return devices - others;
  }
};

}  // namespace hyperflock::dispatch
