// Tests the numbers of what studies need of a device (R40).
#include "dispatch/needs.h"

#include <gtest/gtest.h>

#include <string_view>

namespace hyperflock::dispatch {
namespace {

protocol::StudySpec needing(std::int64_t memory_mb, bool f16 = false) {
  protocol::StudySpec spec;
  spec.requires_device.memory_mb = memory_mb;
  spec.requires_device.f16 = f16;
  return spec;
}

TEST(Needs, R40_EqualNeedsHaveOneNumber) {
  Needs needs;
  const std::size_t none = needs.add(needing(0));
  const std::size_t memory = needs.add(needing(4'096));
  EXPECT_NE(none, memory);
  EXPECT_EQ(needs.add(needing(4'096)), memory);
  EXPECT_NE(needs.add(needing(4'096, true)), memory);
  const protocol::Capabilities phone{{"cpu"}, 2'048, 4, "test 1", "phone"};
  EXPECT_EQ(protocol::unmet(needs[none], phone), "");
  EXPECT_EQ(protocol::unmet(needs[memory], phone), "little_memory");
}

TEST(Needs, R40_ANumberIsGivenAgainWhenNoStudyHasIt) {
  Needs needs;
  const std::size_t first = needs.add(needing(1));
  needs.add(needing(1));
  needs.remove(first);
  EXPECT_NE(needs.add(needing(2)), first);
  needs.remove(first);
  EXPECT_EQ(needs.add(needing(3)), first);
  EXPECT_EQ(needs[first].required.memory_mb, 3);
  EXPECT_NE(needs.add(needing(1)), first);
}

}  // namespace
}  // namespace hyperflock::dispatch
