// Tests which operations wait, which are fused into one launch, and which are launched before
// others.
#include "runtime/fusion.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "abi/calls/context.h"
#include "ir/builder.h"
#include "testing/fake_device.h"
#include "testing/recorded_ring.h"
#include "view/index.h"
#include "view/shape.h"

namespace arraycore {
namespace {

struct FusionTest : testing::Test {
  FusionTest() { open(std::nullopt); }
  void open(std::optional<std::int64_t> budget) {
    launcher.reset();
    counters = {};
    auto owned = std::make_unique<FakeDevice>();
    device = owned.get();
    launcher = std::make_unique<Launcher>(make_cpu_backend(), std::move(owned), counters, budget);
    EXPECT_TRUE(launcher->set_fusing(true));
    calls = std::make_unique<UFuncCalls>(*launcher);
  }

  Array array(const std::vector<float>& values, Dims shape = {}) {
    if (shape.empty()) shape = {static_cast<std::int64_t>(values.size())};
    Array made = launcher->allocate(DType::float32, shape).value();
    EXPECT_TRUE(launcher->upload(made, values.data()));
    return made;
  }
  std::vector<float> read(const Array& from) {
    std::vector<float> values(static_cast<std::size_t>(from.view.count()));
    const Status status = launcher->download(from, std::as_writable_bytes(std::span(values)));
    EXPECT_TRUE(status) << status.error().message;
    return values;
  }
  UFuncOperand operand(const Array& of) {
    UFuncOperand made;
    made.array = &of;
    return made;
  }
  UFuncOperand operand(double number) {
    UFuncOperand made;
    made.python = PythonScalar::floating;
    made.value = ir::put(number);
    return made;
  }
  template <typename A, typename B>
  Array call(const char* name, const A& a, const B& b, const Array* out = nullptr) {
    const std::array<UFuncOperand, 2> operands{operand(a), operand(b)};
    UFuncCall made;
    made.ufunc = ops::find(name).value();
    made.operands = operands;
    made.out[0] = out;
    auto results = calls->run(made);
    EXPECT_TRUE(results) << results.error().message;
    return results ? std::move(results->arrays[0]) : Array{};
  }
  static Array part(const Array& of, const Index& index) {
    const std::array<Index, 1> items{index};
    return {of.dtype, basic_index(of.view, items).value(), of.storage};
  }
  KernelRef sum() {
    ir::Builder k("sum");
    const auto x = k.in("x", DType::float32);
    const auto y = k.out("y", DType::float32);
    k.reduce(
        k.read(x), k.constant(DType::float32, 0), [](ir::Value a, ir::Value b) { return a + b; },
        [&](ir::Value total) { k.store(y, total); });
    return launcher->prepare(k.take()).value();
  }
  Array sum_of(const Array& x) {
    Array result = launcher->allocate(DType::float32, {}).value();
    const std::array<Operand, 2> operands{Operand{&x, {}}, Operand{&result, {}}};
    EXPECT_TRUE(launcher->launch({sum(), x.view.shape, (1U << x.view.ndim()) - 1, operands}));
    return result;
  }

  Counters counters;
  FakeDevice* device = nullptr;
  std::unique_ptr<Launcher> launcher;
  std::unique_ptr<UFuncCalls> calls;
};

TEST_F(FusionTest, AChainOfTwentyIsOneLaunchAndItsTemporariesNeverGetMemory) {
  const Array x = array({1, 2, 3});
  Array y = x;
  for (int i = 0; i < 20; ++i) y = call(i % 2 == 0 ? "multiply" : "add", y, 2.0);
  EXPECT_EQ(device->launches, 0);
  EXPECT_EQ(device->storages, 1);
  EXPECT_EQ(counters.live_bytes, 24);
  std::vector<float> expected{1, 2, 3};
  for (float& each : expected)
    for (int i = 0; i < 20; ++i) each = i % 2 == 0 ? each * 2 : each + 2;
  EXPECT_EQ(read(y), expected);
  EXPECT_EQ(counters.dispatches, 1);
  EXPECT_EQ(counters.fused, 19);
  EXPECT_EQ(device->storages, 2);
}

TEST_F(FusionTest, ANormalisationWithItsActivationIsOneLaunch) {
  const Array x = array({1, 2, 3, 4, 5, 6}, {2, 3});
  const Array m = array({1, 1, 1}), r = array({2, 2, 2}), g = array({-1, 1, 1}),
              b = array({1, 2, 3});
  const Array y = [&] {
    const Array scaled = call("multiply", call("multiply", call("subtract", x, m), r), g);
    return call("maximum", call("add", scaled, b), 0.0);
  }();
  EXPECT_EQ(read(y), (std::vector<float>{1, 4, 7, 0, 10, 13}));
  EXPECT_EQ(counters.dispatches, 1);
}

TEST_F(FusionTest, TheSumOfAChainIsTheSumsOwnLaunch) {
  const Array x = array({1, 2, 3});
  Array total;
  {
    const Array chain = call("add", call("multiply", x, 2.0), 1.0);
    total = sum_of(chain);
  }
  EXPECT_EQ(read(total), (std::vector<float>{15}));
  EXPECT_EQ(counters.dispatches, 1);
  EXPECT_EQ(device->storages, 2);

  const Array held = call("add", call("multiply", x, 2.0), 1.0);
  total = sum_of(held);
  EXPECT_EQ(read(total), (std::vector<float>{15}));
  EXPECT_EQ(counters.dispatches, 3);  // the chain is stored, because it is held
  EXPECT_EQ(read(held), (std::vector<float>{3, 5, 7}));
}

TEST_F(FusionTest, TwoReductionsOfOneTemporaryComputeItOnce) {
  const Array x = array({1, 2, 3});
  Array one, two;
  {
    const Array chain = call("multiply", x, 2.0);
    one = sum_of(chain);
    two = sum_of(chain);
  }
  EXPECT_EQ(read(one), (std::vector<float>{12}));
  EXPECT_EQ(read(two), (std::vector<float>{12}));
  EXPECT_EQ(counters.dispatches, 3);
  EXPECT_EQ(device->storages, 3);  // the temporary is gone again
}

TEST_F(FusionTest, ADiamondIsOneLaunchAndWhatIsHeldIsStoredByIt) {
  const Array x = array({1, 2, 3});
  const Array square = call("multiply", x, x);
  const Array up = call("add", square, 1.0);
  const Array product = call("multiply", up, call("subtract", square, 1.0));
  EXPECT_EQ(read(product), (std::vector<float>{0, 15, 80}));
  EXPECT_EQ(counters.dispatches, 1);
  EXPECT_EQ(read(square), (std::vector<float>{1, 4, 9}));
  EXPECT_EQ(read(up), (std::vector<float>{2, 5, 10}));
  EXPECT_EQ(counters.dispatches, 1);
}

TEST_F(FusionTest, WhatNobodyHoldsIsNotComputed) {
  const Array x = array({1, 2, 3});
  call("add", call("multiply", x, 2.0), 1.0);
  EXPECT_TRUE(launcher->flush());
  EXPECT_EQ(counters.dispatches, 0);
  EXPECT_EQ(counters.live_bytes, 12);
}

TEST_F(FusionTest, AWriteComesAfterTheReadsBeforeIt) {
  const Array x = array({1, 2, 3});
  const Array y = call("add", x, 1.0);
  EXPECT_TRUE(launcher->fill(part(x, Index::slice(0, 2)), ir::scalar_of(DType::float32, 9.0)));
  EXPECT_EQ(read(y), (std::vector<float>{2, 3, 4}));
  EXPECT_EQ(read(x), (std::vector<float>{9, 9, 3}));

  const Array z = call("add", x, 1.0);
  call("multiply", z, 2.0, &x);  // reads z, and writes what z reads
  EXPECT_EQ(read(x), (std::vector<float>{20, 20, 8}));
  EXPECT_EQ(read(z), (std::vector<float>{10, 10, 4}));

  const Array before = call("add", x, 0.0);
  EXPECT_TRUE(launcher->fill_zero(x));
  EXPECT_EQ(read(before), (std::vector<float>{20, 20, 8}));
}

TEST_F(FusionTest, AChainGoesStraightIntoAView) {
  const Array x = array({1, 2, 3, 4});
  const std::int64_t before = counters.dispatches;
  EXPECT_TRUE(
      launcher->assign(part(x, Index::slice(1, {})),
                       call("multiply", call("add", part(x, Index::slice({}, -1)), 1.0), 10.0)));
  EXPECT_EQ(read(x), (std::vector<float>{1, 20, 30, 40}));
  EXPECT_LE(counters.dispatches - before, 2);  // a copy of what overlaps, and the chain
}

TEST_F(FusionTest, ANewArrayIsOverwrittenWithoutALaunchOfItsOwn) {
  const Array x = array({1, 2, 3});
  const Array y = call("multiply", x, 2.0);
  call("add", y, 1.0, &y);
  call("multiply", y, y, &y);
  EXPECT_EQ(read(y), (std::vector<float>{9, 25, 49}));
  EXPECT_EQ(counters.dispatches, 1);
}

TEST_F(FusionTest, PartsAndBroadcastsOfAResultReadItFromMemory) {
  const Array x = array({1, 2, 3});
  const Array y = call("multiply", x, 2.0);
  EXPECT_EQ(read(call("add", part(y, Index::slice({}, {}, -1)), 1.0)),
            (std::vector<float>{7, 5, 3}));
  const Array wide = array({0, 0, 0, 10, 10, 10}, {2, 3});
  const Array z = call("multiply", x, 3.0);
  EXPECT_EQ(read(call("add", wide, z)), (std::vector<float>{3, 6, 9, 13, 16, 19}));
}

TEST_F(FusionTest, TheTwoHomesDoNotMeetInOneKernel) {
  const Array x = array({1, 2, 3});
  const Array y = call("multiply", x, 2.0);
  const auto wide = launcher->copy(y, DType::float64);
  ASSERT_TRUE(wide);
  const Array more = call("add", *wide, 1.0);
  std::vector<double> values(3);
  EXPECT_TRUE(launcher->download(more, std::as_writable_bytes(std::span(values))));
  EXPECT_EQ(values, (std::vector<double>{3, 5, 7}));
}

TEST_F(FusionTest, WhatTheDeviceRefusesTogetherItDoesAlone) {
  device->refuses = [](const ir::Kernel& kernel) {
    return kernel.name.find('+') != std::string::npos;
  };
  for (int times = 0; times < 2; ++times) {
    const Array x = array({1, 2, 3});
    const Array y = call("add", call("multiply", x, 2.0), 1.0);
    EXPECT_EQ(read(y), (std::vector<float>{3, 5, 7}));
    EXPECT_EQ(counters.cpu_ops, 0);
    EXPECT_EQ(counters.dispatches, 2 * (times + 1));
    EXPECT_EQ(counters.fused, 0);
  }
}

TEST_F(FusionTest, AFailureIsRaisedByWhatSettlesAndTheArraysStay) {
  const Array x = array({1, 2, 3});
  const Array y = call("add", call("multiply", x, 2.0), 1.0);
  device->failure = {ErrorKind::device, "validation", "The device says no."};
  std::vector<float> values(3);
  const Status failed = launcher->download(y, std::as_writable_bytes(std::span(values)));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, "validation");
  device->failure = {ErrorKind::none, "", ""};
  EXPECT_EQ(read(y), (std::vector<float>{3, 5, 7}));
}

TEST_F(FusionTest, TheBudgetIsCheckedWhenAnOperationIsCalled) {
  open(40);
  const Array x = array({1, 2, 3});
  const Array y = call("multiply", x, 2.0);
  const Array z = call("multiply", y, 2.0);
  EXPECT_EQ(launcher->allocate(DType::float32, {3}).error().code, "over_budget");
  EXPECT_EQ(read(z), (std::vector<float>{4, 8, 12}));
  EXPECT_LE(counters.peak_bytes, 40);
}

TEST_F(FusionTest, AKernelBindsNoMoreThanADeviceHas) {
  std::vector<Array> held;
  const Array x = array({1, 2, 3});
  held.push_back(x);
  for (int i = 1; i <= 20; ++i) held.push_back(call("add", held.back(), 1.0));
  for (int i = 0; i <= 20; ++i)
    EXPECT_EQ(read(held[static_cast<std::size_t>(i)])[0], static_cast<float>(1 + i));
  EXPECT_LE(device->most_arrays, Fusion::kMaxArrays);
  EXPECT_LE(counters.dispatches, 4);
}

TEST_F(FusionTest, TurnedOffEverythingThatWaitsIsLaunched) {
  const Array x = array({1, 2, 3});
  const Array y = call("multiply", x, 2.0);
  EXPECT_TRUE(launcher->set_fusing(false));
  EXPECT_EQ(counters.dispatches, 1);
  const Array z = call("add", y, 1.0);
  EXPECT_EQ(counters.dispatches, 2);
  EXPECT_EQ(read(z), (std::vector<float>{3, 5, 7}));
}

// ---- arrays that Python holds by ids, and frees

struct FusionContextTest : testing::Test {
  FusionContextTest() : context(make_cpu_backend(), nullptr, arrays, std::nullopt) {
    EXPECT_TRUE(context.launcher().set_fusing(true));
  }
  ArrayId made(std::size_t elements) {
    const std::vector<float> values(elements, 1.0F);
    return context.create(DType::float32, {static_cast<std::int64_t>(elements)}, values.data())
        .value();
  }
  ArrayId doubled(ArrayId id) {
    std::array<UFuncOperand, 2> operands;
    operands[0].array = operands[1].array = context.get(id).value();
    UFuncCall call;
    call.ufunc = ops::find("add").value();
    call.operands = operands;
    return context.insert(std::move(context.ufuncs().run(call)->arrays[0])).value();
  }
  Status let_go(ArrayId id) { return context.let_go({&id, 1}); }

  ArrayTable arrays;
  Context context;
};

TEST_F(FusionContextTest, WhatAloneHoldsMuchMemoryIsSettledAtOnce) {
  const ArrayId x = made(1000);
  const ArrayId y = doubled(x);
  EXPECT_EQ(context.counters().live_bytes, 8000);
  EXPECT_TRUE(let_go(x));
  EXPECT_EQ(context.counters().dispatches, 1);
  EXPECT_EQ(context.counters().live_bytes, 4000);
  std::vector<float> values(1000);
  EXPECT_TRUE(context.read(y, std::as_writable_bytes(std::span(values))));
  EXPECT_EQ(values[999], 2);
}

TEST_F(FusionContextTest, WhatAloneHoldsLittleWaits) {
  const ArrayId large = made(100);
  const ArrayId x = made(5);
  const ArrayId y = doubled(x);
  EXPECT_TRUE(let_go(x));
  EXPECT_EQ(context.counters().dispatches, 0);
  EXPECT_EQ(context.counters().pinned_bytes, 20);
  EXPECT_LE(context.counters().live_bytes * 10, (400 + 20) * 11);
  EXPECT_TRUE(let_go(y));
  EXPECT_EQ(context.counters().pinned_bytes, 0);
  EXPECT_EQ(context.counters().live_bytes, 400);
  EXPECT_EQ(context.counters().dispatches, 0);
  EXPECT_TRUE(let_go(large));
  EXPECT_EQ(context.counters().live_bytes, 0);
}

TEST_F(FusionContextTest, AResetDropsWhatWaits) {
  const ArrayId y = doubled(doubled(made(8)));
  EXPECT_TRUE(context.reset());
  EXPECT_EQ(context.counters().live_bytes, 0);
  EXPECT_EQ(context.counters().dispatches, 0);
  EXPECT_EQ(context.get(y).error().code, "array_freed");
  EXPECT_TRUE(context.launcher().is_fusing());
  std::vector<float> values(2);
  EXPECT_TRUE(context.read(doubled(made(2)), std::as_writable_bytes(std::span(values))));
  EXPECT_EQ(values, (std::vector<float>{2, 2}));
}

// ---- the commands that a device gets

TEST(FusionOnTheRing, AnotherScalarIsNoOtherPipeline) {
  RecordedRing ring;
  ASSERT_TRUE(ring.opened);
  Counters counters;
  Launcher launcher(make_cpu_backend(), std::move(ring.backend), counters, std::nullopt);
  ASSERT_TRUE(launcher.set_fusing(true));
  UFuncCalls calls(launcher);
  const auto with = [&](const Array& x, const char* name, double number) {
    std::array<UFuncOperand, 2> operands;
    operands[0].array = &x;
    operands[1].python = PythonScalar::floating;
    operands[1].value = ir::put(number);
    UFuncCall call;
    call.ufunc = ops::find(name).value();
    call.operands = operands;
    return std::move(calls.run(call)->arrays[0]);
  };
  const Array x = launcher.allocate(DType::float32, {1000}).value();
  ASSERT_TRUE(launcher.fill_zero(x));
  for (const double number : {1.0, 2.0, 3.0}) {
    const Array y = with(with(with(x, "multiply", number), "add", number + 1), "maximum", 0.0);
    ASSERT_TRUE(launcher.prepare_read(y));
  }
  ASSERT_TRUE(launcher.raw_backend().download(1, 0, {}));
  EXPECT_EQ(counters.dispatches, 3);
  ASSERT_EQ(ring.executor->pipelines().size(), 1U);
  EXPECT_EQ(ring.executor->pipelines().begin()->second.label.substr(0, 21),
            "multiply+add+maximum ");
}

}  // namespace
}  // namespace arraycore
