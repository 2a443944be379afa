// Tests where arrays are stored, where operations run, what is copied, and writes that overlap
// reads.
#include "runtime/launcher.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "ir/builder.h"
#include "testing/fake_device.h"
#include "view/index.h"
#include "view/shape.h"

namespace arraycore {
namespace {

struct LauncherTest : testing::Test {
  LauncherTest() {
    auto owned = std::make_unique<FakeDevice>();
    device = owned.get();
    launcher =
        std::make_unique<Launcher>(make_cpu_backend(), std::move(owned), counters, std::nullopt);
  }

  template <typename T>
  Array array(DType dtype, const std::vector<T>& values) {
    Array made = launcher->allocate(dtype, {static_cast<std::int64_t>(values.size())}).value();
    EXPECT_TRUE(launcher->upload(made, values.data()));
    return made;
  }
  template <typename T>
  std::vector<T> read(const Array& from) {
    std::vector<T> values(static_cast<std::size_t>(from.view.count()));
    const Status status = launcher->download(from, std::as_writable_bytes(std::span(values)));
    EXPECT_TRUE(status) << status.error().message;
    return values;
  }
  static Array sliced(const Array& from, const Index& index) {
    const std::array<Index, 1> items{index};
    return {from.dtype, basic_index(from.view, items).value(), from.storage};
  }
  // Returns a kernel of y = x + 1, in one dtype.
  KernelRef plus_one(DType dtype) {
    ir::Builder builder("plus_one");
    const auto x = builder.in("x", dtype);
    const auto y = builder.out("y", dtype);
    builder.store(y, builder.read(x) + 1.0);
    return launcher->prepare(builder.take()).value();
  }
  Status run(KernelRef kernel, const Array& x, const Array& y) {
    const std::array<Operand, 2> operands{Operand{&x, {}}, Operand{&y, {}}};
    return launcher->launch({kernel, y.view.shape, 0, operands});
  }

  Counters counters;
  FakeDevice* device = nullptr;
  std::unique_ptr<Launcher> launcher;
};

TEST_F(LauncherTest, ADtypeLivesWhereItCanBeComputed) {
  array<float>(DType::float32, {1});
  EXPECT_EQ(device->storages, 0);  // gone with its array
  const Array single = array<float>(DType::float32, {1});
  const Array wide = array<double>(DType::float64, {1});
  EXPECT_EQ(device->storages, 1);
  EXPECT_EQ(counters.live_bytes, 12);
}

TEST_F(LauncherTest, WhatTheDeviceCanDoIsDoneThere) {
  const Array x = array<float>(DType::float32, {1, 2, 3});
  const Array y = launcher->allocate(DType::float32, {3}).value();
  ASSERT_TRUE(run(plus_one(DType::float32), x, y));
  EXPECT_EQ(read<float>(y), (std::vector<float>{2, 3, 4}));
  EXPECT_EQ(device->launches, 1);
  EXPECT_EQ(counters.dispatches, 1);
  EXPECT_EQ(counters.cpu_ops, 0);
  EXPECT_EQ(counters.bytes_down, 12);  // the reading itself
}

TEST_F(LauncherTest, DoublesStayOnTheCpuAndNothingCrosses) {
  const Array x = array<double>(DType::float64, {1, 2, 3});
  const Array y = launcher->allocate(DType::float64, {3}).value();
  ASSERT_TRUE(run(plus_one(DType::float64), x, y));
  EXPECT_EQ(counters.bytes_down, 0);
  EXPECT_EQ(counters.cpu_ops, 1);
  EXPECT_EQ(counters.dispatches, 0);
  EXPECT_EQ(device->launches, 0);
  EXPECT_EQ(read<double>(y), (std::vector<double>{2, 3, 4}));
}

TEST_F(LauncherTest, ACastBetweenTheTwoHomesBringsTheElementsAcrossOnce) {
  const Array x = array<float>(DType::float32, {1.5F, -2, 3});
  const auto wide = launcher->copy(x, DType::float64);
  ASSERT_TRUE(wide);
  EXPECT_EQ(read<double>(*wide), (std::vector<double>{1.5, -2, 3}));
  EXPECT_EQ(counters.cpu_ops, 1);
  const auto back = launcher->copy(*wide, DType::float32);
  ASSERT_TRUE(back);
  EXPECT_EQ(read<float>(*back), (std::vector<float>{1.5F, -2, 3}));
  EXPECT_EQ(counters.cpu_ops, 2);
}

TEST_F(LauncherTest, WhatTheDeviceRefusesTheCpuDoes) {
  for (const bool kernels : {true, false}) {
    device->refuses_kernels = kernels;
    device->refuses_launches = !kernels;
    counters = {};
    const Array x = array<float>(DType::float32, {1, 2, 3});
    const Array y = launcher->allocate(DType::float32, {3}).value();
    ASSERT_TRUE(run(plus_one(DType::float32), x, y));
    EXPECT_EQ(counters.cpu_ops, 1);
    EXPECT_EQ(counters.dispatches, 0);
    EXPECT_EQ(counters.bytes_down, 12);  // only x, because y is overwritten
    EXPECT_EQ(read<float>(y), (std::vector<float>{2, 3, 4}));
  }
}

TEST_F(LauncherTest, TheCpuWritesAPartOfADevicesArrayAndLeavesTheRest) {
  device->refuses_kernels = true;
  std::vector<std::int8_t> values(61);
  std::iota(values.begin(), values.end(), std::int8_t{0});
  for (const Index& part : {Index::slice(3, 50, 7), Index::slice(5, 6), Index::slice(59, 61),
                            Index::slice({}, {}, -1), Index::slice(17, 33)}) {
    const Array whole = array<std::int8_t>(DType::int8, values);
    const Array y = sliced(whole, part);
    std::vector<std::int8_t> expected = values;
    const std::int64_t count = y.view.count();
    for (std::int64_t i = 0; i < count; ++i)
      expected[static_cast<std::size_t>(y.view.offset + i * y.view.strides[0])] =
          static_cast<std::int8_t>(100 + i % 20);
    std::vector<std::int8_t> source(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i)
      source[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(99 + i % 20);
    const Array x = array<std::int8_t>(DType::int8, source);
    ASSERT_TRUE(run(plus_one(DType::int8), x, y));
    EXPECT_EQ(read<std::int8_t>(whole), expected);
  }
}

TEST_F(LauncherTest, AWriteThatOverlapsAReadInPartReadsACopy) {
  const Array whole = array<std::int32_t>(DType::int32, {0, 10, 20, 30, 40});
  const Array to = sliced(whole, Index::slice(1, {}));
  const Array from = sliced(whole, Index::slice({}, -1));
  ASSERT_TRUE(run(plus_one(DType::int32), from, to));
  EXPECT_EQ(read<std::int32_t>(whole), (std::vector<std::int32_t>{0, 1, 11, 21, 31}));
  EXPECT_EQ(device->launches, 2);  // the copy and the kernel
}

TEST_F(LauncherTest, ReversingInPlaceIsRight) {
  const Array whole = array<std::int32_t>(DType::int32, {1, 2, 3, 4});
  ASSERT_TRUE(launcher->assign(whole, sliced(whole, Index::slice({}, {}, -1))));
  EXPECT_EQ(read<std::int32_t>(whole), (std::vector<std::int32_t>{4, 3, 2, 1}));
}

TEST_F(LauncherTest, InPlaceAndApartNeedNoCopy) {
  const Array whole = array<std::int32_t>(DType::int32, {1, 2, 3, 4});
  ASSERT_TRUE(run(plus_one(DType::int32), whole, whole));
  ASSERT_TRUE(run(plus_one(DType::int32), sliced(whole, Index::slice(0, {}, 2)),
                  sliced(whole, Index::slice(1, {}, 2))));
  EXPECT_EQ(read<std::int32_t>(whole), (std::vector<std::int32_t>{2, 3, 4, 5}));
  EXPECT_EQ(device->launches, 2);
}

TEST_F(LauncherTest, AnElementBroadcastOverItsOwnArrayIsReadBeforeItIsWritten) {
  const Array whole = array<std::int32_t>(DType::int32, {5, 1, 2});
  ASSERT_TRUE(run(plus_one(DType::int32), sliced(whole, Index::slice(0, 1)), whole));
  EXPECT_EQ(read<std::int32_t>(whole), (std::vector<std::int32_t>{6, 6, 6}));
}

TEST_F(LauncherTest, TwoResultsThatOverlapInPartAreRefused) {
  ir::Builder builder("both");
  const auto y = builder.out("y", DType::int32), z = builder.out("z", DType::int32);
  builder.store(y, builder.loop_index());
  builder.store(z, builder.loop_index());
  const KernelRef kernel = launcher->prepare(builder.take()).value();
  const Array whole = array<std::int32_t>(DType::int32, {0, 0, 0});
  const Array first = sliced(whole, Index::slice(0, 2)), second = sliced(whole, Index::slice(1, 3));
  const std::array<Operand, 2> operands{Operand{&first, {}}, Operand{&second, {}}};
  const Status status = launcher->launch({kernel, {2}, 0, operands});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, "outputs_overlap");
}

// Returns an array of this dtype over the bytes from `offset` on.
Array over(const Array& bytes, DType dtype, std::int64_t offset, std::int64_t count) {
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  return {dtype, View{{count}, {size}, offset}, bytes.storage};
}

TEST_F(LauncherTest, WhatLiesBetweenWholeElementsStaysOnTheDevice) {
  std::vector<std::uint8_t> bytes(40);
  const std::vector<float> numbers{1, -2, 3};
  for (const std::int64_t offset : {1, 2, 4, 7}) {
    std::fill(bytes.begin(), bytes.end(), std::uint8_t{0xee});
    std::memcpy(bytes.data() + offset, numbers.data(), 12);
    const Array storage = array(DType::uint8, bytes);
    const Array x = over(storage, DType::float32, offset, 3);
    const Array y = over(storage, DType::float32, offset + 14, 3);
    ASSERT_TRUE(run(plus_one(DType::float32), x, y));
    EXPECT_EQ(counters.bytes_down, 0);
    const std::vector<std::uint8_t> after = read<std::uint8_t>(storage);
    const std::vector<float> expected{2, -1, 4};
    std::memcpy(bytes.data() + offset + 14, expected.data(), 12);
    EXPECT_EQ(after, bytes) << offset;
    EXPECT_EQ(read<float>(y), expected);
    counters.bytes_down = 0;
  }
  EXPECT_EQ(counters.cpu_ops, 0);
}

TEST_F(LauncherTest, AnEmptyLoopLaunchesNothing) {
  const Array storage = array<std::uint8_t>(DType::uint8, {1, 2, 3});
  const Array none = over(storage, DType::float32, 1, 0);
  ASSERT_TRUE(launcher->assign(none, none));
  ASSERT_TRUE(run(plus_one(DType::float32), none, none));
  EXPECT_EQ(device->launches, 0);
  EXPECT_EQ(counters.dispatches, 0);
  EXPECT_EQ(counters.cpu_ops, 0);
}

TEST_F(LauncherTest, ACopyOfOneDtypeKeepsEveryBit) {
  // The bits of signalling NaNs and subnormal numbers, which some devices change if they treat them
  // as floats.
  const std::vector<std::uint32_t> bits{0x7f800001, 0xffa00002, 0x00000003, 0x80000004};
  const Array raw = array(DType::uint32, bits);
  const Array x = over(raw, DType::float32, 0, 4);
  const Array y = launcher->copy(x, DType::float32).value();
  EXPECT_EQ(y.dtype, DType::float32);
  EXPECT_EQ(read<std::uint32_t>(y), bits);
  EXPECT_EQ(device->dtypes, (std::set<DType>{DType::uint32}));
}

TEST_F(LauncherTest, ABroadcastViewIsReadOnly) {
  const Array one = array<std::int32_t>(DType::int32, {1});
  const Array wide{DType::int32, broadcast_to(one.view, {3}).value(), one.storage};
  EXPECT_EQ(launcher->assign(wide, one).error().code, "read_only");
  EXPECT_EQ(launcher->fill(wide, {}).error().code, "read_only");
  EXPECT_EQ(read<std::int32_t>(wide), (std::vector<std::int32_t>{1, 1, 1}));
}

TEST_F(LauncherTest, ViewsComeDownInTheirOwnOrder) {
  const Array bytes = array<std::int8_t>(DType::int8, {0, 1, 2, 3, 4, 5, 6});
  EXPECT_EQ(read<std::int8_t>(sliced(bytes, Index::slice(3, 6))),
            (std::vector<std::int8_t>{3, 4, 5}));
  EXPECT_EQ(read<std::int8_t>(sliced(bytes, Index::slice({}, {}, -3))),
            (std::vector<std::int8_t>{6, 3, 0}));
  EXPECT_EQ(read<std::int8_t>(sliced(bytes, Index::slice(4, 4))), std::vector<std::int8_t>{});
}

TEST_F(LauncherTest, NothingIsLeftOfAFailedLaunchOnTheCpuSide) {
  device->failure = {ErrorKind::device_lost, "device_lost", "The device is gone."};
  const Array x = array<float>(DType::float32, {1});
  const Status status = run(plus_one(DType::float32), x, x);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, "device_lost");
  EXPECT_EQ(counters.cpu_ops, 0);
  EXPECT_EQ(counters.live_bytes, 4);
}

// Computes y[row] += sum(x[row] - m[row]), where m and y may be in the same memory.
TEST_F(LauncherTest, AReductionMayWriteWhatItsRowsRead) {
  ir::Builder k("sum_from");
  const auto x = k.in("x", DType::int32);
  const auto m = k.in("m", DType::int32);
  const auto y = k.in_out("y", DType::int32);
  k.reduce(
      k.read(x) - k.read(m), k.integer(DType::int32, 0),
      [](ir::Value a, ir::Value b) { return a + b; },
      [&](ir::Value total) { k.store(y, k.read(y) + total); });
  const KernelRef kernel = launcher->prepare(k.take()).value();
  Array numbers = array<std::int32_t>(DType::int32, {1, 2, 3, 10, 20, 30});
  numbers.view = View{{2, 3}, {12, 4}, 0};
  const auto reduce = [&](const View& shown) {
    const Array result = array<std::int32_t>(DType::int32, {5, 100});
    const Array from{DType::int32, shown, result.storage};
    const std::array<Operand, 3> operands{Operand{&numbers, {}}, Operand{&from, {}},
                                          Operand{&result, {}}};
    const std::int64_t before = counters.dispatches;
    EXPECT_TRUE(launcher->launch({kernel, {2, 3}, 2, operands}));
    const std::int64_t launches = counters.dispatches - before;
    return std::pair(launches, read<std::int32_t>(result));
  };
  const std::vector<std::int32_t> in_step{5 + 6 - 15, 100 + 60 - 300};
  const std::vector<std::int32_t> crossed{5 + 6 - 300, 100 + 60 - 15};
  EXPECT_EQ(reduce(View{{2, 1}, {4, 4}, 0}), std::pair(std::int64_t{1}, in_step));
  EXPECT_EQ(reduce(View{{2, 1}, {-4, 4}, 4}), std::pair(std::int64_t{2}, crossed));
}

TEST_F(LauncherTest, AProductThatTheDeviceHasNoKernelForIsTheCpus) {
  const auto matrix = [&](std::int64_t rows, std::int64_t columns, std::vector<float> values) {
    const Array made = launcher->allocate(DType::float32, {rows, columns}).value();
    EXPECT_TRUE(launcher->upload(made, values.data()));
    return made;
  };
  const Array a = matrix(2, 3, {1, 2, 3, 4, 5, 6});
  const Array b = matrix(3, 1, {1, 10, 100});
  const Array whole = matrix(3, 1, {-1, -1, -1});
  Array out{DType::float32, whole.view, whole.storage};  // its last two rows
  out.view.shape = {2, 1};
  out.view.offset = 4;
  const gemm::Problem problem = gemm::problem_of(DType::float32, a.view, b.view, out.view);
  ASSERT_TRUE(launcher->multiply(problem, a, b, out));
  EXPECT_EQ(read<float>(whole), (std::vector<float>{-1, 321, 654}));
  EXPECT_EQ(counters.cpu_ops, 1);
  EXPECT_EQ(device->launches, 0);

  const Array plain = launcher->allocate(DType::float32, {2, 1}).value();
  ASSERT_TRUE(launcher->multiply(a, b, plain));  // as a reduction
  EXPECT_EQ(read<float>(plain), (std::vector<float>{321, 654}));
  EXPECT_EQ(counters.cpu_ops, 1);
  EXPECT_GT(device->launches, 0);
}

}  // namespace
}  // namespace arraycore
