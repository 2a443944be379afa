// Tests grid arithmetic at its limits (R30). golden_test.cc checks seeds and points against the
// golden files.
#include "protocol/study_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "protocol/codec.h"

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
  Capabilities old{{"webgl2", "cpu"}, 4'096, 4, "test 1", "desktop"};
  old.gpu = GpuFacts{"vendor family", false, false, 512};
  EXPECT_EQ(unmet(spec, old), "no_webgpu");
  StudySpec by_webgl2;
  by_webgl2.backend = "webgl2";
  EXPECT_EQ(unmet(by_webgl2, old), "");
  EXPECT_EQ(unmet(by_webgl2, {{"cpu"}, 4'096, 4, "test 1", "desktop"}), "no_webgl2");
  by_webgl2.requires_device.f16 = true;
  EXPECT_EQ(unmet(by_webgl2, old), "no_f16");
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

// ---- larger spaces (R65)

StudySpec grid_of(std::vector<Dimension> space) {
  StudySpec spec;
  spec.space = std::move(space);
  return spec;
}

std::vector<std::string> points_of(const StudySpec& spec) {
  std::vector<std::string> points;
  for (std::int64_t number = 0; number < trial_count(spec); ++number)
    points.push_back(trial_params(spec, number));
  return points;
}

std::string code_of(const Result<StudySpec>& refused) {
  return refused ? "accepted" : refused.error().code;
}

TEST(Extended, R65_NewPointsComeAfterThoseOfTheStudy) {
  const StudySpec spec = grid_of({{"\"a\"", {"1", "2"}}, {"\"b\"", {"3"}}});
  const auto more = extended(spec, {{{"\"b\"", {"4", "3"}}, {"\"a\"", {"5", "2", "1"}}}});
  ASSERT_TRUE(more.has_value());
  EXPECT_THAT(points_of(*more),
              testing::ElementsAre(R"({"a":1,"b":3})", R"({"a":2,"b":3})",    // as before
                                   R"({"a":5,"b":3})", R"({"a":5,"b":4})",    // the new value of a
                                   R"({"a":1,"b":4})", R"({"a":2,"b":4})"));  // that of b
}

TEST(Extended, R65_NumbersStayAndEveryPointComesOnce) {
  std::uint64_t state = 11;
  const auto draw = [&state](std::uint64_t below) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::int64_t>((state >> 33) % below);
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<Dimension> space;
    for (std::int64_t d = 0; d <= draw(3); ++d)
      space.push_back({"\"" + std::string(1, static_cast<char>('a' + d)) + "\"", {"0"}});
    StudySpec spec = grid_of(space);
    for (int step = 0; step < 4; ++step) {
      for (Dimension& dimension : space) {
        for (std::int64_t more = draw(3); more > 0; --more)
          dimension.values_json.push_back(std::to_string(dimension.values_json.size()));
      }
      const std::vector<std::string> before = points_of(spec);
      const auto larger = extended(spec, {space});
      ASSERT_TRUE(larger.has_value());
      const std::vector<std::string> after = points_of(*larger);
      ASSERT_EQ(std::vector<std::string>(after.begin(), after.begin() + std::ssize(before)),
                before);
      const std::vector<std::string> whole = points_of(grid_of(space));
      ASSERT_EQ(std::set<std::string>(after.begin(), after.end()),
                std::set<std::string>(whole.begin(), whole.end()));
      ASSERT_EQ(after.size(), whole.size());
      // The extended spec is the same after it was written as JSON and read.
      StudySpec full = *larger;
      full.name = full.submit_key = "s";
      full.entry = "m:f";
      full.bundle.sha256 = std::string(64, 'a');
      full.chainer = "7.8.1";
      full.provenance_json = "{}";
      ASSERT_EQ(parse_study_spec(serialize_study_spec(full)).value(), full);
      spec = *larger;
    }
  }
}

TEST(Extended, R65_NothingNewChangesNothing) {
  const StudySpec spec = grid_of({{"\"a\"", {"1", "1.0"}}, {"\"b\"", {"null"}}});
  EXPECT_EQ(extended(spec, {{{"\"b\"", {"null"}}, {"\"a\"", {"1.0", "1"}}}}).value(), spec);
}

TEST(Extended, R65_ASpaceThatLostSomethingIsRefused) {
  const StudySpec spec = grid_of({{"\"a\"", {"1", "2"}}, {"\"b\"", {"3"}}});
  const Dimension b{"\"b\"", {"3"}};
  const auto lost = extended(spec, {{{"\"a\"", {"1", "2.0", "3"}}, b}});
  EXPECT_EQ(code_of(lost), "space_changed");
  EXPECT_EQ(lost.error().field, "space");
  EXPECT_THAT(lost.error().message, testing::StartsWith("\"a\" has lost the value 2; an extended"));
  EXPECT_EQ(code_of(extended(spec, {{{"\"a\"", {"1", "2"}}}})), "space_changed");
  EXPECT_EQ(code_of(extended(spec, {{{"\"a\"", {"1", "2"}}, {"\"c\"", {"3"}}}})), "space_changed");
  EXPECT_EQ(code_of(extended(spec, {{{"\"a\"", {"1", "2"}}, b, {"\"c\"", {"3"}}}})),
            "space_changed");
}

TEST(Extended, R65_OfTwoEqualValuesBothStay) {
  const StudySpec spec = grid_of({{"\"a\"", {"1", "1"}}});
  EXPECT_EQ(code_of(extended(spec, {{{"\"a\"", {"1", "2"}}}})), "space_changed");
  EXPECT_EQ(trial_count(extended(spec, {{{"\"a\"", {"1", "2", "1"}}}}).value()), 3);
}

TEST(Extended, R65_ASpaceMayGrowTooLarge) {
  std::vector<Dimension> space;
  for (int d = 0; d < 52; ++d) space.push_back({"\"n" + std::to_string(d) + "\"", {"0", "1"}});
  const StudySpec spec = grid_of(space);
  for (Dimension& dimension : space) dimension.values_json.emplace_back("2");
  EXPECT_EQ(code_of(extended(spec, {space})), "space_too_large");
}

TEST(Extended, R65_PointsOfAListGoBehindItsPoints) {
  StudySpec spec = grid_of({{"\"a\"", {"1", "2"}}, {"\"b\"", {"3", "4"}}});
  spec.kind = StudyKind::points;
  const auto more = extended(spec, {{{"\"b\"", {"4", "9", "3"}}, {"\"a\"", {"2", "1", "1"}}}});
  EXPECT_THAT(points_of(more.value()),
              testing::ElementsAre(R"({"a":1,"b":3})", R"({"a":2,"b":4})", R"({"a":1,"b":9})"));
  EXPECT_EQ(code_of(extended(spec, {{{"\"b\"", {"4", "9"}}, {"\"a\"", {"2", "1"}}}})),
            "space_changed");
}

TEST(Extended, R65_DrawnStudiesGetMoreTrials) {
  StudySpec spec = grid_of({{"\"a\"", {}, ValueRange{.low = 0, .high = 1}}});
  spec.kind = StudyKind::random;
  spec.trials = 4;
  EXPECT_EQ(extended(spec, {spec.space, 9}).value().trials, 9);
  EXPECT_EQ(code_of(extended(spec, {spec.space, 3})), "space_changed");
  EXPECT_EQ(code_of(extended(spec, {{{"\"a\"", {}, ValueRange{.low = 0, .high = 2}}}, 9})),
            "space_changed");
  spec.kind = StudyKind::asked;
  EXPECT_EQ(code_of(extended(spec, {})), "not_a_grid");
}

}  // namespace
}  // namespace hyperflock::protocol
