// Makes the commit that collects devices (Hub::collect_devices). Pure.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hub/group_commit.h"
#include "hub/hub.h"

namespace hyperflock::hub {

// Returns the changes of these devices: those that are connected are noted as seen, the others are
// collected. `told` gets each change with its outcome. Then `done` gets the devices that were
// collected; none, if the commit failed. REQUIRES: there is a device.
inline CommitGroup collection_of(const std::vector<std::string>& devices,
                                 const std::set<std::string>& connected, std::int64_t before,
                                 const Hub::Told& told,
                                 std::function<void(const std::set<std::string>&)> done) {
  const auto gone = std::make_shared<std::set<std::string>>();
  CommitGroup group;
  for (const std::string& device : devices) {
    storage::Transition change = storage::SeeDevice{device};
    if (!connected.contains(device)) change = storage::CollectDevice{device, before};
    Committed noted = [change, device, gone, told](const Result<storage::Outcome>& outcome) {
      if (!outcome) return;
      if (outcome->applied == storage::Applied::applied &&
          std::holds_alternative<storage::CollectDevice>(change))
        gone->insert(device);
      told(change, *outcome);
    };
    group.push_back(CommitItem{std::move(change), {}, std::move(noted)});
  }
  group.back().done = [last = std::move(group.back().done), gone,
                       done = std::move(done)](const Result<storage::Outcome>& outcome) {
    last(outcome);
    done(*gone);
  };
  return group;
}

}  // namespace hyperflock::hub
