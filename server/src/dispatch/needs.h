// Numbers for what studies need of a device (R40). Studies with equal needs have one number, so a
// device is compared once with all of them. Pure.
//
//   study.needs = needs.add(study.spec);
//   protocol::unmet(needs[study.needs], session.capabilities).empty()
//   needs.remove(study.needs);
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "protocol/study_spec.h"

namespace hyperflock::dispatch {

class Needs {
 public:
  // Returns the number of the spec's needs. Each call needs one of remove().
  std::size_t add(const protocol::StudySpec& spec) {
    const protocol::DeviceNeeds needs = protocol::device_needs(spec);
    const auto [found, is_new] = numbers_.try_emplace(key_of(needs), kinds_.size());
    if (is_new && !free_.empty()) {
      found->second = free_.back();
      free_.pop_back();
    } else if (is_new) {
      kinds_.emplace_back();
    }
    Kind& kind = kinds_[found->second];
    kind.needs = needs;
    ++kind.studies;
    return found->second;
  }

  // Forgets the needs with this number if this was the last study that has them.
  void remove(std::size_t number) {
    Kind& kind = kinds_[number];
    if (--kind.studies > 0) return;
    numbers_.erase(key_of(kind.needs));
    free_.push_back(number);
  }

  const protocol::DeviceNeeds& operator[](std::size_t number) const { return kinds_[number].needs; }

 private:
  using Key = std::tuple<bool, bool, bool, bool, std::int64_t, std::int64_t, std::int64_t>;
  struct Kind {
    protocol::DeviceNeeds needs{};
    std::int64_t studies = 0;
  };

  static Key key_of(const protocol::DeviceNeeds& needs) {
    const protocol::Requirements& wanted = needs.required;
    return {needs.webgpu,     needs.webgl2, wanted.f16,      wanted.graphics_card,
            wanted.memory_mb, wanted.cores, wanted.buffer_mb};
  }

  std::vector<Kind> kinds_;
  std::map<Key, std::size_t> numbers_;
  std::vector<std::size_t> free_;
};

}  // namespace hyperflock::dispatch
