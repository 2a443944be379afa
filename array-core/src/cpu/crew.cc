#include "cpu/crew.h"

#include <algorithm>

#include "team/team.h"

namespace arraycore::cpu {
namespace {

// Waking a thread costs some 20 us: as much as so many operations on elements, side by side.
constexpr std::int64_t kSharedWork = 400'000;
// For each thread, so that all end at nearly the same time.
constexpr std::int64_t kPartsOfMember = 8;

}  // namespace

Status Crew::run(const ir::Launch& launch) {
  Machine& own = machine();
  const Status begun = own.begin(launch);
  if (!begun) return begun;
  units_ = own.units();
  const int members = std::min(team().members(), Team::kMaxMembers);
  if (members == 1 || units_ < 2 || !program_.is_independent() ||
      units_ < kSharedWork / own.unit_work()) {
    own.compute(0, units_);
    return Done{};
  }
  while (machines_.size() < static_cast<std::size_t>(members)) add();
  for (int member = 1; member < members; ++member) {
    const Status helping = machines_[static_cast<std::size_t>(member)]->begin(launch);
    if (!helping) return helping;
  }
  const std::int64_t parts = std::min(units_, members * kPartsOfMember);
  units_of_part_ = (units_ + parts - 1) / parts;
  if (team().run(part, this, (units_ + units_of_part_ - 1) / units_of_part_, members))
    return Done{};
  return Team::lost();
}

void Crew::part(void* task, std::int64_t part, int member) {
  auto& crew = *static_cast<Crew*>(task);
  const std::int64_t first = part * crew.units_of_part_;
  crew.machines_[static_cast<std::size_t>(member)]->compute(
      first, std::min(crew.units_of_part_, crew.units_ - first));
}

}  // namespace arraycore::cpu
