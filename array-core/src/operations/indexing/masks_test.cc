// Compares positions of true elements, counted on a device or found by the CPU, with plain loops.
#include "operations/indexing/masks.h"

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <vector>

#include "testing/fake_device.h"
#include "view/shape.h"

namespace arraycore {
namespace {

struct MasksTest : testing::TestWithParam<bool> {
  Array array(const std::vector<std::uint8_t>& values) {
    Array made =
        launcher.allocate(DType::boolean, {static_cast<std::int64_t>(values.size())}).value();
    EXPECT_TRUE(launcher.upload(made, values.data()));
    return made;
  }
  template <typename T>
  std::vector<T> values(const Array& from) {
    std::vector<T> read(static_cast<std::size_t>(from.view.count()));
    EXPECT_TRUE(launcher.download(from, std::as_writable_bytes(std::span(read))));
    return read;
  }

  Counters counters;
  Launcher launcher{make_cpu_backend(), GetParam() ? std::make_unique<FakeDevice>() : nullptr,
                    counters, std::nullopt};
  Scans scans{launcher};
  Masks masks{launcher, scans};
};

TEST_P(MasksTest, FindsEveryTrueElement) {
  for (const std::size_t length : {0U, 1U, 63U, 64U, 65U, 128U, 129U, 5'000U})
    for (const std::size_t step : {1U, 3U, 97U, 10'000U}) {
      std::vector<std::uint8_t> mask(length);
      std::vector<std::int32_t> expected;
      for (std::size_t i = step - 1; i < length; i += step) {
        mask[i] = 1;
        expected.push_back(static_cast<std::int32_t>(i));
      }
      const Array source = array(mask);
      const std::int64_t down = counters.bytes_down;
      const Array found = masks.positions(source).value();
      EXPECT_EQ(counters.bytes_down - down, GetParam() && length > 0 ? 4 : 0);
      EXPECT_EQ(values<std::int32_t>(found), expected) << length << " " << step;
    }
  EXPECT_EQ(counters.cpu_ops, 0);
}

TEST_P(MasksTest, ReadsAMaskInItsOwnOrder) {
  Array turned = array({1, 0, 0, 1, 1, 0});
  turned.view.shape = Dims{3, 2};
  turned.view.strides = Dims{1, 3};  // columns of three
  EXPECT_EQ(values<std::int32_t>(masks.positions(turned).value()),
            (std::vector<std::int32_t>{0, 1, 3}));
}

TEST_P(MasksTest, CoordinatesAreARowEach) {
  const Array found = masks.positions(array({0, 1, 0, 0, 0, 1})).value();
  const Array rows = masks.coordinates(found, {2, 3}).value();
  EXPECT_EQ(rows.view.shape, (Dims{2, 2}));
  EXPECT_EQ(values<std::int64_t>(rows), (std::vector<std::int64_t>{0, 1, 1, 2}));
}

INSTANTIATE_TEST_SUITE_P(, MasksTest, testing::Values(false, true),
                         [](const auto& test) { return test.param ? "Device" : "Cpu"; });

TEST(Masks, OfANumberThatIsNotAskedForTheRestIsMissing) {
  Counters counters;
  Launcher launcher{make_cpu_backend(), std::make_unique<FakeDevice>(), counters, std::nullopt};
  Scans scans{launcher};
  Masks masks{launcher, scans};
  const Array mask = launcher.allocate(DType::boolean, {5}).value();
  const std::vector<std::uint8_t> values{0, 1, 0, 0, 1};
  ASSERT_TRUE(launcher.upload(mask, values.data()));
  const Array found = masks.positions(mask, 4).value();
  EXPECT_EQ(counters.bytes_down, 0);
  std::vector<std::int32_t> read(4);
  ASSERT_TRUE(launcher.download(found, std::as_writable_bytes(std::span(read))));
  EXPECT_EQ(read, (std::vector<std::int32_t>{1, 4, -1, -1}));
}

}  // namespace
}  // namespace arraycore
