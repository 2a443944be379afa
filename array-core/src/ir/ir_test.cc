// Tests of the kernel language's tools, on kernels small enough to check by eye.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "ir/builder.h"
#include "ir/interpret.h"
#include "ir/print.h"
#include "ir/verify.h"

namespace arraycore::ir {
namespace {

template <typename T>
View view_of(const std::vector<T>& data) {
  return {{static_cast<std::int64_t>(data.size())}, {sizeof(T)}, 0};
}
template <typename T>
Argument argument(std::vector<T>& data) {
  return Argument::array(data.data(), view_of(data));
}

Kernel axpy() {
  Builder k("axpy");
  const auto a = k.scalar("a", DType::float32);
  const auto x = k.in("x", DType::float32);
  const auto y = k.in("y", DType::float32);
  const auto z = k.out("z", DType::float32);
  k.store(z, k.read(a) * k.read(x) + k.read(y));
  return k.take();
}

TEST(Interpret, BroadcastsElementwiseArguments) {
  const Kernel kernel = axpy();
  ASSERT_TRUE(verify(kernel).ok());
  std::vector<float> x{1, 2, 3};
  std::vector<float> y{10, 20};
  std::vector<float> z(6);
  const View column{{2, 1}, {4, 4}, 0};
  const View rows{{2, 3}, {12, 4}, 0};
  const Launch launch{{2, 3},
                      0,
                      {Argument::value(DType::float32, 2), argument(x),
                       Argument::array(y.data(), column), Argument::array(z.data(), rows)}};
  EXPECT_EQ(loop_shape(kernel, launch.arguments).value(), (Dims{2, 3}));
  ASSERT_TRUE(interpret(kernel, launch).ok());
  EXPECT_EQ(z, (std::vector<float>{12, 14, 16, 22, 24, 26}));
}

TEST(Interpret, WritesThroughNegativeStrides) {
  const Kernel kernel = axpy();
  std::vector<float> x{1, 2, 3};
  std::vector<float> z(3);
  const View reversed{{3}, {-4}, 8};
  ASSERT_TRUE(interpret(kernel, {{3},
                                 0,
                                 {Argument::value(DType::float32, 1), argument(x), argument(x),
                                  Argument::array(z.data(), reversed)}})
                  .ok());
  EXPECT_EQ(z, (std::vector<float>{6, 4, 2}));
}

TEST(Interpret, RunsTheStepAfterContinueAndLeavesAtBreak) {
  // Adds up the odd numbers below 10, but at most five of them.
  Builder k("odd");
  const auto out = k.out("out", DType::int32);
  const auto i = k.local("i", k.integer(DType::int32, 0));
  const auto sum = k.local("sum", k.integer(DType::int32, 0));
  k.while_(
      k.read(i) < 100.0,
      [&] {
        k.if_(k.read(i) % k.integer(DType::int32, 2) == 0.0, [&] { k.next(); });
        k.if_(k.read(i) > 9.0, [&] { k.leave(); });
        k.set(sum, k.read(sum) + k.read(i));
      },
      [&] { k.set(i, k.read(i) + 1); });
  k.store(out, k.read(sum));
  const Kernel kernel = k.take();
  ASSERT_TRUE(verify(kernel).ok());
  std::vector<std::int32_t> result(2);
  ASSERT_TRUE(interpret(kernel, {{2}, 0, {argument(result)}}).ok());
  EXPECT_EQ(result, (std::vector<std::int32_t>{25, 25}));
}

TEST(Interpret, CallsFunctionsWithFreshLocals) {
  Builder k("calls");
  const auto x = k.in("x", DType::int32);
  const auto y = k.out("y", DType::int32);
  const auto triangle =
      k.function("triangle", {DType::int32}, DType::int32, [&](const std::vector<LocalRef>& a) {
        const auto sum = k.local("sum", DType::int32);
        k.while_(k.read(a[0]) > 0.0, [&] {
          k.set(sum, k.read(sum) + k.read(a[0]));
          k.set(a[0], k.read(a[0]) - 1);
        });
        k.give(k.read(sum));
      });
  const auto once = k.call(triangle, {k.read(x)});
  k.store(y, once + k.call(triangle, {once}));
  const Kernel kernel = k.take();
  ASSERT_TRUE(verify(kernel).ok());
  std::vector<std::int32_t> in{0, 1, 3};
  std::vector<std::int32_t> out(3);
  ASSERT_TRUE(interpret(kernel, {{3}, 0, {argument(in), argument(out)}}).ok());
  EXPECT_EQ(out, (std::vector<std::int32_t>{0, 2, 27}));
}

TEST(Interpret, ClampsRawIndices) {
  Builder k("raw");
  const auto x = k.raw("x", DType::int32);
  const auto y = k.out("y", DType::int32);
  k.store(y, k.read_at(x, {k.loop_index() - 1}));
  const Kernel kernel = k.take();
  std::vector<std::int32_t> in{7, 8};
  std::vector<std::int32_t> out(4);
  ASSERT_TRUE(interpret(kernel, {{4}, 0, {argument(in), argument(out)}}).ok());
  EXPECT_EQ(out, (std::vector<std::int32_t>{7, 7, 8, 8}));
}

TEST(Interpret, AddsAtomically) {
  Builder k("histogram");
  const auto x = k.in("x", DType::int32);
  const auto bins = k.raw("bins", DType::int32, Access::read_write);
  k.evaluate(k.atomic(Op::atomic_add, bins, {k.read(x), k.integer(DType::int32, 1)}));
  const Kernel kernel = k.take();
  ASSERT_TRUE(verify(kernel).ok());
  std::vector<std::int32_t> in{0, 2, 2, 1, 2};
  std::vector<std::int32_t> out(3);
  ASSERT_TRUE(interpret(kernel, {{5}, 0, {argument(in), argument(out)}}).ok());
  EXPECT_EQ(out, (std::vector<std::int32_t>{1, 1, 3}));
}

Kernel sum_of(DType dtype, bool identity = true) {
  Builder k("sum");
  const auto x = k.in("x", dtype);
  const auto y = k.out("y", dtype);
  k.reduce(
      k.read(x), identity ? std::optional(k.constant(dtype, 0)) : std::nullopt,
      [](Value a, Value b) { return a + b; }, [&](Value a) { k.store(y, a); });
  return k.take();
}

TEST(Interpret, ReducesAnyAxes) {
  const Kernel kernel = sum_of(DType::int32);
  ASSERT_TRUE(verify(kernel).ok());
  std::vector<std::int32_t> x(6);
  std::iota(x.begin(), x.end(), 1);
  const View matrix{{2, 3}, {12, 4}, 0};
  std::vector<std::int32_t> rows(2);
  ASSERT_TRUE(
      interpret(kernel, {{2, 3}, 2, {Argument::array(x.data(), matrix), argument(rows)}}).ok());
  EXPECT_EQ(rows, (std::vector<std::int32_t>{6, 15}));
  std::vector<std::int32_t> columns(3);
  ASSERT_TRUE(
      interpret(kernel, {{2, 3}, 1, {Argument::array(x.data(), matrix), argument(columns)}}).ok());
  EXPECT_EQ(columns, (std::vector<std::int32_t>{5, 7, 9}));
  std::int32_t all = 0;
  ASSERT_TRUE(
      interpret(
          kernel,
          {{2, 3}, 3, {Argument::array(x.data(), matrix), Argument::array(&all, View{{}, {}, 0})}})
          .ok());
  EXPECT_EQ(all, 21);
}

TEST(Interpret, ReducesNothingToTheIdentityOrAnError) {
  std::vector<std::int32_t> x;
  std::int32_t y = 5;
  const Launch launch{{0}, 1, {argument(x), Argument::array(&y, View{{}, {}, 0})}};
  ASSERT_TRUE(interpret(sum_of(DType::int32), launch).ok());
  EXPECT_EQ(y, 0);
  const Status status = interpret(sum_of(DType::int32, false), launch);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::value);
}

TEST(Interpret, SumsFloatsPairwise) {
  std::vector<float> x(1 << 16, 0.1f);
  float y = 0;
  ASSERT_TRUE(interpret(sum_of(DType::float32),
                        {{1 << 16}, 1, {argument(x), Argument::array(&y, View{{}, {}, 0})}})
                  .ok());
  EXPECT_NEAR(y, 6553.6, 6553.6 * 1e-6);
}

TEST(Interpret, RefusesShapesThatDoNotFit) {
  std::vector<float> x(3);
  std::vector<float> y(4);
  const std::vector<Argument> arguments{Argument::value(DType::float32, 1), argument(x),
                                        argument(y), argument(y)};
  EXPECT_EQ(loop_shape(axpy(), arguments).error().kind, ErrorKind::value);
  EXPECT_EQ(interpret(axpy(), {{4}, 0, arguments}).error().kind, ErrorKind::value);
}

// Applies one operation to one pair of values.
template <typename T>
T operation(Op op, DType dtype, T a, T b = T{}) {
  const Scalar operands[2] = {put(a), put(b)};
  return get<T>(apply(op, dtype, dtype, operands));
}

TEST(Scalars, IntegersAreTotal) {
  constexpr auto kMin = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ(operation<std::int32_t>(Op::divide, DType::int32, 5, 0), 0);
  EXPECT_EQ(operation<std::int32_t>(Op::divide, DType::int32, kMin, -1), kMin);
  EXPECT_EQ(operation<std::int32_t>(Op::remainder, DType::int32, 5, 0), 0);
  EXPECT_EQ(operation<std::int32_t>(Op::floor_divide, DType::int32, -7, 2), -4);
  EXPECT_EQ(operation<std::int32_t>(Op::modulo, DType::int32, -7, 2), 1);
  EXPECT_EQ(operation<std::int32_t>(Op::power, DType::int32, 2, -1), 0);
  EXPECT_EQ(operation<std::int32_t>(Op::power, DType::int32, -1, -3), -1);
  EXPECT_EQ(operation<std::int32_t>(Op::shift_right, DType::int32, -5, 40), -1);
  EXPECT_EQ(operation<std::int32_t>(Op::shift_left, DType::int32, 1, 32), 0);
  EXPECT_EQ(operation<std::int8_t>(Op::add, DType::int8, 127, 1), -128);
  EXPECT_EQ(operation<std::int32_t>(Op::absolute, DType::int32, kMin), kMin);
}

TEST(Scalars, FloatsPropagateNan) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(operation<float>(Op::minimum, DType::float32, 1, kNan)));
  EXPECT_TRUE(std::isnan(operation<float>(Op::maximum, DType::float32, kNan, 1)));
  EXPECT_EQ(operation<float>(Op::fmin, DType::float32, 1, kNan), 1);
  EXPECT_EQ(operation<float>(Op::modulo, DType::float32, -7, 2), 1);
  EXPECT_EQ(operation<float>(Op::floor_divide, DType::float32, -7, 2), -4);
  EXPECT_EQ(operation<float>(Op::rint, DType::float32, 2.5f), 2);
  EXPECT_EQ(operation<float>(Op::round, DType::float32, 2.5f), 3);
}

TEST(Scalars, ConversionsSaturate) {
  EXPECT_EQ(convert_to<std::int32_t>(3e9f), 2147483647);
  EXPECT_EQ(convert_to<std::int32_t>(-3e9f), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(convert_to<std::int32_t>(std::nanf("")), 0);
  EXPECT_EQ(convert_to<std::uint8_t>(-1.5f), 0);
  EXPECT_EQ(convert_to<std::int64_t>(1e30), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(convert_to<std::int8_t>(std::int32_t{200}), -56);
  EXPECT_TRUE(convert_to<bool>(0.5f));
  EXPECT_EQ(Half{1e30f}.bits, 0x7c00);
}

TEST(Print, IsStable) {
  EXPECT_EQ(print(axpy()),
            "kernel axpy(scalar float32 a, float32 x, float32 y, out float32 z)\n"
            "body\n"
            "  z := add(multiply(a, x), y)\n");
  EXPECT_EQ(print(sum_of(DType::float32)),
            "kernel sum(float32 x, out float32 y)\n"
            "local float32 mapped.0\n"
            "local float32 a.1\n"
            "local float32 b.2\n"
            "body\n"
            "  mapped.0 = x\n"
            "reduce mapped.0 by a.1, b.2 -> add(a.1, b.2) from float32:0\n"
            "post\n"
            "  y := a.1\n");
  EXPECT_EQ(to_text(DType::float32, put(0.1f)), "0.1");
  EXPECT_EQ(to_text(DType::float32, put(std::nanf(""))), "nan:7fc00000");
}

// Breaks each rule of the kernel language once, so that verify() must refuse the kernel.
TEST(Verify, RefusesWhatTheLanguageForbids) {
  const auto refused = [](const Kernel& kernel, const std::string& why) {
    const Status status = verify(kernel);
    ASSERT_FALSE(status.ok()) << why;
    EXPECT_EQ(status.error().code, "bad_kernel");
    EXPECT_NE(status.error().message.find(why), std::string::npos) << status.error().message;
  };
  {
    Kernel k = axpy();
    k.params[3].access = Access::read;
    refused(k, "only read");
  }
  {
    Kernel k = axpy();
    k.args[0] = 4;
    refused(k, "does not precede");
  }
  {
    Kernel k = axpy();
    k.exprs[1].type = DType::int32;
    refused(k, "another type than the parameter");
  }
  {
    Kernel k = axpy();
    k.blocks[0].push_back(0);
    refused(k, "two places");
  }
  {
    Builder b("b");
    b.leave();
    refused(b.take(), "outside a loop");
  }
  {
    Builder b("b");
    const auto y = b.out("y", DType::int32);
    b.store(y, b.constant(DType::float32, 1));
    refused(b.take(), "stores another type");
  }
  {
    Builder b("b");
    const auto x = b.in("x", DType::float32);
    const auto f = b.function("f", {}, DType::float32, [&](const auto&) { b.give(b.read(x)); });
    b.evaluate(b.call(f, {}));
    refused(b.take(), "parameters inside a function");
  }
  {
    Builder b("b");
    b.function("f", {}, DType::int32, [&](const auto&) { b.give(b.call({0, DType::int32}, {})); });
    Kernel k = b.take();
    k.exprs[0].index = 0;
    refused(k, "calls a later function");  // itself, which does not exist before its end
  }
  {
    Kernel k = sum_of(DType::int32);
    k.stmts.push_back({.kind = StmtKind::store, .target = 1, .value = 0});
    k.blocks[0].push_back(static_cast<Id>(k.stmts.size()) - 1);
    refused(k, "reduction's map");
  }
  {
    Builder b("b");
    b.evaluate(b.apply(Op::sqrt, {b.integer(DType::int32, 1)}));
    refused(b.take(), "does not take");
  }
}

}  // namespace
}  // namespace arraycore::ir
