// Tests the library's state with a back end that fails when a test says so: the budget, the
// counters, and that a failed call leaves no array or memory behind.
#include "abi/calls/context.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

#include "abi/calls/calls.h"
#include "abi/calls/ufuncs.h"
#include "arraycore/arraycore.h"
#include "backend/cpu/cpu_backend.h"
#include "testing/fake_device.h"

namespace arraycore {
namespace {

Result<ArrayId> call(Context& context, std::string_view ufunc, ArrayId a, ArrayId b) {
  return calls::binary(context, ops::find(ufunc).value(), a, b);
}

struct ContextTest : testing::Test {
  ArrayTable arrays;
  Context context{make_cpu_backend(), nullptr, arrays, 1000};

  ArrayId array(std::vector<float> values) {
    const Dims shape{static_cast<std::int64_t>(values.size())};
    return context.create(DType::float32, shape, values.data()).value();
  }
  std::vector<float> values(ArrayId id) {
    std::vector<float> out(static_cast<std::size_t>(context.describe(id)->view.count()));
    EXPECT_TRUE(context.read(id, std::as_writable_bytes(std::span(out))));
    return out;
  }
};

TEST_F(ContextTest, EachBinaryOperationComputesItsOwn) {
  const ArrayId a = array({1, 2, 3}), b = array({4, 8, 2});
  const auto run = [&](std::string_view op) { return values(call(context, op, a, b).value()); };
  EXPECT_EQ(run("add"), (std::vector<float>{5, 10, 5}));
  EXPECT_EQ(run("subtract"), (std::vector<float>{-3, -6, 1}));
  EXPECT_EQ(run("multiply"), (std::vector<float>{4, 16, 6}));
  EXPECT_EQ(run("divide"), (std::vector<float>{0.25F, 0.25F, 1.5F}));
  EXPECT_EQ(context.counters().dispatches, 4);
}

TEST_F(ContextTest, WhatACallerDoesForADeviceCountsAsTheCpus) {
  const auto helped = [](Context& library, std::vector<std::int32_t> numbers) {
    Words words(numbers);
    return calls::find(AC_CALL_HELPED)(library, words);
  };
  ASSERT_TRUE(helped(context, {}));
  EXPECT_EQ(context.counters().cpu_ops, 0) << "without a device nobody is helped";
  ArrayTable others;
  Context device(make_cpu_backend(), std::make_unique<FakeDevice>(), others, std::nullopt);
  ASSERT_TRUE(helped(device, {}));
  EXPECT_EQ(device.counters().cpu_ops, 1);
  EXPECT_EQ(helped(device, {1}).error().code, "bad_call");
  EXPECT_EQ(device.counters().cpu_ops, 1);
}

TEST_F(ContextTest, ANumberStandsOnTheSideItWasWrittenOn) {
  const ArrayId a = array({1, 2});
  const auto minus = [&](bool left) {
    const ops::UFuncId subtract = ops::find("subtract").value();
    return values(calls::binary_scalar(context, subtract, a, 10, AC_PYTHON_INT, left).value());
  };
  EXPECT_EQ(minus(false), (std::vector<float>{-9, -8}));
  EXPECT_EQ(minus(true), (std::vector<float>{9, 8}));
}

TEST_F(ContextTest, OneElementIsToldAsADoubleWhereOneHoldsItExactly) {
  const auto item = [&](DType dtype, const auto& element) {
    return context.item(context.create(dtype, {1, 1}, &element).value());
  };
  EXPECT_EQ(item(DType::float32, 0.1F).value(), 0.1F);
  EXPECT_EQ(item(DType::float64, 0.1).value(), 0.1);
  EXPECT_EQ(item(DType::float16, std::uint16_t{0xC100}).value(), -2.5);
  EXPECT_EQ(item(DType::int8, std::int8_t{-3}).value(), -3.0);
  EXPECT_EQ(item(DType::uint32, 0xFFFF'FFFFU).value(), 4294967295.0);
  EXPECT_EQ(item(DType::boolean, true).value(), 1.0);
  EXPECT_EQ(item(DType::int64, std::int64_t{1}).value(), std::nullopt);
  EXPECT_EQ(item(DType::complex64, std::array<float, 2>{1, 0}).value(), std::nullopt);
  EXPECT_EQ(context.item(array({1, 2})).value(), std::nullopt);
  EXPECT_EQ(context.item(array({})).value(), std::nullopt);
  EXPECT_EQ(context.item(7).error().code, "array_freed");
}

TEST_F(ContextTest, OverBudgetIsAMemoryErrorThatNamesTheNumbersAndChangesNothing) {
  array(std::vector<float>(200));
  const auto refused = context.create(DType::float32, {51}, nullptr);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::memory);
  EXPECT_EQ(refused.error().message,
            "204 bytes for an array of shape (51,) do not fit: 800 of 1000 bytes are in use.");
  EXPECT_EQ(context.counters().live_bytes, 800);
  EXPECT_TRUE(context.create(DType::float32, {50}, nullptr));
  EXPECT_EQ(context.counters().peak_bytes, 1000);
}

TEST_F(ContextTest, SizesThatOverflowAreErrorsInEmptyArraysToo) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 40;
  EXPECT_EQ(context.create(DType::float32, {kHuge, kHuge}, nullptr).error().code, "array_too_big");
  EXPECT_EQ(context.create(DType::float32, {2, -1}, nullptr).error().code, "negative_dimension");
  EXPECT_EQ(context.create(DType::float32, {kHuge, 0, kHuge}, nullptr).error().code,
            "array_too_big");
  const auto empty = context.create(DType::float32, {kHuge, 0}, nullptr);
  ASSERT_TRUE(empty);
  EXPECT_EQ(values(*empty), std::vector<float>{});
}

TEST_F(ContextTest, AnArrayThatWasReleasedRaisesAndItsBytesAreFree) {
  const ArrayId a = array({1, 2});
  context.release(a);
  EXPECT_EQ(call(context, "add", a, a).error().code, "array_freed");
  EXPECT_EQ(context.counters().live_bytes, 0);
}

TEST_F(ContextTest, ResetFreesEverythingAndOldIdsStayDead) {
  const ArrayId a = array({1, 2});
  ASSERT_TRUE(context.reset());
  EXPECT_EQ(context.counters().peak_bytes, 0);
  const ArrayId b = array({3, 4});
  EXPECT_FALSE(context.describe(a));
  EXPECT_EQ(values(b), (std::vector<float>{3, 4}));
}

TEST_F(ContextTest, ZerosAreZerosInUsedMemoryToo) {
  const ArrayId a = array(std::vector<float>(100, 7));
  context.release(a);
  EXPECT_EQ(values(context.create(DType::float32, {100}, nullptr).value()),
            std::vector<float>(100, 0));
}

TEST(ContextFaults, AFailedLaunchKeepsNoStorageAndCountsNoDispatch) {
  auto owned = std::make_unique<FakeDevice>();
  FakeDevice& device = *owned;
  device.failure = {ErrorKind::device_lost, "device_lost", "The device is gone."};
  ArrayTable arrays;
  Context context(make_cpu_backend(), std::move(owned), arrays, std::nullopt);
  const float one = 1;
  const ArrayId a = context.create(DType::float32, {1}, &one).value();
  const auto sum = call(context, "add", a, a);
  ASSERT_FALSE(sum);
  EXPECT_EQ(sum.error().kind, ErrorKind::device_lost);
  EXPECT_EQ(device.storages, 1);
  EXPECT_EQ(context.counters().dispatches, 0);
  EXPECT_EQ(context.live_arrays(), 1);
}

}  // namespace
}  // namespace arraycore
