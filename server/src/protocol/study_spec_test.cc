// Tests grid arithmetic at its limits (R30). golden_test.cc checks seeds and points against the
// golden files.
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

Capabilities gpu_device() {
  Capabilities device{{"webgpu", "cpu"}, 4'096, 4, "test 1", "desktop"};
  device.gpu = GpuFacts{"vendor family", false, true, 1'024};
  return device;
}

TEST(Placement, R40_ADeviceWithAllThatIsAskedMayRun) {
  StudySpec spec;
  EXPECT_EQ(unmet(spec, {{"cpu"}, 0, 1, "test 1", "phone"}), "");
  spec.backend = "cpu";
  EXPECT_EQ(unmet(spec, {{"cpu"}, 0, 1, "test 1", "phone"}), "");
  spec.backend = "webgpu";
  spec.requires_device = {4'096, 4, 1'024, true, true};
  EXPECT_EQ(unmet(spec, gpu_device()), "");
}

TEST(Placement, R40_WhatIsMissingHasItsCode) {
  StudySpec spec;
  spec.backend = "webgpu";
  EXPECT_EQ(unmet(spec, {{"cpu"}, 4'096, 4, "test 1", "desktop"}), "no_webgpu");
  Capabilities device = gpu_device();
  device.backends = {"cpu"};
  EXPECT_EQ(unmet(spec, device), "no_webgpu");
  spec.requires_device.graphics_card = true;
  device = gpu_device();
  device.gpu->software = true;
  EXPECT_EQ(unmet(spec, device), "no_graphics_card");
  spec.requires_device = {.f16 = true};
  device = gpu_device();
  device.gpu->f16 = false;
  EXPECT_EQ(unmet(spec, device), "no_f16");
  spec.requires_device = {.buffer_mb = 1'025};
  EXPECT_EQ(unmet(spec, gpu_device()), "small_buffers");
  spec.requires_device = {.memory_mb = 4'097};
  EXPECT_EQ(unmet(spec, gpu_device()), "little_memory");
  spec.requires_device = {.cores = 5};
  EXPECT_EQ(unmet(spec, gpu_device()), "few_cores");
}

}  // namespace
}  // namespace hyperflock::protocol
