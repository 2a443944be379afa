// Tests sorting on a device and on the CPU. Both must give the same order.
#include "operations/sorter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "ops/sorting.h"
#include "testing/fake_device.h"
#include "view/shape.h"

namespace arraycore {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct SorterTest : testing::Test {
  SorterTest() {
    auto owned = std::make_unique<FakeDevice>();
    device = owned.get();
    launcher =
        std::make_unique<Launcher>(make_cpu_backend(), std::move(owned), counters, std::nullopt);
    sorter = std::make_unique<Sorter>(*launcher, counters);
  }
  template <typename T>
  Array array(DType dtype, const Dims& shape, const std::vector<T>& values) {
    Array made = launcher->allocate(dtype, shape).value();
    EXPECT_TRUE(launcher->upload(made, values.data()));
    return made;
  }
  template <typename T>
  std::vector<T> read(const Array& from) {
    std::vector<T> values(static_cast<std::size_t>(from.view.count()));
    EXPECT_TRUE(launcher->download(from, std::as_writable_bytes(std::span(values))));
    return values;
  }
  template <typename T>
  std::vector<T> sorted(const Array& from, std::int64_t axis = -1) {
    const auto made = sorter->sorted(from, axis, SortResult::elements);
    EXPECT_TRUE(made);
    EXPECT_TRUE(made->view.shape == from.view.shape);
    return read<T>(*made);
  }
  std::vector<std::int64_t> places(const Array& from, std::int64_t axis = -1) {
    const auto made = sorter->sorted(from, axis, SortResult::places);
    EXPECT_TRUE(made);
    EXPECT_EQ(made->dtype, DType::int64);
    return read<std::int64_t>(*made);
  }

  Counters counters;
  FakeDevice* device = nullptr;
  std::unique_ptr<Launcher> launcher;
  std::unique_ptr<Sorter> sorter;
};

TEST_F(SorterTest, EveryLengthIsSortedStablyOnTheDevice) {
  std::mt19937 random(1);
  for (const int length : {1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 64, 100}) {
    std::vector<std::int32_t> values(static_cast<std::size_t>(length));
    for (std::int32_t& value : values) value = static_cast<std::int32_t>(random() % 9) - 4;
    const Array a = array(DType::int32, {length}, values);
    std::vector<std::int64_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t one, std::int64_t other) {
      return values[static_cast<std::size_t>(one)] < values[static_cast<std::size_t>(other)];
    });
    EXPECT_EQ(places(a), order) << length;
    std::sort(values.begin(), values.end());
    EXPECT_EQ(sorted<std::int32_t>(a), values) << length;
  }
  EXPECT_EQ(counters.cpu_ops, 0);
}

TEST_F(SorterTest, NanIsLastAndZerosTieOnEitherBackEnd) {
  const std::vector<float> values{kNan, 1,    -0.0F, 0,
                                  -1,   kNan, -kNan, std::numeric_limits<float>::infinity()};
  const std::vector<std::int64_t> order{4, 2, 3, 1, 7, 0, 5, 6};
  EXPECT_EQ(places(array(DType::float32, {8}, values)), order);
  EXPECT_EQ(counters.cpu_ops, 0);
  const std::vector<double> wide(values.begin(), values.end());
  EXPECT_EQ(places(array(DType::float64, {8}, wide)), order);
  EXPECT_EQ(counters.cpu_ops, 2) << "the CPU copied and sorted it beside the device";
}

TEST_F(SorterTest, ComplexNumbersGoByTheirRealPartsAndNansByTheirPlace) {
  const std::vector<float> parts{kNan, 1, 2, kNan, 5, 0, kNan, kNan, 1, kNan, 5, -1};
  const std::vector<std::int64_t> order{5, 2, 4, 1, 0, 3};
  EXPECT_EQ(places(array(DType::complex64, {6}, parts)), order);
  const std::vector<double> wide(parts.begin(), parts.end());
  EXPECT_EQ(places(array(DType::complex128, {6}, wide)), order);
}

TEST_F(SorterTest, AnyAxisOfAnyViewIsSorted) {
  const Array a = array<std::int16_t>(DType::int16, {2, 3}, {3, 1, 2, 0, 5, 4});
  EXPECT_EQ(sorted<std::int16_t>(a, 1), (std::vector<std::int16_t>{1, 2, 3, 0, 4, 5}));
  EXPECT_EQ(sorted<std::int16_t>(a, 0), (std::vector<std::int16_t>{0, 1, 2, 3, 5, 4}));
  const Array turned{a.dtype, transpose(flip(a.view)), a.storage};  // {4, 2}, {5, 1}, {0, 3}
  EXPECT_EQ(sorted<std::int16_t>(turned, 1), (std::vector<std::int16_t>{2, 4, 1, 5, 0, 3}));
  EXPECT_EQ(sorter->sorted(a, 2, SortResult::elements).error().code, "axis_out_of_bounds");
  const Array none = launcher->allocate(DType::int16, {0, 3}).value();
  EXPECT_TRUE(sorter->sorted(none, 0, SortResult::places)->view.shape == (Dims{0, 3}));
}

TEST_F(SorterTest, UnsignedAndWideIntegersKeepTheirOrder) {
  constexpr std::uint64_t kTop = std::uint64_t{1} << 63;
  const std::vector<std::uint64_t> values{kTop, 0, ~std::uint64_t{0}, 1, kTop - 1};
  EXPECT_EQ(places(array(DType::uint64, {5}, values)), (std::vector<std::int64_t>{1, 3, 4, 0, 2}));
  const std::vector<std::uint32_t> narrow{1U << 31, 0, ~0U, 1};
  EXPECT_EQ(sorted<std::uint32_t>(array(DType::uint32, {4}, narrow)),
            (std::vector<std::uint32_t>{0, 1, 1U << 31, ~0U}));
}

TEST(ExchangeSteps, SortEveryPatternOfZerosAndOnes) {
  // A sorting network that sorts these inputs sorts all (Knuth's zero-one principle).
  for (std::int32_t length = 1; length <= 12; ++length) {
    const auto steps = ops::exchange_steps(length);
    for (std::uint32_t pattern = 0; pattern < 1U << length; ++pattern) {
      std::vector<int> row;
      for (std::int32_t i = 0; i < length; ++i) row.push_back(static_cast<int>(pattern >> i & 1U));
      for (const ops::ExchangeStep& step : steps)
        for (std::int32_t i = 0; i + step.distance < length; ++i)
          if ((i & step.bit) == step.wanted) {
            auto& low = row[static_cast<std::size_t>(i)];
            auto& high = row[static_cast<std::size_t>(i + step.distance)];
            if (low > high) std::swap(low, high);
          }
      ASSERT_TRUE(std::is_sorted(row.begin(), row.end())) << length << ' ' << pattern;
    }
  }
  EXPECT_EQ(ops::exchange_steps(1 << 20).size(), 20U * 21 / 2);
}

}  // namespace
}  // namespace arraycore
