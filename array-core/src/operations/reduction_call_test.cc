// Tests calls of reductions: axes, dtypes, reductions without elements, launches, and ufuncs whose
// order matters.
#include "operations/reduction_call.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "testing/fake_device.h"

namespace arraycore {
namespace {

using ops::find_reduction;

struct ReductionCallTest : testing::Test {
  template <typename T>
  Array array(DType dtype, const Dims& shape, const std::vector<T>& values) {
    Array made = launcher.allocate(dtype, shape).value();
    EXPECT_TRUE(launcher.upload(made, values.data()));
    return made;
  }
  template <typename T>
  std::vector<T> read(const Array& from) {
    std::vector<T> values(static_cast<std::size_t>(from.view.count()));
    EXPECT_TRUE(launcher.download(from, std::as_writable_bytes(std::span(values))));
    return values;
  }
  Result<std::optional<Array>> run(std::string_view name, const Array& of,
                                   ReductionCall call = {}) {
    call.reduction = find_reduction(name);
    call.x = &of;
    return calls.run(call);
  }
  Result<std::optional<Array>> reduce(std::string_view ufunc, const Array& of,
                                      ReductionCall call = {}) {
    call.ufunc = *ops::find(ufunc);
    call.x = &of;
    return calls.run(call);
  }
  static ReductionCall along(const Dims& axes) {
    ReductionCall call;
    call.axes = axes;
    return call;
  }
  template <typename Change>
  static ReductionCall with(Change change) {
    ReductionCall call;
    change(call);
    return call;
  }
  static AccumulateCall totals(std::string_view ufunc, const Array& of, std::int64_t axis) {
    AccumulateCall call;
    call.ufunc = *ops::find(ufunc);
    call.x = &of;
    call.axis = axis;
    return call;
  }
  static std::string code(const Result<std::optional<Array>>& result) {
    return result ? "" : result.error().code;
  }

  Counters counters;
  Launcher launcher{make_cpu_backend(), std::make_unique<FakeDevice>(), counters, std::nullopt};
  ReductionCalls calls{launcher};
  const Array x = array<float>(DType::float32, {2, 3}, {1, 5, 2, 8, 3, 8});
};

TEST_F(ReductionCallTest, AxesGoOrStay) {
  const auto all = run("sum", x);
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ((*all)->view.shape, Dims{});
  EXPECT_EQ(read<float>(**all), std::vector<float>{27});
  const auto kept = run("max", x, with([](ReductionCall& call) {
                          call.axes = Dims{-1};
                          call.keep_dims = true;
                        }));
  EXPECT_EQ((*kept)->view.shape, (Dims{2, 1}));
  EXPECT_EQ(read<float>(**kept), (std::vector<float>{5, 8}));
  EXPECT_EQ(code(run("sum", x, along(Dims{2}))), "axis_out_of_bounds");
  EXPECT_EQ(code(run("sum", x, along(Dims{0, -2}))), "repeated_axis");
}

TEST_F(ReductionCallTest, PlacesAreTheFirstAndInt64) {
  const auto places = run("argmax", x, along(Dims{1}));
  ASSERT_TRUE(places) << places.error().message;
  EXPECT_EQ((*places)->dtype, DType::int64);
  EXPECT_EQ(read<std::int64_t>(**places), (std::vector<std::int64_t>{1, 0}));
  const float nan = std::nanf("");
  const Array holes = array<float>(DType::float32, {4}, {nan, 2, nan, 9});
  EXPECT_EQ(read<std::int64_t>(**run("argmin", holes)), std::vector<std::int64_t>{0});
  EXPECT_EQ(read<std::int64_t>(**run("nanargmin", holes)), std::vector<std::int64_t>{1});
}

TEST_F(ReductionCallTest, AVarianceIsTwoLaunchesTheOthersOne) {
  for (const auto& [name, launches] :
       {std::pair("sum", 1), {"mean", 1}, {"ptp", 1}, {"argmin", 1}, {"var", 2}, {"std", 2}}) {
    const std::int64_t before = counters.dispatches;
    ASSERT_TRUE(run(name, x, along(Dims{0}))) << name;
    EXPECT_EQ(counters.dispatches - before, launches) << name;
  }
  EXPECT_EQ(counters.cpu_ops, 0);
  EXPECT_EQ(counters.bytes_down, 0);
}

TEST_F(ReductionCallTest, NothingIsTheIdentityOrAnError) {
  const Array none = launcher.allocate(DType::float32, {0, 2}).value();
  EXPECT_EQ(read<float>(**run("prod", none, along(Dims{0}))), (std::vector<float>{1, 1}));
  EXPECT_TRUE(std::isnan(read<float>(**run("mean", none))[0]));
  EXPECT_EQ(code(run("max", none)), "empty_reduction");
  EXPECT_EQ(code(run("argmin", none)), "empty_reduction");
  EXPECT_EQ(code(run("ptp", none)), "empty_reduction");
  EXPECT_EQ(code(run("sum", none, with([](ReductionCall& call) { call.has_identity = false; }))),
            "empty_reduction");
  UFuncOperand seven;
  seven.python = PythonScalar::floating;
  seven.value = ir::put(7.0);
  EXPECT_EQ(
      read<float>(**run("max", none, with([&](ReductionCall& call) { call.initial = seven; }))),
      std::vector<float>{7});
  EXPECT_EQ(read<float>(**run("max", none, along(Dims{1}))), std::vector<float>{});
}

TEST_F(ReductionCallTest, MasksNeedSomethingToPutInstead) {
  const Array mask = array<std::uint8_t>(DType::boolean, {3}, {1, 0, 1});
  EXPECT_EQ(read<float>(**run("sum", x, with([&](ReductionCall& call) {
                                call.axes = Dims{1};
                                call.where = &mask;
                              }))),
            (std::vector<float>{3, 16}));
  EXPECT_EQ(read<float>(**run("mean", x, with([&](ReductionCall& call) { call.where = &mask; }))),
            std::vector<float>{4.75});
  EXPECT_EQ(code(run("max", x, with([&](ReductionCall& call) { call.where = &mask; }))),
            "where_needs_initial");
}

TEST_F(ReductionCallTest, WhatHasAnOrderIsReducedInIt) {
  EXPECT_EQ(read<float>(**reduce("subtract", x, along(Dims{1}))), (std::vector<float>{-6, -3}));
  EXPECT_EQ(code(reduce("subtract", x, along(Dims{0, 1}))), "not_reorderable");
  const Array out = array<double>(DType::float64, {2}, {0, 0});
  const auto written = reduce("add", x, with([&](ReductionCall& call) {
                                call.axes = Dims{1};
                                call.out = &out;
                              }));
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_FALSE(*written);
  EXPECT_EQ(read<double>(out), (std::vector<double>{8, 19}));
  EXPECT_EQ(code(reduce("add", x, with([&](ReductionCall& call) {
                          call.axes = Dims{0};
                          call.out = &out;
                        }))),
            "out_shape");
  EXPECT_EQ(code(reduce("less", x)), "no_loop");
}

// Computes a[0] - a[1] - ..., for a row that takes three launches.
TEST_F(ReductionCallTest, LongRowsInOrderTakeSeveralLaunches) {
  const std::int64_t length = 2 * ReductionCalls::kSteps + 7;
  std::vector<std::int32_t> values(static_cast<std::size_t>(2 * length));
  for (std::size_t at = 0; at < values.size(); ++at)
    values[at] = static_cast<std::int32_t>(at * 7919 % 101) - 50;
  std::vector<std::int64_t> totals(values.begin(), values.end());
  for (std::size_t at = 0; at < totals.size(); ++at)
    if (at % static_cast<std::size_t>(length) != 0) totals[at] = totals[at - 1] - totals[at];
  const std::vector<std::int64_t> last{totals[static_cast<std::size_t>(length - 1)], totals.back()};

  const Array rows = array(DType::int32, {2, length}, values);
  const Array out = launcher.allocate(DType::int64, {2}).value();
  const std::int64_t before = counters.dispatches;
  ASSERT_TRUE(reduce("subtract", rows, with([&](ReductionCall& call) {
                       call.axes = Dims{1};
                       call.out = &out;
                     })));
  EXPECT_EQ(counters.dispatches - before, 3);
  EXPECT_EQ(read<std::int64_t>(out), last);

  // Leaves out every second element: each part of the row uses its part of the mask.
  std::vector<std::uint8_t> odd(static_cast<std::size_t>(length));
  std::int64_t expected = 100;
  for (std::size_t at = 0; at < odd.size(); ++at)
    if (odd[at] = static_cast<std::uint8_t>(at % 2); odd[at] != 0) expected -= values[at];
  const Array mask = array(DType::boolean, {length}, odd);
  UFuncOperand hundred;
  hundred.python = PythonScalar::floating;
  hundred.value = ir::put(100.0);
  const auto masked = reduce("subtract", rows, with([&](ReductionCall& call) {
                               call.axes = Dims{1};
                               call.where = &mask;
                               call.initial = hundred;
                               call.dtype = DType::float64;
                             }));
  ASSERT_TRUE(masked) << masked.error().message;
  EXPECT_EQ(read<double>(**masked)[0], static_cast<double>(expected));

  for (const DType dtype : {DType::int32, DType::int64}) {
    AccumulateCall running = this->totals("subtract", rows, 1);
    const Array every = launcher.allocate(dtype, {2, length}).value();
    running.out = &every;
    ASSERT_TRUE(calls.run(running));
    const Array wide = launcher.copy(every, DType::int64).value();
    EXPECT_EQ(read<std::int64_t>(wide), totals);
  }
  const auto fresh = calls.run(this->totals("subtract", rows, 1));
  EXPECT_EQ(read<std::int64_t>(launcher.copy(**fresh, DType::int64).value()), totals);
}

TEST_F(ReductionCallTest, TotalsOnTheWay) {
  const auto running = calls.run(totals("add", x, -1));
  ASSERT_TRUE(running) << running.error().message;
  EXPECT_EQ(read<float>(**running), (std::vector<float>{1, 6, 8, 8, 11, 19}));
  const auto ordered = calls.run(totals("subtract", x, 0));
  ASSERT_TRUE(ordered) << ordered.error().message;
  EXPECT_EQ(read<float>(**ordered), (std::vector<float>{1, 5, 2, -7, 2, -6}));
  // The target is the array that is read.
  AccumulateCall onto = totals("maximum", x, 0);
  onto.out = &x;
  ASSERT_TRUE(calls.run(onto));
  EXPECT_EQ(read<float>(x), (std::vector<float>{1, 5, 2, 8, 5, 8}));
  EXPECT_EQ(code(calls.run(totals("add", x, 2))), "axis_out_of_bounds");
}

}  // namespace
}  // namespace arraycore
