// Grid arithmetic at its limits (R30); seeds and points are checked against the golden files in
// golden_test.cc.
#include "protocol/study_spec.h"

#include <gtest/gtest.h>

#include <set>

namespace hyperflock::protocol {
namespace {

std::vector<Dimension> binary_names(int count) {
  std::vector<Dimension> out;
  for (int i = 0; i < count; ++i) out.push_back({"\"b" + std::to_string(i) + '"', {"0", "1"}});
  return out;
}

TEST(Grid, R30_EveryPointComesOnce) {
  const std::vector<Dimension> space{{"\"a\"", {"1", "2", "3"}},
                                     {"\"b\"", {"true", "null"}},
                                     {"\"c\"", {"0.5", "1.5", "2.5", "3.5"}}};
  std::set<std::string> seen;
  for (std::int64_t i = 0; i < grid_size(space); ++i) seen.insert(grid_point(space, i));
  EXPECT_EQ(seen.size(), 24U);
}

TEST(Grid, R30_LastPointOfTheLargestGrid) {
  const auto space = binary_names(52);
  ASSERT_EQ(grid_size(space), std::int64_t{1} << 52);
  const std::string point = grid_point(space, grid_size(space) - 2);
  EXPECT_NE(point.find("\"b50\":1,\"b51\":0}"), std::string::npos) << point;
}

TEST(Grid, SizeBeyondTheWireIsZero) {
  EXPECT_EQ(grid_size(binary_names(53)), 0);
  EXPECT_EQ(grid_size(binary_names(64)), 0);
  EXPECT_EQ(grid_size({{"\"a\"", {}}}), 0);
}

}  // namespace
}  // namespace hyperflock::protocol
